// SPDX-License-Identifier: Apache-2.0

package import KalendsCore
import NIOSSL

/// The period in which a certificate in a file is valid.
package struct CertificateDates {
    /// Seconds since 1970, both included.
    package let notBefore: Int
    package let notAfter: Int

    init(notBefore: Int, notAfter: Int) { (self.notBefore, self.notAfter) = (notBefore, notAfter) }

    /// Nil when the file has no PEM certificate.
    package init?(file: String) {
        // The first is the server's own; those after it are its issuers' certificates.
        guard let bytes = try? InputFile(file, limit: 1 << 20).whole(),
            let own = try? NIOSSLCertificate.fromPEMBytes(bytes).first
        else { return nil }
        (notBefore, notAfter) = (Int(own.notValidBefore), Int(own.notValidAfter))
    }
}

extension Monitoring {
    /// Monitors a server whose certificates are read as NIO's TLS reads them.
    package init(services: Services) {
        self.init(services: services) { file in CertificateDates(file: file)?.notAfter }
    }
}
