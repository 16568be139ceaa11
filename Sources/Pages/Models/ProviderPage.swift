// SPDX-License-Identifier: Apache-2.0

/// A step of a sign-in or sign-out at a provider: on the way there, or back from it.
public struct ProviderPage: Page {
    /// Why a sign-in did not work.
    public enum Failure: String, Sendable, CaseIterable {
        case begunElsewhere, denied, failed, unavailable, unknownPerson, needsJoining, taken, unusableName, noOperator,
            noProof
    }

    public enum State: Sendable {
        /// The browser goes on by itself: one that knows the policy of a page with a form follows the form's redirect
        /// to no other origin, neither to the provider's nor to one to which the provider leads on.
        ///
        /// - Parameter address: where the provider's sign-in is.
        case leaving(address: String)
        /// The operator's pages are open.
        case operatorArrived(path: String)
        /// - Parameter address: where the session ends at the provider, too.
        case signedOut(address: String)
        /// - Parameter next: the path of the page to continue with.
        case failed(Failure, next: String)
    }

    public var state: State
    /// The provider's name.
    public var provider: String

    public init(_ state: State, provider: String) { (self.state, self.provider) = (state, provider) }

    public var showsSecret: Bool { true }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        let inserts = ["provider": provider]
        let (title, text, next): (String, String, Node) =
            switch state {
            case .leaving(let address):
                (
                    words["signInTitle"], words("providerLeaving", inserts),
                    paper.linkButton("actGoOn", address, style: .primary)
                )
            case .operatorArrived(let path):
                (words["adminTitle"], words["providerOperator"], paper.linkButton("actGoOn", path, style: .primary))
            case .signedOut(let address):
                (
                    words["providerSignedOutTitle"], words("providerSignedOut", inserts),
                    paper.linkButton("actSignOutAt", address, style: .primary, inserts)
                )
            case .failed(let failure, let next):
                (
                    words["providerFailedTitle"], words("providerFailed_\(failure.rawValue)", inserts),
                    paper.linkButton("actGoOn", next, style: .primary)
                )
            }
        return PageContent(
            template: "error", title: title, section: .nowhere, content: ["text": .text(text), "next": next])
    }
}

/// The provider at which a person can sign in, as the page of their account shows it.
public struct AccountProvider: Sendable {
    public var name: String
    /// Whether the person signs in there.
    public var isJoined: Bool

    public init(name: String, isJoined: Bool) { (self.name, self.isJoined) = (name, isJoined) }

    func shown(_ paper: RenderContext) -> Node {
        let inserts = ["provider": name]
        return [
            "title": .text(paper.words("providerTitle", inserts)),
            "text": .text(paper.words(isJoined ? "providerOn" : "providerOff", inserts)),
            "act": isJoined
                ? paper.act("actLeaveProvider", "/app/account/provider/leave")
                : paper.act("actJoinProvider", "/app/account/provider"),
        ]
    }
}
