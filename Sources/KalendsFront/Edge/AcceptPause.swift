// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Logging
package import NIOCore

/// Stops taking connections for a while when the system has no descriptor or memory left for one.
///
/// A connection that cannot be accepted stays in the queue and keeps the socket readable: NIO, whose own handler only
/// puts off the next wish to read, asks for it again and again and takes a whole core. Meanwhile the reserve of descriptors
/// is there for what else the process has to open; connections are taken again once it is whole.
package final class AcceptPause: ChannelInboundHandler {
    package typealias InboundIn = Channel
    package typealias InboundOut = Channel

    private static let pause = TimeAmount.milliseconds(500)
    /// How often it is said.
    private static let interval = TimeAmount.minutes(1)
    private static let shortages: Set<CInt> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    private let logger: Logger
    private let reserve = DescriptorReserve.shared
    private var isPaused = false
    private var toldAt: NIODeadline?

    init(_ logger: Logger) { self.logger = logger }

    /// Puts one in front of a listening channel.
    package static func add(to channel: any Channel, _ logger: Logger) async {
        // It fails when the channel is closed already, and nothing is accepted.
        try? await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.addHandler(AcceptPause(logger), position: .first)
        }.get()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Another listener found that there is no descriptor left: this connection has one of the reserve.
        guard !reserve.isReleased else {
            unwrapInboundIn(data).close(promise: nil)
            return pause(context)
        }
        context.fireChannelRead(data)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? IOError, Self.shortages.contains(error.errnoCode) {
            reserve.release()
            pause(context)
        }
        context.fireErrorCaught(error)
    }

    private func pause(_ context: ChannelHandlerContext) {
        guard !isPaused, let options = context.channel.syncOptions else { return }
        isPaused = true
        let now = NIODeadline.now()
        if toldAt.map({ now - $0 >= Self.interval }) ?? true {
            toldAt = now
            logger.warning("connections wait: the system has no descriptor or memory left for another one")
        }
        try? options.setOption(.autoRead, value: false)
        resume(context.channel)
    }

    /// Takes connections again after a while, or after another one where there are too few descriptors still.
    private func resume(_ channel: any Channel) {
        let bound = NIOLoopBound((handler: self, channel: channel), eventLoop: channel.eventLoop)
        channel.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            let (handler, channel) = bound.value
            guard channel.isActive else { return }
            guard handler.reserve.fill() else { return handler.resume(channel) }
            handler.isPaused = false
            try? channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}
