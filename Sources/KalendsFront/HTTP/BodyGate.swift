// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import NIOCore

/// Sent to the connection when a handler begins to read the body of the request that is being answered.
struct BodyWanted: Sendable {}

/// Delays bodies: none is read from its connection before a handler wants it.
struct BodyGate: RouterMiddleware {
    typealias Context = KalendsContext

    let services: Services

    func handle(
        _ request: Request, context: KalendsContext, next: (Request, KalendsContext) async throws -> Response
    ) async throws -> Response {
        var (request, context) = (request, context)
        if let address = services.settings.clientAddress(request, context) {
            context.sender = Sender(network: address.network)
        }
        guard !(request.headers[.contentLength] ?? "0").isSameText(as: "0") || request.headers[.transferEncoding] != nil
        else {
            return try await next(request, context)
        }
        request.body = RequestBody(asyncSequence: WantedBody(body: request.body, channel: context.channel))
        return try await next(request, context)
    }
}

/// A body that notifies its connection when it is first read.
private struct WantedBody: AsyncSequence, Sendable {
    let body: RequestBody
    let channel: any Channel

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: RequestBody.AsyncIterator
        var channel: (any Channel)?

        mutating func next() async throws -> ByteBuffer? {
            channel?.triggerUserOutboundEvent(BodyWanted(), promise: nil)
            channel = nil
            return try await rest.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: body.makeAsyncIterator(), channel: channel) }
}
