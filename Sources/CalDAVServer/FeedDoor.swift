// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import KalendsFront
import Storage

/// A feed's secret address as a collection that can only be read: whoever has the address needs no password.
struct FeedDoor: Sendable {
    let services: Services
    private let brake = GuessThrottle()

    /// GET and HEAD of the first are the feed itself.
    static let paths = ["/feeds/{token}/{name}", "/feeds/{token}/{name}/{member}"]

    /// The methods of a resource that can only be read, for `Allow`.
    static let reading = "OPTIONS, GET, HEAD, PROPFIND, REPORT"
    private static let known =
        ["OPTIONS", "GET", "HEAD", "PROPFIND", "REPORT"]
        + ["PUT", "DELETE", "PROPPATCH", "MKCALENDAR", "MKCOL", "MOVE", "COPY"]
    private static let features = "1, 3, access-control, calendar-access"

    init(services: Services) { self.services = services }

    func answer(_ request: Request, _ context: KalendsContext) async throws -> Response {
        // This holds for every address, even that of a feed that never existed.
        guard Self.known.contains(where: { $0 == request.method.rawValue }) else {
            return Self.keepingSecret(DAVFault.notAllowed(Self.reading).response)
        }
        let name = context.parameters.get("name") ?? ""
        guard name.hasSuffix(".ics"), let text = context.parameters.get("token"), let token = Secret(.feed, text: text)
        else { return try await miss(request, context) }
        // Everything that another server ended earlier is known from here on, and all servers use the same clock.
        let now = try await services.sharing?.confirm() ?? services.now()
        let (place, live): (CollectionPlace, LiveFeed)
        let feed = services.feedCollection(token)
        switch try await feed.open(name) {
        case .unknown: return try await miss(request, context)
        case .ended: return Self.ended
        case .live(let found, let opened): (place, live) = (CollectionPlace(found, feed), opened)
        }
        let paths = DAVPaths(base: services.settings.basePath, feed: "/feeds/\(text)/\(name)")
        guard let address = paths.address(path: request.uri.path) else { return try await miss(request, context) }
        let exchange = Exchange(
            request: request, context: context, services: services, collections: services.collections,
            address: address, caller: nil,
            propertyContext: PropertyContext(
                paths: paths, user: nil, mayMake: false,
                tokens: SyncTokens(databaseID: services.databaseID)),
            place: place)
        var response = try await DAVFault.answered(at: exchange.href, paths, user: nil) { try await exchange.respond() }
        if request.method == .options { response.headers[.dav] = Self.features }
        response = Self.keepingSecret(response)
        // No refusal repeats the secret.
        if case .feed = address, response.status.code < 300, !request.uri.path.hasSuffix("/") {
            response.headers[.contentLocation] = exchange.href
        }
        if CalDAVDoor.isCounted(response.status, request.method) {
            try await count(live, response.status, request, context, now: now)
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Counts a read before its answer is sent.
    private func count(
        _ live: LiveFeed, _ status: HTTPResponse.Status, _ request: Request, _ context: KalendsContext, now: Int
    ) async throws {
        // For a part of a circle, it is not known which version of the circle somebody has seen.
        let access = FeedAccess(
            feed: live.number, at: now, client: ClientFamily(userAgent: request.headers[.userAgent]).code,
            status: status.code, network: services.settings.clientAddress(request, context)?.prefix ?? .local)
        do {
            try await services.counter.count(access)
        } catch {
            throw Refusal.notRecorded
        }
    }

    private func miss(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let network = services.settings.clientAddress(request, context)?.network ?? "local"
        let delay = brake.delay(forMissFrom: network, now: services.now())
        if delay > 0 { try await Task.sleep(for: .milliseconds(delay)) }
        return Self.keepingSecret(DAVFault.missing.response)
    }

    private static var ended: Response {
        keepingSecret(
            DAVFault(.gone, nil, "This calendar feed has ended. Ask its owner for a new address.").response)
    }

    /// Keeps an address with a secret out of search engines and Referer.
    private static func keepingSecret(_ response: Response) -> Response {
        var response = response
        FeedAnswer.eachSecretPageField { response.headers[$0] = $1 }
        return response
    }
}
