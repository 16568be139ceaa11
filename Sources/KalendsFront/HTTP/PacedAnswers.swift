// SPDX-License-Identifier: Apache-2.0

import Base
import HTTPTypes
import Hummingbird
import KalendsCore
import NIOCore

/// Writes large answers piece by piece, each when the one before has gone, and counts what waits for its reader.
struct PacedAnswers: RouterMiddleware {
    typealias Context = KalendsContext

    let services: Services

    /// The routes whose bytes are the same for all who read them at a time: those of a cache, and of the program itself.
    private static let sharedPaths = FeedPath.Route.allCases.map(\.rawValue) + ["/openapi.json", "/docs"]

    func handle(
        _ request: Request, context: KalendsContext, next: (Request, KalendsContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        let network = services.settings.clientAddress(request, context)?.network
        let memory = RequestMemory(services.memory, network: network.map { ByteString($0) })
        context.memory = memory
        let share = memory.answer
        let response = try await next(request, context)
        guard let length = response.body.contentLength, length > MemoryShare.free else {
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
            // What was asked for is done: without an answer the caller would not know.
            share.holdAnyway(length)
            share.keep(length)
        }
        let (body, feed, loop) = (response.body, memory.feed, context.channel.eventLoop)
        return Response(
            status: response.status, headers: response.headers,
            body: ResponseBody(contentLength: length) { writer in
                try await body.write(PacedWriter(writer, loop))
                withExtendedLifetime((share, feed)) {}
            })
    }
}

/// Passes on what is written in pieces, each when the reader has received most of the one before.
struct PacedWriter: ResponseBodyWriter {
    static let piece = 64 << 10

    private var parent: any ResponseBodyWriter
    /// The connection's.
    private let loop: any EventLoop

    init(_ parent: any ResponseBodyWriter, _ loop: any EventLoop) { (self.parent, self.loop) = (parent, loop) }

    mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        while rest.readableBytes > 0, let piece = rest.readSlice(length: min(Self.piece, rest.readableBytes)) {
            try await parent.write(piece)
            // What is written waits for the connection's thread: only once that has it is it known that the reader has
            // enough. A large feed would be copied as a whole for each slow reader otherwise.
            try await loop.submit {}.get()
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws { try await parent.finish(trailingHeaders) }
}
