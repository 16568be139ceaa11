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
/// The framework's own server always opens its socket itself; this type handles connections and requests in the same
/// way.
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
    /// Called with the port's number once connections are accepted.
    let onRunning: @Sendable (Int) async -> Void
    /// Called when no further connections are accepted.
    let onStopping: @Sendable () -> Void

    /// The length of the queue of connections that are not yet accepted, if the socket is our own.
    private static var queue: Int32 { 256 }
    /// How long a newly accepted connection may take to send its first request once the server stops.
    private static var lateRequests: Duration { .milliseconds(250) }

    func run() async throws {
        await afterReady()
        try await serve(channels(respond))
    }

    private func respond(
        _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
    ) async throws {
        var logger = logger
        logger[metadataKey: "hb.request.id"] = .stringConvertible(RequestID())
        let context = KalendsContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
        var response: Response
        do {
            // A task keeps the memory of its deepest call, and the connection's task, which writes the body, lasts until
            // its client goes.
            async let answer = responder.respond(to: request, context: context)
            response = try await answer
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

    /// Thrown when a request's body breaks off while it is answered: a second answer must not be written.
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
                try await ServerPorts.opening(host, port) {
                    try await bootstrap.bind(host: host, port: port) { channels.setup(channel: $0, logger: logger) }
                }
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

    /// Accepts no more connections, lets requests that are on their way arrive, and ends each connection after its
    /// answer.
    private static func stop(_ channel: any Channel, _ quiescing: ServerQuiescingHelper) async {
        // This fails when the channel is already closed.
        try? await channel.setOption(.autoRead, value: false).get()
        try? await Task.sleep(for: lateRequests)
        let done = channel.eventLoop.makePromise(of: Void.self)
        quiescing.initiateShutdown(promise: done)
        try? await done.futureResult.get()
    }
}
