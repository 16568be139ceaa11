// SPDX-License-Identifier: Apache-2.0

import Base

/// Whom bytes are counted to that come in: a caller, and the network that the caller is in.
///
/// Many users of one network share what a network may take, so that nobody gets more by more accounts. A host
/// application speaks for many from one address: each of its users counts as a separate network.
package struct Sender: Hashable, Sendable {
    let network: ByteString
    let caller: ByteString
    /// Whether one person is behind it, who needs a few places at most.
    let isPerson: Bool

    /// Somebody who is not known by anything but an address.
    package init(network: String) { self.init("network \(network)", "network \(network)", isPerson: false) }

    /// - Parameters:
    ///   - caller: who presented the credential, and `narrowed`: for whom.
    ///   - network: nil for the local socket.
    package init(_ caller: Identity, narrowed: Identity, network: String?) {
        let user = narrowed.userID.map { "user \($0)" }
        switch caller {
        case .operatorAtHand: self.init("operator", user ?? "operator", isPerson: user != nil)
        case .service(let key, _):
            let own = user.map { "key \(key) \($0)" } ?? "key \(key)"
            self.init(own, own, isPerson: user != nil)
        case .user, .device: self.init("network \(network ?? "local")", user ?? "nobody", isPerson: true)
        }
    }

    private init(_ network: String, _ caller: String, isPerson: Bool) {
        (self.network, self.caller, self.isPerson) = (ByteString(network), ByteString(caller), isPerson)
    }

    package static let unknown = Sender(network: "local")
    /// The server itself, for what circles follow.
    static let subscriptions = Sender("subscriptions", "subscriptions", isPerson: false)
    /// The server itself, for keys that tokens are checked with.
    static let keys = Sender("keys", "keys", isPerson: false)
}
