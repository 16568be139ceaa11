// SPDX-License-Identifier: Apache-2.0

/// The reason why a sign-in at a provider did not work.
package struct OpenIDFault: Error, Hashable, Sendable {
    /// The message that the person sees.
    package enum Kind: String, Sendable, CaseIterable {
        /// The sign-in was not begun in this browser, has ended, was used before, or took too long.
        case begunElsewhere
        /// The person, or an administrator, refused at the provider.
        case denied
        /// The provider ended the sign-in with an error, or what it said cannot be relied on.
        case failed
        /// The provider cannot be reached, or this server sends it no more for a moment.
        case unavailable
        /// No user belongs to the account.
        case unknownPerson
        /// The user that the account names has a credential here, so they have to join the account first.
        case needsJoining
        /// The account belongs to another user, or the user has another account.
        case taken
        /// The account's claim cannot be the id of a user.
        case unusableName
        /// The account is not in the operators' group.
        case noOperator
        /// The provider asked for no proof of who opens the operator's pages.
        case noProof
    }

    package let kind: Kind
    /// For the operator: a sentence without anything that the provider or the browser sent.
    package let reason: String

    init(_ kind: Kind, _ reason: StaticString) { (self.kind, self.reason) = (kind, "\(reason)") }
}
