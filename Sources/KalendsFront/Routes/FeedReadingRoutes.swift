// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import Logging
import NIOCore
import Storage

/// The feeds themselves, which calendar apps poll with the secret in the path as their only credential.
///
/// On the public port, requests that can be answered from memory do not reach these routes: see `FeedFastPath`.
struct FeedReadingRoutes: Sendable {
    let services: Services
    let bodies: FeedBodies
    let brake = GuessBrake()

    func add(to routes: inout RouteTable) {
        routes.section(.feeds)
        for route in FeedPath.Route.allCases {
            let handler: Handler = { try await read($0, $1, endsInName: route == .named) }
            routes.on(.get, route.rawValue, Self.operation(route), handler, head: handler)
        }
    }

    private static func operation(_ route: FeedPath.Route) -> Operation {
        let id =
            switch route {
            case .named: "readFeed"
            case .short: "readFeedShort"
            case .function: "readFeedFunction"
            }
        return Operation(
            id, "The calendar itself", .feedToken, .noKey,
            details: "`text/calendar`; xCal or jCal when `Accept` asks for it (RFC 6321, RFC 7265).",
            [.init(status: 200, text: "The calendar.", type: "text/calendar", headers: ["Last-Modified"])],
            refusals: [410, 412, 429, 503], hasTag: true)
    }

    private func read(_ request: Request, _ context: KalendsContext, endsInName: Bool) async throws -> Response {
        var text = context.parameters.get("token") ?? ""
        if endsInName {
            guard context.parameters.get("name")?.hasSuffix(".ics") == true else {
                return try await miss(request, context)
            }
        } else if text.hasSuffix(".ics") {
            text.removeLast(4)
        }
        guard let token = Secret(.feed, text: text) else { return try await miss(request, context) }
        // Everything that another server ended earlier is known from here on, and all servers use the same clock.
        let now = try await services.sharing?.confirm() ?? services.now()
        let asked = FeedRequest(request.method, request.headers)
        let choice = FeedAnswer.Choice(asked, family: ClientFamily(userAgent: asked.userAgent))
        let opened = try await FeedReading(services: services).open(token, as: choice.form, now: now) {
            keep($0, choice.form)
        }
        switch opened {
        case .unknown:
            return try await miss(request, context)
        case .ended:
            return Self.ended(request)
        case .live(let live, let made?):
            return try await answer(made, asked, choice, live, request, context, now: now)
        case .live(let live, nil):
            return try await answer(live, token, asked, choice, request, context, now: now)
        }
    }

    @Sendable
    private func keep(_ rendered: RenderedFeed, _ form: CalendarForm) {
        bodies.keep(rendered.text, for: FeedBodies.Key(hash: rendered.shown.hash, form: form, coding: .identity))
    }

    private func answer(
        _ live: LiveFeed, _ token: Secret, _ asked: FeedRequest, _ choice: FeedAnswer.Choice, _ request: Request,
        _ context: KalendsContext, now: Int
    ) async throws -> Response {
        if let shown = services.feeds.shown(live, for: token.key, as: choice.form, now: now) {
            let answer = FeedAnswer(asked, choice, shown, changedAt: live.changedAt, now: now)
            if answer.isNotModified {
                return try await respond(answer, nil, to: asked, live, live.version, request, context, now: now)
            }
            if let body = try await body(of: answer) {
                return try await respond(answer, body, to: asked, live, live.version, request, context, now: now)
            }
        }
        let rendered: RenderedFeed
        do {
            rendered = try await FeedReading(services: services).rendered(live, token, as: choice.form, now: now) {
                keep($0, choice.form)
            }
        } catch is FeedReading.Ended {
            return Self.ended(request)
        }
        return try await answer(rendered, asked, choice, live, request, context, now: now)
    }

    /// The answer with a feed that was rendered for it.
    private func answer(
        _ rendered: RenderedFeed, _ asked: FeedRequest, _ choice: FeedAnswer.Choice, _ live: LiveFeed,
        _ request: Request, _ context: KalendsContext, now: Int
    ) async throws -> Response {
        let answer = FeedAnswer(asked, choice, rendered.shown, changedAt: rendered.changedAt, now: now)
        let body =
            answer.isNotModified
            ? nil : try await self.body(of: answer, madeNow: rendered.text)
        return try await respond(answer, body, to: asked, live, rendered.version, request, context, now: now)
    }

