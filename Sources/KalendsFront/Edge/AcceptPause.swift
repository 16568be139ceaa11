// SPDX-License-Identifier: Apache-2.0

import Glibc
package import Logging
package import NIOCore

/// Stops accepting connections for a while when the system has no descriptor or memory left for one.
///
/// A connection that cannot be accepted stays in the queue and keeps the socket readable: NIO's own handler only delays
/// the next read request, so NIO tries again continuously and uses a whole core. During the pause the process can use
/// the reserve of descriptors for whatever else it has to open; connections are accepted again once the reserve is
/// complete.
package final class AcceptPause: ChannelInboundHandler {
    package typealias InboundIn = Channel
    package typealias InboundOut = Channel

    private static let pause = TimeAmount.milliseconds(500)
    /// The shortest time between two log messages about it.
    private static let interval = TimeAmount.minutes(1)
    private static let shortages: Set<CInt> = [EMFILE, ENFILE, ENOBUFS, ENOMEM]

    private let logger: Logger
    private let reserve = DescriptorReserve.shared
    private var isPaused = false
    private var loggedAt: NIODeadline?

    init(_ logger: Logger) { self.logger = logger }

    /// Puts a handler in front of a listening channel.
    package static func add(to channel: any Channel, _ logger: Logger) async {
        // This fails when the channel is already closed and accepts nothing.
        try? await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.addHandler(AcceptPause(logger), position: .first)
        }.get()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Another listener found that no descriptor is left, so this connection uses one from the reserve.
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
        if loggedAt.map({ now - $0 >= Self.interval }) ?? true {
            loggedAt = now
            logger.warning("connections wait: the system has no descriptor or memory left for another one")
        }
        try? options.setOption(.autoRead, value: false)
        resume(context.channel)
    }

    /// Accepts connections again after a while, or after another pause if there are still too few descriptors.
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
