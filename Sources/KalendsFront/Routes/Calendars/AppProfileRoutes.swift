// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import NIOCore
import Storage

/// Hands an app its password: a profile for Apple's devices, and Nextcloud's login flow, version 2.
struct AppProfileRoutes: Sendable {
    let services: Services
    private let brake = GuessThrottle()

    init(services: Services) { self.services = services }

    func add(to routes: inout RouteTable) {
        routes.section(.calendarApps)
        routes.on(
            .get, "/profiles/{profile}",
            Operation(
                "getAppProfile", "Fetch a profile for Apple's devices, once", .feedToken, .noKey,
                details: "It has the server's address, the user's name and the app password.",
                [
                    .init(
                        status: 200, text: "The profile.", type: AppleProfile.type, schema: .bytes,
                        headers: ["Content-Disposition"])
                ],
                refusals: [409, 410, 503, 507]), profile,
            // Only the profile's own bytes use it up.
            head: { _, _ in Response(status: .ok, headers: Self.fields) })
        routes.on(
            .post, "/index.php/login/v2", "beginAppLogin", "Begin an app's sign-in (Nextcloud's login flow)", .anyone,
            .noKey,
            details: "The app opens `login` in a browser, and asks `poll.endpoint` with `poll.token` until a person "
                + "has let it in there.", [.ok(.named("AppLogin"))], begin)
        routes.on(
            .post, Self.pollPath, "pollAppLogin", "Ask for an app's password (Nextcloud's login flow)", .anyone, .noKey,
            details: "404 until a person has let the app in, then the password, once.",
            body: Operation.Body(
                contents: [("application/x-www-form-urlencoded", .named("AppLoginToken"))], isRequired: true),
            [.ok(.named("AppLoginResult"))], refusals: [404, 409], poll)
    }

    private static let pollPath = "/index.php/login/v2/poll"
    static let pollForm = Schema([
        "type": "object", "required": ["token"], "properties": ["token": ["type": "string"]],
    ]).with(example: ["token": "kal_al_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"])

    private static let fields: HTTPFields = {
        var fields: HTTPFields = [
            .contentType: AppleProfile.type, .contentDisposition: "attachment; filename=\"calendar.mobileconfig\"",
            .cacheControl: "no-store",
        ]
        FeedAnswer.eachSecretPageField { fields.append(HTTPField(name: $0, value: $1)) }
        return fields
    }()

    private func profile(_ request: Request, _ context: KalendsContext) async throws -> Response {
        guard let secret = context.parameter("profile").flatMap({ Secret(.profile, text: $0) }) else {
            return try await miss(request, context)
        }
        switch try await services.appPasswords.fetch(secret) {
        case .unknown: return try await miss(request, context)
        case .ended:
            throw Refusal(.gone, detail: "This profile was fetched before, or not within an hour. Make a new password.")
        case .password(let password, let secret):
            let settings = services.settings
            let profile = AppleProfile(
                label: "\(settings.brand.name): \(password.label)", server: settings.publicURL, user: password.userID,
                password: secret, id: password.id)
            return Response(
                status: .ok, headers: Self.fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: profile.bytes)))
        }
    }

    /// Lets the answer to a profile that never was wait, ever longer for a network that tries many.
    private func miss(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let delay = brake.delay(
            forMissFrom: services.settings.network(of: request, context), now: services.now())
        if delay > 0 { try await Task.sleep(for: .milliseconds(delay)) }
        throw Refusal.noSuchPath
    }

    private func begin(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (secret, ticket) = services.appPasswords.beginLogin(
            of: ClientFamily(userAgent: request.headers[.userAgent]))
        let url = services.settings.publicURL
        return try .json(
            AppLogin(token: secret.reveal(), endpoint: url + Self.pollPath, login: "\(url)/app/login/\(ticket)").json)
    }

    private func poll(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let form = try PageForm(
            try await PageForm.bytes(of: request, context), type: request.headers[.contentType])
        guard let secret = form["token"].flatMap({ Secret(.appLogin, text: $0) }),
            case .password(let password, let own) = try await services.appPasswords.fetch(secret)
        else {
            throw Refusal(.missing, detail: "Nobody has let the app in yet, or it has its password already.")
        }
        return try .json(
            AppLoginResult(
                server: services.settings.publicURL, loginName: password.userID, appPassword: own.reveal()
            ).json)
    }
}

/// The beginning of an app's sign-in.
struct AppLogin: Viewed {
    let token: String
    let endpoint: String
    let login: String

    static let view = View<AppLogin>([
        .object("poll", { $0 }, View([.text("token", \.token), .text("endpoint", \.endpoint)])),
        .text("login", \.login).described("The page on which a person lets the app in, within 20 minutes."),
    ])
}

/// The answer that an app gets at the end of its sign-in.
struct AppLoginResult: Viewed {
    let server: String
    let loginName: String
    let appPassword: String

    static let view = View<AppLoginResult>([
        .text("server", \.server), .id("loginName", \.loginName), .text("appPassword", \.appPassword),
    ])
}
