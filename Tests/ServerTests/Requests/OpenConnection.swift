// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import NIOPosix
import Synchronization

@testable import ServerTestSupport

/// A connection whose own side stays open when the server has ended its side, and which can read very slowly.
struct OpenConnection: Sendable {
    private let channel: any Channel
    private let received: Received

    /// - Parameter isSlow: whether nothing is read until `rest`, and as little as possible is on its way.
    init(port: Int, isSlow: Bool = false) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let received = Received(ended: loop.makePromise())
        self.received = received
        var bootstrap = ClientBootstrap(group: loop)
            .channelOption(ChannelOptions.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Reader(received))
                }
            }
        if isSlow {
            let segment = NIOBSDSocket.Option(rawValue: TCP_MAXSEG)
            bootstrap =
                bootstrap
                .channelOption(ChannelOptions.autoRead, value: false)
                .channelOption(ChannelOptions.socketOption(.so_rcvbuf), value: 4096)
                .channelOption(ChannelOptions.tcpOption(segment), value: 536)
        }
        do {
            channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
        } catch {
            received.ended.fail(error)
            throw error
        }
        // A hanging server fails a test, and does not hold it up for ever.
        let channel = channel
        channel.eventLoop.scheduleTask(in: .seconds(600)) { channel.close(promise: nil) }
    }

    func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)).get() }

    /// Ends this side only.
    func endSending() async throws { try await channel.close(mode: .output).get() }

    func close() async throws { try await channel.close().get() }

    /// Waits until the first bytes of an answer have arrived.
    func begin() async throws {
        channel.read()
        while received.bytes.withLock(\.isEmpty) { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Returns everything that came until the server ended its side, a character a byte.
    func rest() async throws -> String {
        try await channel.setOption(ChannelOptions.autoRead, value: true).get()
        try await received.ended.futureResult.get()
        return received.bytes.withLock { bytes in
            var text = ""
            text.unicodeScalars.append(contentsOf: bytes.map { Unicode.Scalar($0) })
            return text
        }
    }

    /// Waits until the server has ended both sides.
    func end() async throws { try await channel.closeFuture.get() }

    private final class Received: Sendable {
        let ended: EventLoopPromise<Void>
        let bytes = Mutex<[UInt8]>([])

        init(ended: EventLoopPromise<Void>) { self.ended = ended }
    }

    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let received: Received
        private var hasEnded = false

        init(_ received: Received) { self.received = received }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            received.bytes.withLock { $0 += bytes.readableBytesView }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case ChannelEvent.inputClosed = event { end() }
        }

        func channelInactive(context: ChannelHandlerContext) { end() }

        /// A reset is the server's way to end a connection.
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        private func end() {
            if !hasEnded { received.ended.succeed() }
            hasEnded = true
        }
    }
}
