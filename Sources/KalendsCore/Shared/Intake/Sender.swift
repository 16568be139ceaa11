// SPDX-License-Identifier: Apache-2.0

/// The party for whom incoming bytes are counted: a caller, and the caller's network.
///
/// All users of one network share what a network may take, so that more accounts do not get anybody more. A host
/// application acts for many users from one address, so each of its users counts as a separate network.
package struct Sender: Hashable, Sendable {
    let network: ByteString
    package let caller: ByteString
    /// Whether this is one person, who needs only a few places.
    package let isPerson: Bool

    /// A sender who is known only by an address.
    package init(network: String) { self.init("network \(network)", "network \(network)", isPerson: false) }

    /// - Parameters:
    ///   - caller: who presented the credential; `narrowed` is the user that they act for.
    ///   - network: nil for the local socket.
    package init(_ caller: Identity, narrowed: Identity, network: String?) {
        let user = narrowed.userID.map { "user \($0)" }
        switch caller {
        case .operatorAtHand: self.init("operator", user ?? "operator", isPerson: user != nil)
        case .service(let key, _, _):
            let own = user.map { "key \(key) \($0)" } ?? "key \(key)"
            self.init(own, own, isPerson: user != nil)
        case .user, .userWithin, .device: self.init("network \(network ?? "local")", user ?? "nobody", isPerson: true)
        }
    }

    /// A user whose calendars are at a server.
    ///
    /// - Parameter host: the server's host if the user named it; nil for a provider that many users have.
    init(user: String, host: ByteString?) {
        self.init(host.map { "host \($0)" } ?? "user \(user)", "user \(user)", isPerson: true)
    }

    private init(_ network: String, _ caller: String, isPerson: Bool) {
        (self.network, self.caller, self.isPerson) = (ByteString(network), ByteString(caller), isPerson)
    }

    package static let unknown = Sender(network: "local")
    /// The server itself, when it fetches the calendars that circles follow.
    static let subscriptions = Sender("subscriptions", "subscriptions", isPerson: false)
    /// The server itself, when it fetches the keys that tokens are checked with.
    static let keys = Sender("keys", "keys", isPerson: false)
}
