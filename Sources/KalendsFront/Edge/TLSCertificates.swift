// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
package import KalendsCore
package import Logging
import NIOSSL
import ServiceLifecycle
import Storage
import Synchronization

/// The certificate for new connections, which is read again when its files change.
package final class TLSCertificates: Service {
    /// The properties by which a changed file is recognized.
    private struct Stamp: Equatable {
        var modifiedAt: Date?
        var size: UInt64?
        var inode: UInt64?

        init(_ path: String) {
            let found = try? FileManager.default.attributesOfItem(atPath: path)
            modifiedAt = found?[.modificationDate] as? Date
            size = found?[.size] as? UInt64
            inode = found?[.systemFileNumber] as? UInt64
        }
    }

    private struct State {
        var context: NIOSSLContext
        var stamps: [Stamp]
    }

    /// How often the files are checked.
    private static let pause = Duration.seconds(10)

    private let certificate: String
    private let key: String
    private let logger: Logger
    private let state: Mutex<State>

    /// Reads both files; throws `StorageError.unusable` with a message when they cannot be used.
    init(certificate: String, key: String, logger: Logger) throws {
        (self.certificate, self.key, self.logger) = (certificate, key, logger)
        let stamps = [Stamp(certificate), Stamp(key)]
        state = Mutex(State(context: try Self.context(certificate, key), stamps: stamps))
    }

    /// Nil when the server does not use TLS.
    package convenience init?(_ settings: ServerSettings, logger: Logger) throws {
        guard let certificate = settings.tlsCertificate, let key = settings.tlsKey else { return nil }
        try self.init(certificate: certificate, key: key, logger: logger)
    }

    /// The context for new connections; open connections keep theirs.
    var current: NIOSSLContext { state.withLock(\.context) }

    package func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while (try? await Task.sleep(for: Self.pause)) != nil { renew(isAsked: false) }
        }
    }

    /// Reads the files again; if they cannot be used, the reason is logged and the certificate stays as it was.
    ///
    /// - Parameter isAsked: whether to read them even if they have not changed.
    package func renew(isAsked: Bool) {
        let stamps = [Stamp(certificate), Stamp(key)]
        let isNew = state.withLock { state in
            defer { state.stamps = stamps }
            return state.stamps != stamps
        }
        guard isNew || isAsked else { return }
        do {
            let context = try Self.context(certificate, key)
            state.withLock { $0.context = context }
            logger.notice("the TLS certificate was read again", metadata: ["file": "\(certificate)"])
        } catch {
            // A renewal that has replaced only one file looks like this too; replacing the other changes the files
            // again.
            logger.error(
                "the TLS certificate cannot be renewed; the previous one stays in use",
                metadata: ["error": "\(publicText(error))"])
        }
    }

    private static func context(_ certificate: String, _ key: String) throws -> NIOSSLContext {
        let (certificates, keys) = (try bytes("certificate", certificate), try bytes("key", key))
        let chain: [NIOSSLCertificate]
        let secret: NIOSSLPrivateKey
        do { chain = try NIOSSLCertificate.fromPEMBytes(certificates) } catch {
            throw StorageError.unusable("The TLS certificate \(certificate) is not a certificate in PEM.")
        }
        guard !chain.isEmpty else {
            throw StorageError.unusable("The TLS certificate \(certificate) is not a certificate in PEM.")
        }
        do { secret = try NIOSSLPrivateKey(bytes: keys, format: .pem) } catch {
            throw StorageError.unusable("The TLS key \(key) is not a private key in PEM without a password.")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(secret))
        // Older versions have known weaknesses (RFC 8996); clients that support 1.3 use it.
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        do { return try NIOSSLContext(configuration: configuration) } catch {
            throw StorageError.unusable("The TLS key \(key) does not belong to the certificate \(certificate).")
        }
    }

    /// Reads a whole file; the library that reads certificates would wait forever for a pipe.
    private static func bytes(_ what: String, _ path: String) throws -> [UInt8] {
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw StorageError.unusable("The TLS \(what) \(path) is not there, or cannot be read.")
        }
        do { return try InputFile(path, limit: 1 << 20).whole() } catch {
            throw StorageError.unusable("The TLS \(what) cannot be used: \(publicText(error))")
        }
    }
}
