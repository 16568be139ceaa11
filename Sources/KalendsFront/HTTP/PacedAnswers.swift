// SPDX-License-Identifier: Apache-2.0

import Glibc
package import HTTPTypes
package import Hummingbird
import KalendsCore
package import NIOCore
import Storage

/// Writes large answers piece by piece, each when the previous one has been sent, and counts the bytes that wait for
/// their reader.
struct PacedAnswers: RouterMiddleware {
    typealias Context = KalendsContext

    let services: Services

    /// The routes whose bytes all concurrent readers share: those from the cache, and those of the program itself.
    private static let sharedPaths = FeedPath.Route.allCases.map(\.rawValue) + ["/openapi.json", "/docs"]

    func handle(
        _ request: Request, context: KalendsContext, next: (Request, KalendsContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        let network = services.settings.clientAddress(request, context)?.network
        let memory = RequestMemory(services.memory, network: network.map { ByteString($0) })
        (context.memory, context.intake) = (memory, services.intake)
        let share = memory.answer
        let response: Response
        do {
            // Bodies are handled by the time the answer exists, and its reader may be slow.
            defer { memory.letGoOfBody() }
            response = try await DatabaseCaller.$current.withValue(memory.caller) { [context] in
                try await next(request, context)
            }
        }
        guard let length = response.body.contentLength else {
            share.keep(0)
            // An answer that is written while it is made is read gradually.
            let body = response.body
            return Response(
                status: response.status, headers: response.headers,
                body: ResponseBody { writer in
                    let writer = writer
                    try await DatabaseCaller.$current.withValue(memory.caller) { try await body.write(writer) }
                })
        }
        guard length > MemoryShare.free else {
            share.keep(0)
            return response
        }
        if let tag = response.headers[.eTag], context.endpointPath.map(Self.sharedPaths.contains) == true {
            try await memory.feed.hold(length, of: services.memory.shared, as: ByteString(tag))
            share.keep(0)
        } else if request.method == .get {
            try await share.hold(length)
            share.keep(length)
        } else {
            // The request has already taken effect: without an answer the caller would not know.
            share.holdAnyway(length)
            share.keep(length)
        }
        let (body, feed, channel) = (response.body, memory.feed, context.channel)
        return Response(
            status: response.status, headers: response.headers,
            body: ResponseBody(contentLength: length) { writer in
                try await body.write(PacedWriter(writer, channel))
                withExtendedLifetime((share, feed)) {}
            })
    }
}

/// Writes in pieces, each when the reader has received most of the previous one.
package struct PacedWriter: ResponseBodyWriter {
    private static let piece = 64 << 10
    /// How many unsent bytes the system takes: without a bound it would take megabytes for each reader that reads
    /// nothing, which all have to be made first.
    private static let unsent: SocketOptionValue = 128 << 10
    private static let unsentBound = ChannelOptions.tcpOption(.init(rawValue: TCP_NOTSENT_LOWAT))

    private var parent: any ResponseBodyWriter
    /// The connection's event loop.
    private let loop: any EventLoop

    package init(_ parent: any ResponseBodyWriter, _ channel: any Channel) {
        (self.parent, loop) = (parent, channel.eventLoop)
        // The local socket and a test's channel do not know the option, and do without.
        Self.bound(channel)
    }

    /// Limits how many bytes the system buffers that a connection's reader has not received.
    static func bound(_ channel: any Channel) {
        channel.setOption(unsentBound, value: unsent).whenFailure { _ in }
    }

    package mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        while rest.readableBytes > 0, let piece = rest.readSlice(length: min(Self.piece, rest.readableBytes)) {
            try await parent.write(piece)
            // Waits for the connection's thread: no other knows whether the reader keeps up. Otherwise a large feed
            // would be copied whole for each slow reader.
            try await loop.submit {}.get()
        }
    }

    package consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await parent.finish(trailingHeaders)
    }
}
