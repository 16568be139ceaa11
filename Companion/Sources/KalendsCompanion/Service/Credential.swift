// SPDX-License-Identifier: Apache-2.0

/// The credential of a request. Its text is never shown, neither in logs nor in errors, nor when it is printed.
public struct Credential: Hashable, Sendable {
    private enum Kind: Hashable, Sendable { case device, bearer }

    private let kind: Kind
    private let secret: String
    private let user: String?

    /// A device's own token.
    public static func device(_ token: String) -> Credential { Credential(kind: .device, secret: token, user: nil) }

    /// A user's token or session, or the token of `COMPANION_SYNC_TOKEN`; with a service key, `user` is the user to act
    /// for.
    public static func bearer(_ token: String, user: String? = nil) -> Credential {
        Credential(kind: .bearer, secret: token, user: user)
    }

    /// Whether the token can be the value of a header: visible ASCII of a limited length.
    var isSendable: Bool {
        func isPlain(_ text: String) -> Bool {
            (1...4_096).contains(text.utf8.count) && text.utf8.allSatisfy { (33...126).contains($0) }
        }
        return isPlain(secret) && user.map(isPlain) ?? true
    }

    var headers: [(String, String)] {
        var headers = [("Authorization", "\(kind == .device ? "Device" : "Bearer") \(secret)")]
        if let user { headers.append(("Kalends-User", user)) }
        return headers
    }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "a credential that is not shown" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
