// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Hummingbird
import KalendsCore
import Storage

/// Links that sign somebody in once.
struct SignInLinkRoutes: Sendable {
    let signInLinks: SignInLinks
    let settings: ServerSettings

    func add(to routes: inout RouteTable) {
        routes.section(.users)
        routes.on(
            .post, "/v1/users/{user}/sign-in-links", "createSignInLink", "Create a link that signs a user in once",
            .installation, .scope(.users), details: "The link shows one button; only pressing it uses the link up.",
            body: .json(.named("SignInLinkInput"), isRequired: false), [.created(.named("SignInLink"))], create)
    }

    /// Adds the operator's links, which can be made only on the socket.
    func addLocal(to routes: inout RouteTable) {
        routes.onlyForOperator(.post, "/local/sign-in-links", createForOperator)
    }

    /// - Parameter lifetimes: how many seconds a link may last.
    static func body(_ lifetimes: ClosedRange<Int>) -> InputBody<PagePath?, Int> {
        let path = Schema(["type": "string", "pattern": "^($|/app/)", "maxLength": .integer(PagePath.longest)])
            .described("A path below `/app/`; the list of circles without one, or when it is empty.")
        return InputBody(
            .optional(
                "to",
                InputType.looseText(PagePath.longest).documented(path).made(.invalid, PagePath.rule) { PagePath($0) }),
            .number("expiresInSeconds", lifetimes, or: SignInLinks.usualLifetime),
            example: ["to": "/app/office-days", "expiresInSeconds": 300])
    }

    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller) = (try context.newIdentifier("user"), try context.caller())
        let (page, seconds) = try Self.body(settings.linkLifetimes).read(try await request.json(context))
        return try await context.answering(answer) {
            try await signInLinks.create(for: user, to: page ?? .home, lasting: seconds, for: caller)
        }
    }

    private func createForOperator(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try answer(
            try await signInLinks.createForOperator(
                lasting: SignInLinks.usualLifetime, for: .operatorAtHand)
        ).response
    }

    private func answer(_ made: (SignInLink, Secret)) throws -> GivenAnswer {
        let (link, secret) = made
        return try .json(
            [
                "url": .string("\(settings.publicURL)/app/sign-in/links/\(secret.reveal())"),
                "expiresAt": JSONValue(milliseconds: link.expiresAt),
            ], status: .created)
    }
}
