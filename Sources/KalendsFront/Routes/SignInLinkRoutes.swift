// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Hummingbird
import KalendsCore
import Storage

/// Links that sign somebody in once.
struct SignInLinkRoutes: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.users)
        routes.on(
            .post, "/v1/users/{user}/sign-in-links",
            Operation(
                "createSignInLink", "Create a link that signs a user in once", .installation, .scope(.users),
                details: "The link shows one button; only pressing it uses the link up.",
                body: .json(.named("SignInLinkInput"), isRequired: false), [.created(.named("SignInLink"))]), create)
    }

    /// Adds the operator's links, which can be made only on the socket.
    func addLocal(to routes: inout RouteTable) {
        routes.onlyForOperator(.post, "/local/sign-in-links", createForOperator)
    }

    @Sendable
    private func create(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller) = (try context.newIdentifier("user"), try context.caller())
        var fields = FieldReader(try await request.json(context))
        let page = fields.page("to")
        let lifetimes = services.settings.linkLifetimes
        let seconds = fields.integer("expiresInSeconds", in: lifetimes) ?? SignInLinks.usualLifetime
        try fields.end()
        return try answer(
            try await services.signInLinks.create(for: user, to: page ?? .home, lasting: seconds, for: caller))
    }

    @Sendable
    private func createForOperator(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try answer(
            try await services.signInLinks.createForOperator(
                lasting: SignInLinks.usualLifetime, for: .operatorAtHand))
    }

    private func answer(_ made: (link: SignInLink, secret: Secret)) throws -> Response {
        try .json(
            [
                "url": .string("\(services.settings.publicURL)/app/sign-in/links/\(made.secret.reveal())"),
                "expiresAt": JSONValue(milliseconds: made.link.expiresAt),
            ], status: .created)
    }
}

extension FieldReader {
    /// The path of one of our pages.
    fileprivate mutating func page(_ name: String) -> PagePath? {
        guard let text = text(name, maximum: PagePath.longest) else { return nil }
        guard let page = PagePath(text) else {
            fault(name, PagePath.rule)
            return nil
        }
        return page
    }
}
