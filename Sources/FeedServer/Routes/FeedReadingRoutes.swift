// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import ICalBridge
import Logging
import Storage

/// The feeds themselves: what calendar apps poll, with the secret in the path as their only credential.
struct FeedReadingRoutes: Sendable {
    let services: Services
    let brake = GuessBrake()

    func add(to routes: inout RouteTable) {
        for method in [HTTPRequest.Method.get, .head] {
            routes.on(method, "/feeds/{token}/{name}") { try await read($0, $1, endsInName: true) }
            routes.on(method, "/feeds/{token}") { try await read($0, $1, endsInName: false) }
            routes.on(method, "/functions/v1/ical-feed/{token}") { try await read($0, $1, endsInName: false) }
        }
    }

    private func read(_ request: Request, _ context: KalendsContext, endsInName: Bool) async throws -> Response {
        let now = services.now()
        var text = context.parameters.get("token") ?? ""
        if endsInName {
            guard context.parameters.get("name")?.hasSuffix(".ics") == true else {
                return try await miss(request, context)
            }
        } else if text.hasSuffix(".ics") {
            text.removeLast(4)
        }
        guard let token = Secret(.feed, text: text) else { return try await miss(request, context) }
        switch try await services.ledger.resolve(token, now: now) {
        case .unknown:
            return try await miss(request, context)
        case .ended:
            return Self.ended(request)
        case .live(let live):
            return try await answer(live, request, context, now: now)
        }
    }

    private func answer(
        _ live: LiveFeed, _ request: Request, _ context: KalendsContext, now: Int
    ) async throws -> Response {
        let form = CalendarForm(accept: request.headers[values: .accept])
        let state = try FeedState(live.feed, live.circle, form: form, now: now)
        if let etag = await services.feeds.etag(for: state.key) {
            let validators = Self.validators(etag, changedAt: state.changedAt, now: now)
            if ConditionalGet.isNotModified(request.headers, validators) {
                return try await notModified(validators, live, request, context, now: now)
            }
        }
        let services = services
        let rendered: RenderedFeed
        do {
            rendered = try await services.feeds.feed(for: state.key, changedAt: state.changedAt) {
                try await services.store.read { transaction in
                    // Read again: what is rendered and what it is called come from one snapshot.
                    guard let feed = try transaction.feed(live.feed.id), feed.revokedAt == nil,
                        let circle = try transaction.circle(feed.circleID)
                    else { throw Ended() }
                    let state = try FeedState(feed, circle, form: form, now: now)
                    let parts = try LiveFeedParts(
                        feed: feed, circle: circle, settings: services.settings)
                    let window = FeedWindow(parts.configuration, today: state.today, zone: parts.zone)
                    let (body, etag) = try services.renderer.render(parts, window: window, as: form, in: transaction)
                    return RenderedFeed(
                        key: state.key, changedAt: state.changedAt, etag: etag, body: body)
                }
            }
        } catch is Ended {
            return Self.ended(request)
        }
        let validators = Self.validators(rendered.etag, changedAt: rendered.changedAt, now: now)
        if ConditionalGet.isNotModified(request.headers, validators) {
            return try await notModified(validators, live, request, context, now: now)
        }
        try await count(live, status: .ok, request, context, now: now)
        var headers = Self.headers(validators)
        headers[.contentType] = form.contentType
        let response = Response(
            status: .ok, headers: headers, body: ResponseBody(byteBuffer: rendered.body))
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// The feed ended between the look-up of its token and the reading of its events.
    private struct Ended: Error {}

    private func notModified(
        _ validators: Validators, _ live: LiveFeed, _ request: Request, _ context: KalendsContext, now: Int
    ) async throws -> Response {
        try await count(live, status: .notModified, request, context, now: now)
        return Response(status: .notModified, headers: Self.headers(validators))
    }

    /// Counts an access before its answer leaves; a HEAD reads nothing and is none.
    private func count(
        _ live: LiveFeed, status: HTTPResponse.Status, _ request: Request, _ context: KalendsContext, now: Int
    ) async throws {
        guard request.method == .get else { return }
        let access = FeedAccess(
            feed: live.feed.number, at: now, client: ClientFamily(userAgent: request.headers[.userAgent]).code,
            status: status.code, network: services.settings.clientAddress(request, context)?.prefix ?? .local)
        do {
            try await services.counter.count(access)
        } catch {
            // Told once for all by `AccessFolding`: a line for each reader would fill what is left of the disk.
            context.logger.debug("an access could not be recorded", metadata: ["error": "\(publicText(error))"])
            throw Refusal(
                status: .serviceUnavailable, detail: "The read could not be recorded, so it is not given.",
                headers: [.retryAfter: "5"])
        }
    }

    private func miss(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let network = services.settings.clientAddress(request, context)?.network ?? "local"
        let delay = brake.delay(forMissFrom: network, now: services.now())
        if delay > 0 { try await Task.sleep(for: .milliseconds(delay)) }
        return Self.plain(.notFound, "There is no calendar feed at this address.\n", request)
    }

    /// While the second of the last change still runs the date shows one less, so that a second change in it is seen.
    private static func validators(_ etag: String, changedAt: Int, now: Int) -> Validators {
        let changed = Instant(milliseconds: changedAt)
        let isRunning = changed.seconds >= Instant(milliseconds: now).seconds
        return Validators(etag: etag, lastModified: isRunning ? changed.adding(seconds: -1) : changed)
    }

    private static func ended(_ request: Request) -> Response {
        plain(.gone, "This calendar feed has ended. Ask its owner for a new address.\n", request)
    }

    private static func headers(_ validators: Validators) -> HTTPFields {
        var headers = validators.fields
        headers[.cacheControl] = "private, no-cache"
        headers[.vary] = "Accept"
        headers.addSecretPageFields()
        return headers
    }

    private static func plain(_ status: HTTPResponse.Status, _ text: String, _ request: Request) -> Response {
        var headers: HTTPFields = [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"]
        headers.addSecretPageFields()
        let response = Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        return request.method == .head ? response.createHeadResponse() : response
    }
}

extension HTTPFields {
    /// What keeps an address with a secret in it out of search engines and Referer.
    fileprivate mutating func addSecretPageFields() {
        self[.xRobotsTag] = "noindex"
        self[.referrerPolicy] = "no-referrer"
        self[.xContentTypeOptions] = "nosniff"
    }
}

extension HTTPField.Name {
    static let xRobotsTag = HTTPField.Name("X-Robots-Tag") ?? .from
    static let referrerPolicy = HTTPField.Name("Referrer-Policy") ?? .from
}
