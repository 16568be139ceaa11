// SPDX-License-Identifier: Apache-2.0

import CalDAVServer
import Glibc
import Hummingbird
import HummingbirdCore
import KalendsCore
import KalendsFront
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Storage

/// The servers of one installation: the operator's socket, and the public port.
package struct ServerPorts {
    let installation: Installation
    let logger: Logger

    /// The operator's socket, which nobody else can open.
    func local(onRunning: @escaping @Sendable () async -> Void = {}) throws -> some ApplicationProtocol {
        let path = installation.services.settings.socketFile
        return Application(
            router: try Routes.router(installation.front, isLocal: true),
            configuration: ApplicationConfiguration(
                address: .unixDomainSocket(path: path), serverName: "kalends-local"),
            onServerRunning: { channel in
                await AcceptPause.add(to: channel, logger)
                await onRunning()
            },
            logger: logger)
    }

    /// The public port, with TLS when there is a certificate.
    ///
    /// - Parameters:
    /// - socket: a socket that is already listening; nil to open one at the settings' address.
    /// - certificates: nil for a port without TLS.
    /// - afterReady: awaited before the port opens.
    /// - onRunning: called with the port's number once connections are accepted.
    /// - onStopping: called when no further connections are accepted.
    func listening(
        on socket: PassedSocket?, _ certificates: TLSCertificates?, afterReady: @escaping @Sendable () async -> Void,
        onRunning: @escaping @Sendable (Int) async -> Void, onStopping: @escaping @Sendable () -> Void
    ) throws -> some Service {
        let settings = installation.services.settings
        return PublicPort(
            place: socket.map { .passed($0) } ?? .address(host: settings.host, port: settings.port),
            responder: try Routes.router(
                installation.front, isLocal: false, doors: CalDAVDoor.doors(installation.front)
            ).buildResponder(),
            channels: EdgeSetup.channels(
                installation.front, limits: settings.limits, certificates: certificates, logger: logger),
            logger: logger, afterReady: afterReady, onRunning: onRunning, onStopping: onStopping)
    }

    /// The metrics on a separate port, which only this machine can reach unless another host is set.
    func metrics(port: Int) -> some ApplicationProtocol {
        Application(
            router: Routes.metricsRouter(installation.services),
            server: EdgeSetup.http(
                installation.front, limits: installation.services.settings.limits, hasFeeds: false, logger: logger),
            configuration: ApplicationConfiguration(
                address: .hostname(installation.services.settings.host, port: port)),
            onServerRunning: { channel in await AcceptPause.add(to: channel, logger) },
            logger: logger)
    }

    /// Raises this process's limit of open files and connections as far as the system allows.
    ///
    /// - Returns: the number of connections that leaves room for everything else; nil when the system does not report
    ///   it.
    package static func raiseFileLimit() -> Int? {
        var limit = rlimit()
        let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        // The calls access only the structure that they are given.
        guard unsafe getrlimit(kind, &limit) == 0 else { return nil }
        limit.rlim_cur = limit.rlim_max
        guard unsafe setrlimit(kind, &limit) == 0, unsafe getrlimit(kind, &limit) == 0 else { return nil }
        let all = Int(clamping: limit.rlim_cur)
        return max(all / 2, all - otherFiles)
    }

    /// Files besides clients' connections: the database's, the journal's, those of workers and of outgoing calls.
    private static let otherFiles = 128

    /// Checks that a port can be listened on, before anything is started that would have to be stopped again.
    ///
    /// - Parameter port: the port; 0 selects a free one.
    /// - Returns: the port.
    package static func usablePort(_ host: String, _ port: Int) async throws -> Int {
        try await opening(host, port) {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
                // No connection is accepted here, since nobody would answer it.
                .serverChannelOption(ChannelOptions.autoRead, value: false)
                .bind(host: host, port: port).get()
            let found = channel.localAddress?.port
            try await channel.close()
            return found ?? port
        }
    }

    /// Opens a port; a failure says what to do about it.
    static func opening<Port>(_ host: String, _ port: Int, _ open: () async throws -> Port) async throws -> Port {
        do {
            return try await open()
        } catch let error as IOError {
            let reason = systemReason(error.errnoCode)
            let step = error.errnoCode == EADDRINUSE ? " Stop what listens there, or set another port." : ""
            throw StorageError.unusable("\(host):\(port) cannot be listened on: \(reason).\(step)")
        } catch is SocketAddressError {
            throw StorageError.unusable("\(host) is not an address of this machine.")
        } catch is SocketAddressError.UnknownHost {
            throw StorageError.unusable("The host \(host) is not known here; give an address of this machine.")
        }
    }
}
