// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import Logging
import NIOCore
import Pages
import Storage

/// The feeds themselves, which calendar apps poll with the secret in the path as their only credential.
///
/// On the public port, requests that can be answered from memory do not reach these routes: see `FeedFastPath`.
struct FeedReadingRoutes: Sendable {
    let services: Services
    let bodies: FeedBodies
    let brake = GuessThrottle()

    func add(to routes: inout RouteTable) {
        routes.section(.feeds)
        for route in FeedPath.Route.allCases {
            let handler: Handler = { try await read($0, $1, on: route) }
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
            details:
                "`text/calendar`; xCal or jCal when `Accept` asks for it (RFC 6321, RFC 7265); a page for a browser."
                + (route == .named ? freeBusyDetails : ""),
            [
                .init(
                    status: 200, text: "The calendar.", type: "text/calendar", schema: .string,
                    headers: ["Last-Modified"])
            ],
            refusals: [410, 412, 429, 503] + (route == .named ? [400] : []), hasTag: true)
    }

    private static let freeBusyDetails =
        " A name that ends in `.ifb` gives when the reader is busy (VFREEBUSY): `start` and `end`, times or days, narrow "
        + "it, and `availability=1` gives the reader's shifts and office days as VAVAILABILITY (RFC 7953) in place of busy "
        + "times if the feed shows titles."

    private func read(_ request: Request, _ context: KalendsContext, on route: FeedPath.Route) async throws -> Response
    {
        var text = context.parameters.get("token") ?? ""
        var isFreeBusy = false
        if route == .named {
            let name = context.parameters.get("name") ?? ""
            isFreeBusy = name.hasSuffix(Self.freeBusyEnding)
            guard isFreeBusy || name.hasSuffix(".ics") else { return try await miss(request, context) }
        } else if text.hasSuffix(".ics") {
            text.removeLast(4)
        }
        guard let token = Secret(.feed, text: text) else { return try await miss(request, context) }
        // Everything that another server ended earlier is known from here on, and all servers use the same clock.
        let now = try await services.sharing?.confirm() ?? services.now()
        if isFreeBusy { return try await freeBusy(of: token, now: now, request, context) }
        let asked = FeedRequest(request.method, request.headers)
        if asked.isForPage { return try await agenda(of: token, now: now, request, context) }
        return try await ReadPurpose.$isShort.withValue(true) {
            try await calendar(of: token, asked, on: route, now: now, request, context)
        }
    }

    private func calendar(
        of token: Secret, _ asked: FeedRequest, on route: FeedPath.Route, now: Int, _ request: Request,
        _ context: KalendsContext
    ) async throws -> Response {
        let look = FeedRenderKey(asked, token, on: route, family: ClientFamily(userAgent: asked.userAgent), now: now)
        let reading = services.feedReading
        let keep: @Sendable (RenderedFeed) -> Void = {
            let key = FeedBodies.Key(hash: $0.shown.hash, form: look.form, coding: .identity)
            bodies.keep($0.text, for: key, of: look.key)
        }
        switch try await reading.open(token, as: look.form, now: now, keep: keep) {
        case .unknown:
            return try await miss(request, context)
        case .ended:
            return Self.ended(request)
        case .live(let live, let made):
            if made == nil, let answer = FeedAnswer(asked, look, live, in: services.feedCache),
                let body = try await body(of: answer, context)
            {
                return try await respond(answer, body, live, live.version, request, context)
            }
            let rendered: RenderedFeed
            do {
                rendered =
                    if let made { made } else {
                        try await reading.rendered(live, token, as: look.form, now: now, keep: keep)
                    }
            } catch is FeedReading.Ended {
                return Self.ended(request)
            }
            let answer = FeedAnswer(asked, look, rendered.shown, changedAt: rendered.changedAt)
            let body = try await body(of: answer, madeNow: rendered.text, context) ?? ResponseBody()
            return try await respond(answer, body, live, rendered.version, request, context, rendered.text.room)
        }
    }

