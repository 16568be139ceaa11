// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials

/// 256 random bits that open something for whoever has them.
///
/// Printing, interpolating or dumping one shows `[redacted]`; only `reveal()` returns the text, and it is called only
/// in the few places where a secret leaves the server on purpose.
public struct Secret: Hashable, Sendable {
    /// What a secret opens; the text begins with it, so that a leaked secret can be recognized and searched for.
    public enum Kind: Sendable {
        /// A feed URL.
        case feed
        /// A host application's key.
        case serviceKey
        /// The session of a user who has signed in.
        case session
        /// The secret of one of a user's devices.
        case device
        /// The secret that signs messages to a host application.
        case webhook
        /// A link that signs somebody in once.
        case signInLink
        /// The session of a browser in which the operator's pages are open.
        case operatorSession

        var prefix: String {
            switch self {
            case .feed: ""
            case .serviceKey: "kal_sk_"
            case .session: "kal_ss_"
            case .device: "kal_dv_"
            case .webhook: "kal_wh_"
            case .signInLink: "kal_sl_"
            case .operatorSession: "kal_os_"
            }
        }
    }

    public let kind: Kind
    private let bytes: [UInt8]

    /// Creates a secret with the system's generator.
    public static func make(_ kind: Kind) -> Secret {
        var generator = SystemRandomNumberGenerator()
        return Secret(kind: kind, bytes: (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// Reads a secret as `reveal()` returns it; nil for anything else, without a look-up.
    public init?(_ kind: Kind, text: some StringProtocol) {
        guard text.utf8.starts(with: kind.prefix.utf8) else { return nil }
        self.init(kind, utf8: Array(text.utf8)[kind.prefix.utf8.count...])
    }

    /// Reads a secret from the characters after the kind's prefix.
    public init?(_ kind: Kind, utf8 body: ArraySlice<UInt8>) {
        guard body.count == 43, let bytes = Base64URL.decode(body), bytes.count == 32,
            // The last character has two unused bits, which have to be zero so that a secret has only one spelling.
            Base64URL.hasNoSpareBits(body)
        else { return nil }
        self.init(kind: kind, bytes: bytes)
    }

    private init(kind: Kind, bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }

    /// The secret in plain text: 43 characters of base64url after the kind's prefix.
    public func reveal() -> String { kind.prefix + Base64URL.encode(bytes) }

    /// SHA-256 of the bits: the key under which it is remembered.
    public var key: TokenKey {
        // A digest is 32 bytes, which is two halves of 16.
        unsafe SHA256.hash(data: bytes).withUnsafeBytes {
            unsafe TokenKey(
                first: $0.loadUnaligned(as: SIMD2<UInt64>.self),
                second: $0.loadUnaligned(fromByteOffset: 16, as: SIMD2<UInt64>.self))
        }
    }

    /// SHA-256 of the bits, in hex: the form in which it is stored in the database.
    public var hash: String { Hexadecimal.text(SHA256.hash(data: bytes)) }

    /// HMAC-SHA-256 of some bytes under the secret's bits, in base64 (RFC 2104, RFC 4648 section 4).
    public func signature(of message: [UInt8]) -> String {
        Data(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: bytes))).base64EncodedString()
    }

    /// The first characters: too few to guess the rest from, but enough to tell two secrets apart.
    public var hint: String { String(reveal().prefix(kind.prefix.count + 4)) + "…" }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "[redacted]" }
    public var debugDescription: String { "[redacted]" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
