// SPDX-License-Identifier: Apache-2.0

import Hummingbird
package import HummingbirdCore
package import KalendsCore
package import Logging
package import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// Puts our own handlers in front of the framework's, since the framework only allows handlers behind its codec.
package final class EdgeSetup: ChannelInboundHandler, RemovableChannelHandler {
    /// Data that passes through is not inspected.
    package typealias InboundIn = NIOAny

    private let path: FeedFastPath
    private let limits: ConnectionLimits
    private let counts: ConnectionCounts
    private let loops: TurnAccesses.Loops

    private init(
        _ path: FeedFastPath, _ limits: ConnectionLimits, _ counts: ConnectionCounts, _ loops: TurnAccesses.Loops
    ) {
        (self.path, self.limits, self.counts, self.loops) = (path, limits, counts, loops)
    }

    /// Makes the channel that reads requests from connections, for a responder that answers them.
    package typealias Channels = @Sendable (@escaping HTTPChannelHandler.Responder) -> any ServerChildChannel

    /// The channels that read requests from connections and answer feeds before the router.
    ///
    /// - Parameters:
    /// - certificates: nil for a port without TLS.
    /// - hasFeeds: whether feeds are served on this port.
    package static func channels(
        _ front: FrontServices, limits: ConnectionLimits = ConnectionLimits(), certificates: TLSCertificates? = nil,
        hasFeeds: Bool = true, logger: Logger
    ) -> Channels {
        let path = FeedFastPath(front, isOpen: hasFeeds, logger: logger)
        let counts = ConnectionCounts(limits)
        let loops = TurnAccesses.Loops(front.services.counter)
        let configuration = HTTP1Channel.Configuration(
            additionalChannelHandlers: [EdgeSetup(path, limits, counts, loops)],
            httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                maxHeaderFieldSize: limits.headerField, maxHeaderListSize: limits.headerList,
                maxHeaderFieldCount: limits.headerCount))
        return { responder in
            let plain = HTTP1Channel(responder: responder, configuration: configuration)
            guard let certificates else { return plain }
            return RenewingTLSChannel(base: plain, certificates: certificates)
        }
    }

    /// The same without TLS, for one of the framework's servers.
    package static func http(
        _ front: FrontServices, limits: ConnectionLimits = ConnectionLimits(), hasFeeds: Bool = true, logger: Logger
    ) -> HTTPServerBuilder {
        HTTPServerBuilder(channels(front, limits: limits, hasFeeds: hasFeeds, logger: logger))
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        let pipeline = context.pipeline.syncOperations
        do {
            let watch = ConnectionWatch(limits, counts, path.services.settings, path.services.memory)
            let encoder = try pipeline.context(handlerType: HTTPResponseEncoder.self)
            try pipeline.addHandler(watch, position: .before(encoder.handler))
            let codec = try pipeline.context(handlerType: HTTP1ToHTTPServerCodec.self)
            let edge = EdgeHandler(path: path, watch: watch, turn: loops.turn(of: context.eventLoop))
            try pipeline.addHandler(edge, position: .before(codec.handler))
            if path.takesPlainRequests, limits.admitPlainRequests { watch.takesWhole = edge.takeWhole }
        } catch {
            context.fireErrorCaught(error)
        }
    }
}

extension ConnectionLimits {
    /// Whether no plain request is beyond the limits of the general parser.
    fileprivate var admitPlainRequests: Bool {
        headerField >= PlainRequest.longest && headerList >= PlainRequest.longest
            && headerCount >= PlainRequest.mostFields
    }
}
