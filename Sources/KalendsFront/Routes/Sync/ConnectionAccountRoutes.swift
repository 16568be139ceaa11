// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore

/// The routes that set a connection's account and its calendar.
struct ConnectionAccountRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.connections)
        let path = "/v1/connections/{id}"
        routes.on(
            .post, "\(path)/authorize", "authorizeConnection", "Begin a sign-in at Google or Microsoft", .connection,
            .scope(.connections),
            details: "The person's browser goes to `authorizeURL` within ten minutes. A sign-in that a browser's "
                + "session began ends in that session only. Any other is pending when the browser returns, and ends "
                + "when its beginner redeems the code that `returnTo` then has; without `returnTo` a page shows it.",
            body: .json(.named("Authorization"), isRequired: false),
            [
                .ok(
                    .output(
                        .required(
                            "authorizeURL", .string.described("The address to open in the browser of this person only.")
                        ), .required("expiresAt", .instant)))
            ], refusals: [409], authorize)
        var away = Operation.Reply(status: 303, text: "The browser goes on to `returnTo`.")
        away.headers = ["Location"]
        var callback = Operation(
            "endAuthorization", "Receive the browser from the provider", .anyone, .noKey,
            details: "Adds `connection` and `result` (connected, pending, denied or failed) to `returnTo`, and to a "
                + "pending one `code`.",
            query: [
                .init(name: "state", schema: .string, isRequired: true), .init(name: "code", schema: .string),
                .init(name: "error", schema: .string),
            ], [away])
        // A client ignores unknown parameters in a provider's answer (RFC 6749 section 4.1.2).
        callback.takesAnyQuery = true
        routes.on(.get, "/v1/connections/callback", callback, arrive)
        routes.on(
            .post, "\(path)/redeem", "redeemAuthorization", "End a pending sign-in", .connection, .scope(.connections),
            details: "Takes the `code` that the sign-in brought to `returnTo`, once, within ten minutes. Post it only "
                + "for the user in whose browser it arrived: the account of that browser's person is connected.",
            body: .json(.named("AuthorizationCode")), [.ok(.named("Connection"))], refusals: [409, 503], redeem)
        routes.on(
            .put, "\(path)/account", "setConnectionAccount", "Set a CalDAV account", .connection, .scope(.connections),
            details: "The principal and its calendars are discovered from the address (RFC 6764).",
            body: .json(.named("AccountInput")), [.ok(.named("CalDAVAccount"))], refusals: [409], setAccount)
        routes.on(
            .get, "\(path)/calendars", "listConnectionCalendars", "List the account's calendars", .connection,
            .scope(.connections), [.ok(.output(.required("items", .array(of: .named("RemoteCalendar")))))],
            refusals: [409], calendars)
        routes.on(
            .put, "\(path)/calendar", "chooseConnectionCalendar", "Choose or create the calendar that is kept in step",
            .connection, .scope(.connections), details: "The first run is due at once.",
            body: .json(.named("CalendarChoice")), [.ok(.named("Connection"))], refusals: [409], choose)
    }

    static let authorization = InputBody(
        .optional(
            "returnTo",
            .looseText(2000).described("A path below /app/, or an address of an origin in KALENDS_RETURN_ORIGINS.")),
        example: ["returnTo": "/app/connections"])

    static let authorizationCode = InputBody(
        .required("code", InputType.text().documented(.string.described("The code that the sign-in brought."))),
        example: ["code": "kal_cc_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"])

    private var connections: Connections { services.connections }

    private func authorize(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let body = try await request.json(context)
        _ = try await connections.get(id, for: caller)
        let returnTo = try Self.authorization.read(body)
        // A session that was sent as a token is not a browser's: the browser that comes back may have none.
        let session = request.headers[.authorization] == nil ? context.session?.id : nil
        let authorization = try await connections.authorize(id, returnTo: returnTo, session: session, for: caller)
        return try .json([
            "authorizeURL": .string(authorization.url), "expiresAt": JSONValue(milliseconds: authorization.expiresAt),
        ])
    }

    private func arrive(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let query = request.uri.queryParameters.prefix(64).map { (name: String($0.key), value: String($0.value)) }
        let arrival = try await connections.arrive(query, cookie: SessionCookie.secret(of: request, services.settings))
        let base = URLPath.of(services.settings.publicURL)
        return Response(
            status: .seeOther,
            headers: [
                .location: arrival.returnTo.with(
                    arrival.result, code: arrival.code, connection: arrival.connection, base: base),
                .cacheControl: "no-store", .referrerPolicy: "no-referrer",
            ])
    }

    private func redeem(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let body = try await request.json(context)
        _ = try await connections.get(id, for: caller)
        let code = Secret(.connectionCode, text: try Self.authorizationCode.read(body))
        // The provider takes its time, and a code counts once: the exchange goes on if the client has gone.
        context.memory.letGo()
        let shown = try await connections.redeem(id, code: code, for: caller)
        return try .resource(try shown.json(services.settings.kinds), etag: try shown.own.etag)
    }

    private func setAccount(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let draft = Connections.AccountDraft(try await request.json(context), services.settings.kinds)
        return try .json(
            try await context.awaiting { try await connections.setAccount(draft, of: id, for: caller) }.json)
    }

    private func calendars(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let found = try await context.awaiting { try await connections.calendars(of: id, for: caller) }
        return try .json(["items": .array(found.map(\.json))])
    }

    private func choose(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let body = try await request.json(context)
        let shown = try await context.awaiting {
            try await connections.choose({ try Connections.CalendarChoice(body) }, of: id, for: caller)
        }
        return try .resource(try shown.json(services.settings.kinds), etag: try shown.own.etag)
    }
}

/// The path of a server's URL, below which all its addresses are.
enum URLPath {
    static func of(_ url: String) -> String {
        guard let scheme = url.firstIndex(of: ":") else { return "" }
        return String(url[scheme...].dropFirst("://".count).drop { !$0.is("/") })
    }
}
