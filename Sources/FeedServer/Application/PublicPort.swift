// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import HummingbirdCore
import KalendsCore
import KalendsFront
import Logging
import NIOCore
import NIOExtras
import NIOHTTP1
import NIOPosix
import ServiceLifecycle

/// The public port: a socket of our own, or one that the service manager opened before this process began.
///
/// The framework's own server always opens a socket itself; what it does for each connection and request is done here
/// in the same way.
struct PublicPort<Responder: HTTPResponder>: Service where Responder.Context == KalendsContext {
    enum Place: Sendable {
        case address(host: String, port: Int)
        case passed(PassedSocket)
    }

    let place: Place
    let responder: Responder
    let channels: EdgeSetup.Channels
    let logger: Logger
    /// Awaited before the port opens.
    let afterReady: @Sendable () async -> Void
    /// Called with the port's number once connections are taken.
    let onRunning: @Sendable (Int) async -> Void
    /// Called when no further connection is taken.
    let onStopping: @Sendable () -> Void

    /// Connections that wait to be taken, where the socket is our own.
    private static var queue: Int32 { 256 }
    /// How long a connection that was just taken may wait with its first request once the server stops.
    private static var lateRequests: Duration { .milliseconds(250) }

    func run() async throws {
        await afterReady()
        try await serve(channels(respond))
    }

    @Sendable
    private func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        var logger = logger
        logger[metadataKey: "hb.request.id"] = .stringConvertible(RequestID())
        let context = KalendsContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
        var response: Response
        do {
            response = try await responder.respond(to: request, context: context)
        } catch let error as HTTPParserError {
            throw error
        } catch {
            response = Response(status: .internalServerError)
        }
        response.headers[.date] = HTTPDate.now
        do {
            try await writer.write(response: response.head, body: response.body)
        } catch is HTTPParserError {
            throw BodyBroken()
        }
    }

    /// A request that broke off while it was answered: a second answer to it must not be written.
    private struct BodyBroken: Error {}

    private func serve(_ channels: some ServerChildChannel) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let quiescing = ServerQuiescingHelper(group: group)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(ChannelOptions.backlog, value: Self.queue)
            .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(quiescing.makeServerChannelHandler(channel: channel))
                }
            }
        let logger = logger
        let listening =
            switch place {
            case .address(let host, let port):
                try await bootstrap.bind(host: host, port: port) { channels.setup(channel: $0, logger: logger) }
            case .passed(let socket):
                try await bootstrap.bind(socket.descriptor) { channels.setup(channel: $0, logger: logger) }
            }
        let channel = listening.channel
        await withGracefulShutdownHandler {
            await AcceptPause.add(to: channel, logger)
            await onRunning(channel.localAddress?.port ?? 0)
            await withDiscardingTaskGroup { connections in
                do {
                    try await listening.executeThenClose { inbound in
                        for try await connection in inbound {
                            connections.addTask { await channels.handle(value: connection, logger: logger) }
                        }
                    }
                } catch {
                    logger.error("connections are no longer accepted", metadata: ["error": "\(publicText(error))"])
                }
            }
        } onGracefulShutdown: {
            onStopping()
            Task { await Self.stop(channel, quiescing) }
        }
    }

    /// Takes no further connection, lets requests that are on their way come in, and ends each connection with its answer.
    private static func stop(_ channel: any Channel, _ quiescing: ServerQuiescingHelper) async {
        // It fails when the channel is closed already.
        try? await channel.setOption(.autoRead, value: false).get()
        try? await Task.sleep(for: lateRequests)
        let done = channel.eventLoop.makePromise(of: Void.self)
        quiescing.initiateShutdown(promise: done)
        try? await done.futureResult.get()
    }
}