    /// The bytes of an answer.
    private enum Body {
        /// The bytes in one buffer.
        case whole(ByteBuffer)
        /// A text that is written piece by piece.
        case pieces(FeedText)

        var count: Int {
            switch self {
            case .whole(let buffer): buffer.readableBytes
            case .pieces(let text): text.count
            }
        }

        var response: ResponseBody {
            switch self {
            case .whole(let buffer): ResponseBody(byteBuffer: buffer)
            case .pieces(let text): text.responseBody
            }
        }
    }

    /// The bytes in the answer's coding, cached for the next request; nil when they are not available.
    ///
    /// - Parameter text: the plain bytes, if they were made for this request.
    private func body(of answer: FeedAnswer, madeNow text: FeedText? = nil) async throws -> Body? {
        if let known = bodies.find(answer.bodyKey) { return .whole(known) }
        let packed: ByteBuffer?
        if let plain = bodies.find(answer.plainKey) {
            if answer.coding == .identity { return .whole(plain) }
            packed = plain.readableBytes > 1 << 20 ? try await LongWork.run { Gzip.pack(plain) } : Gzip.pack(plain)
        } else if let text = text ?? bodies.large(answer.plainKey) {
            if answer.coding == .identity { return text.isLarge ? .pieces(text) : .whole(ByteBuffer(text)) }
            packed = text.count > 1 << 20 ? try await LongWork.run { Gzip.pack(text) } : Gzip.pack(ByteBuffer(text))
        } else {
            return nil
        }
        guard let packed else { throw FeedNotPacked() }
        bodies.keep(packed, for: answer.bodyKey)
        return .whole(packed)
    }

    /// Counts an access before its answer is sent; a HEAD request does not read the feed and is not an access.
    private func respond(
        _ answer: FeedAnswer, _ body: Body?, to asked: FeedRequest, _ live: LiveFeed, _ version: FeedVersion,
        _ request: Request, _ context: KalendsContext, now: Int
    ) async throws -> Response {
        guard ConditionalGet.isMeant(request.headers, for: answer.current) else {
            return Self.plain(
                .preconditionFailed, "The calendar is not the one that the request is meant for.\n", request)
        }
        if !asked.isHead {
            if let body, !answer.isNotModified, body.count > MemoryShare.free {
                // The text's reservation already covers its pieces.
                if case .pieces(let text) = body, let room = text.room { context.memory.feed.rely(on: room) }
                // This comes before the access is counted: an answer that does not fit into memory is not an access.
                try await context.memory.feed.hold(
                    body.count, of: services.memory.shared, as: ByteString(answer.validators.etag))
            }
            let network = services.settings.clientAddress(request, context)?.prefix ?? .local
            do {
                try await services.counter.count(
                    answer.access(to: live, showing: version, from: network, at: now))
            } catch {
                // `AccessFolding` logs this once for all: a line for each reader would fill the rest of the disk.
                context.logger.debug("an access could not be recorded", metadata: ["error": "\(publicText(error))"])
                throw Refusal.notRecorded
            }
        }
        var headers = HTTPFields()
        answer.eachField { headers.append(HTTPField(name: $0, value: $1)) }
        guard let body, !answer.isNotModified else { return Response(status: answer.status, headers: headers) }
        let response = Response(status: answer.status, headers: headers, body: body.response)
        return asked.isHead ? response.createHeadResponse() : response
    }

    private func miss(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let network = services.settings.clientAddress(request, context)?.network ?? "local"
        let delay = brake.delay(forMissFrom: network, now: services.now())
        if delay > 0 { try await Task.sleep(for: .milliseconds(delay)) }
        return Self.plain(.notFound, "There is no calendar feed at this address.\n", request)
    }

    private static func ended(_ request: Request) -> Response {
        plain(.gone, "This calendar feed has ended. Ask its owner for a new address.\n", request)
    }

    private static func plain(_ status: HTTPResponse.Status, _ text: String, _ request: Request) -> Response {
        var headers: HTTPFields = [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"]
        FeedAnswer.eachSecretPageField { headers.append(HTTPField(name: $0, value: $1)) }
        let response = Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        return request.method == .head ? response.createHeadResponse() : response
    }
}

/// There was not enough memory to pack a feed.
private struct FeedNotPacked: Error {}

extension Refusal {
    static let notRecorded = Refusal(
        .unavailable, code: .readNotRecorded,
        detail: "The read could not be recorded, so the feed is not returned.",
        retryAfter: 5)
}