    /// The bytes in the answer's coding, cached for the next request; nil when they are not available.
    ///
    /// - Parameter text: the plain bytes, if they were made for this request.
    private func body(
        of answer: FeedAnswer, madeNow text: FeedText? = nil, _ context: KalendsContext
    ) async throws -> ResponseBody? {
        if answer.isNotModified { return ResponseBody() }
        if let known = bodies.find(answer.bodyKey) { return ResponseBody(byteBuffer: known) }
        if let known = bodies.large(answer.bodyKey) { return Self.body(of: known, context) }
        let isPlain = answer.look.coding == .identity
        let packed: ByteBuffer?
        if let plain = bodies.find(answer.plainKey) {
            if isPlain { return ResponseBody(byteBuffer: plain) }
            packed =
                plain.readableBytes > 1 << 20
                ? try await LongWork.run(for: context.sender) { Gzip.pack(plain) } : Gzip.pack(plain)
        } else if let text = text ?? bodies.large(answer.plainKey) {
            if isPlain, !text.isLarge { return ResponseBody(byteBuffer: try ByteBuffer(text)) }
            if isPlain { return Self.body(of: text, context) }
            if text.isLarge {
                let packed = try await packedLong(text, for: answer.bodyKey, context)
                // What is kept in one buffer needs none of the text's room.
                if let joined = bodies.find(answer.bodyKey) { return ResponseBody(byteBuffer: joined) }
                return Self.body(of: packed, context)
            }
            packed = Gzip.pack(try ByteBuffer(text))
        } else {
            return nil
        }
        guard let packed else { throw FeedNotPacked() }
        bodies.keep(packed, for: answer.bodyKey)
        return ResponseBody(byteBuffer: packed)
    }

    /// A large text as the body of an answer, at its reader's pace.
    private static func body(of text: FeedText, _ context: KalendsContext) -> ResponseBody {
        // The text's reservation already covers it, unless it was thought to be short.
        if let room = text.room, !room.isOfBudget(of: context.memory.feed) { context.memory.feed.rely(on: room) }
        return text.responseBody
    }

    /// A large text as it was packed while this request waited for its turn, or as it is packed now.
    private func packedLong(
        _ text: FeedText, for key: FeedBodies.Key, _ context: KalendsContext
    ) async throws -> FeedText {
        try await LongWork.run(for: context.sender) {
            if let known = bodies.large(key) { return known }
            guard let packed = try Gzip.pack(text) else { throw FeedNotPacked() }
            bodies.keep(packed, for: key)
            return packed
        }
    }

    /// Counts an access before its answer is sent.
    private func respond(
        _ answer: FeedAnswer, _ body: ResponseBody, _ live: LiveFeed, _ version: FeedVersion, _ request: Request,
        _ context: KalendsContext, _ early: MemoryShare? = nil
    ) async throws -> Response {
        guard ConditionalGet.isMeant(request.headers, for: answer.current) else {
            return Self.notMeant(request)
        }
        if let access = answer.access(to: live, showing: version, from: network(request, context)) {
            if let count = body.contentLength, count > MemoryShare.free {
                // This comes before the access is counted: an answer that does not fit into memory is not an access.
                try await context.memory.feed.hold(
                    count, of: services.memory.shared, as: ByteString(answer.validators.etag), from: early)
            }
            try await count(access, context)
        }
        var headers = HTTPFields()
        answer.eachField { headers.append(HTTPField(name: $0, value: $1)) }
        let response = Response(status: answer.status, headers: headers, body: body)
        return answer.look.isHead ? response.createHeadResponse() : response
    }

    func network(_ request: Request, _ context: KalendsContext) -> NetworkPrefix {
        services.settings.clientAddress(request, context)?.prefix ?? .local
    }

    func count(_ access: FeedAccess, _ context: KalendsContext) async throws {
        do {
            try await services.counter.count(access)
        } catch {
            // `AccessFolding` logs this once for all: a line for each reader would fill the rest of the disk.
            context.logger.debug("an access could not be recorded", metadata: ["error": "\(publicText(error))"])
            throw Refusal.notRecorded
        }
    }

    func miss(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let network = services.settings.clientAddress(request, context)?.network ?? "local"
        let delay = brake.delay(forMissFrom: network, now: services.now())
        if delay > 0 { try await Task.sleep(for: .milliseconds(delay)) }
        if FeedRequest(request.method, request.headers).isForPage {
            return refused(.feedUnknown, .notFound, request, services.now())
        }
        return Self.plain(.notFound, "There is no calendar feed at this address.\n", request)
    }

    static func ended(_ request: Request) -> Response {
        plain(.gone, "This calendar feed has ended. Ask its owner for a new address.\n", request)
    }

    static func notMeant(_ request: Request) -> Response {
        plain(.preconditionFailed, "The calendar is not the one that the request is meant for.\n", request)
    }

    static func plain(_ status: HTTPResponse.Status, _ text: String, _ request: Request) -> Response {
        var headers: HTTPFields = [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"]
        FeedAnswer.eachSecretPageField { headers.append(HTTPField(name: $0, value: $1)) }
        let response = Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        return request.method == .head ? response.createHeadResponse() : response
    }
}

/// There was not enough memory to pack a feed.
private struct FeedNotPacked: Error {}
