// SPDX-License-Identifier: Apache-2.0

package import KalendsCore
import NIOSSL

/// From when until when a certificate in a file is valid.
package struct CertificateDates {
    /// Seconds since 1970, both included.
    package let notBefore: Int
    package let notAfter: Int

    init(notBefore: Int, notAfter: Int) { (self.notBefore, self.notAfter) = (notBefore, notAfter) }

    /// Nil when the file holds no certificate in PEM.
    package init?(file: String) {
        // The first is the server's own; those after it are its issuers'.
        guard let bytes = try? InputFile(file, limit: 1 << 20).whole(),
            let own = try? NIOSSLCertificate.fromPEMBytes(bytes).first
        else { return nil }
        (notBefore, notAfter) = (Int(own.notValidBefore), Int(own.notValidAfter))
    }
}

extension Monitoring {
    /// What a monitor reads, of a server whose certificates are as NIO's TLS reads them.
    package init(services: Services) {
        self.init(services: services) { file in CertificateDates(file: file)?.notAfter }
    }
}
