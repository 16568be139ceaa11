// SPDX-License-Identifier: Apache-2.0

/// `/app/sign-in?to=`: signing in with user and password, and then with a code where the user has a second factor; or at
/// a provider.
public struct SignInPage: Page {
    public var hasPasswords: Bool
    /// A path below `/app/` to which signing in leads.
    public var to: String
    /// What replaces the password while the page asks for the code; nil while it asks for the password.
    public var ticket: String?
    public var draft: Draft
    /// The provider's name; nil for a server without one.
    public var provider: String?

    public init(
        hasPasswords: Bool, to: String = "/app", ticket: String? = nil, draft: Draft = Draft(),
        provider: String? = nil
    ) {
        (self.hasPasswords, self.to, self.ticket, self.draft) = (hasPasswords, to, ticket, draft)
        self.provider = provider
    }

    public var showsSecret: Bool { ticket != nil }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        if let ticket { return codeSheet(paper, ticket) }
        let fields = [
            Field("user", words["signInUser"], Field.text(autocomplete: "username"), isRequired: true, most: 128),
            Field(
                "password", words["signInPassword"], .line(type: "password", autocomplete: "current-password"),
                isRequired: true),
        ]
        return PageContent(
            template: "sign-in", title: words["signInTitle"], section: .nowhere,
            content: [
                "form": hasPasswords
                    ? paper.form(
                        "sign-in", "/app/sign-in", fields, submit: "actSignIn", draft: draft, values: ["to": to])
                    : .nothing,
                "text": .text(
                    words(
                        hasPasswords || provider != nil ? "signInText" : "signInNoPasswords",
                        ["app": paper.frame.brand.name])),
                "provider": provider.map {
                    paper.act(
                        "actSignInAt", "/app/sign-in/provider", ["to": to], style: hasPasswords ? .plain : .primary,
                        ["provider": $0])
                } ?? .nothing,
            ], problems: paper.problems(draft, in: "sign-in", fields))
    }

    private func codeSheet(_ paper: RenderContext, _ ticket: String) -> PageContent {
        let words = paper.words
        let field = Field.code(words["factorCode"], hint: words["factorAnyCodeHint"])
        return PageContent(
            template: "sign-in", title: words["signInTitle"], section: .nowhere,
            content: [
                "form": paper.form(
                    "sign-in", "/app/sign-in/code", [field], submit: "actSignIn", draft: draft,
                    values: ["to": to, "ticket": ticket],
                    cancel: paper.linkButton("actBeginAgain", "/app/sign-in?to=\(to.pathSegment)", style: .quiet)),
                "text": .text(words["signInCodeText"]),
            ], problems: paper.problems(draft, in: "sign-in", [field]))
    }
}

/// The page of a sign-in link, which shows one button that signs in.
public struct SignInLinkPage: Page {
    public enum State: Sendable {
        /// - Parameters:
        /// - path: the path of this link with its secret, to which the form is sent by POST.
        /// - expiresAt: milliseconds since 1970.
        case ready(path: String, user: String?, expiresAt: Int)
        case used, expired, unknown
        /// Somebody opened the operator's pages without a link.
        ///
        /// - Parameter provider: the name of the provider at which operators sign in.
        case needed(provider: String?)
    }

    public var state: State
    public var isForOperator: Bool

    public init(state: State, isForOperator: Bool = false) {
        (self.state, self.isForOperator) = (state, isForOperator)
    }

    public var showsSecret: Bool { if case .ready = state { true } else { false } }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        let app = paper.frame.brand.name
        var content: [String: Node] = [:]
        let title: String
        switch state {
        case .ready(let path, let user, let expiresAt):
            title = words("linkReadyTitle", ["app": app])
            let when = Insert.time(paper.times.moment(expiresAt))
            content["line"] =
                user.map { words.sentence("linkReadyFor", ["user": .strong($0), "when": when]) }
                ?? words.sentence("linkReady", ["when": when])
            content["act"] = paper.act("actSignIn", path, style: .primary)
        case .used:
            title = words["linkUsedTitle"]
            content["line"] = words.sentence(isForOperator ? "linkAgainOperator" : "linkAgain", ["app": .text(app)])
        case .expired:
            title = words["linkExpiredTitle"]
            content["line"] = words.sentence(isForOperator ? "linkAgainOperator" : "linkAgain", ["app": .text(app)])
        case .needed(let provider):
            title = words["adminTitle"]
            content["act"] = provider.map {
                paper.act(
                    "actSignInAt", "/app/sign-in/provider/operator", style: .primary, ["provider": $0])
            }
            content["line"] = words.sentence("linkAgainOperator", ["app": .text(app)])
        case .unknown:
            title = words["linkUnknownTitle"]
            content["line"] = words.sentence(isForOperator ? "linkAgainOperator" : "linkAgain", ["app": .text(app)])
        }
        return PageContent(template: "sign-in-link", title: title, section: .nowhere, content: content)
    }
}

/// A page that is shown in place of another when there is an error.
public struct ErrorPage: Page {
    public enum Kind: String, Sendable, CaseIterable {
        /// The form's token does not belong to this session, or the form came from another site.
        case form
        case notFound, notAllowed, gone, conflict, tooLarge, tooOften, unavailable, fault
        /// The address of a feed that has ended, and one that no feed has.
        case feedEnded, feedUnknown
    }

    /// Whether it is shown at a feed's address, to somebody who may have no account.
    private var isOfFeed: Bool { kind == .feedEnded || kind == .feedUnknown }

    public var kind: Kind
    /// The path of the page to continue with, below `/app`.
    public var next: String
    /// The request's id in the log.
    public var requestID: String?

    public init(kind: Kind, next: String = "/app", requestID: String? = nil) {
        (self.kind, self.next, self.requestID) = (kind, next, requestID)
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        return PageContent(
            template: "error", title: words["errorTitle_" + kind.rawValue], section: .nowhere,
            content: [
                "text": .text(words["errorText_" + kind.rawValue]),
                "next": isOfFeed ? .nothing : paper.linkButton("actGoOn", next, style: .primary),
                "mark": .text(requestID.map { words("errorMark", ["mark": $0]) }),
            ], isForStrangers: isOfFeed)
    }
}
