// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import FoundationEssentials

/// 256 random bits that give access to whoever has them.
///
/// Only `reveal()` returns the text, and it is called only in the few places where a secret leaves the server on purpose.
public struct Secret: Hashable, Redacted {
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
        /// A code that ends a sign-in at a provider, for the user who began it.
        case connectionCode
        /// A link to a profile with an app password.
        case profile
        /// The secret with which an app asks whether it was let in.
        case appLogin

        var prefix: String {
            switch self {
            case .feed: ""
            case .serviceKey: "kal_sk_"
            case .session: "kal_ss_"
            case .device: "kal_dv_"
            case .webhook: "kal_wh_"
            case .signInLink: "kal_sl_"
            case .operatorSession: "kal_os_"
            case .connectionCode: "kal_cc_"
            case .profile: "kal_pf_"
            case .appLogin: "kal_al_"
            }
        }
    }

    /// The bits in the order of their bytes, within the secret itself: each poll reads one, and an array would be
    /// allocated for it.
    private struct Bits: Hashable {
        var (first, second, third, fourth): (UInt64, UInt64, UInt64, UInt64)

        init(_ words: (UInt64, UInt64, UInt64, UInt64)) { (first, second, third, fourth) = words }

        func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
            // The four words are adjacent in memory, without gaps.
            try unsafe withUnsafeBytes(of: self) { try unsafe body($0) }
        }
    }

    public let kind: Kind
    private let bits: Bits
    private var bytes: [UInt8] { unsafe bits.withBytes { unsafe Array($0) } }

    /// Creates a secret with the system's generator.
    public static func make(_ kind: Kind) -> Secret {
        func word() -> UInt64 { .random(in: .min ... .max) }
        return Secret(kind: kind, Bits((word(), word(), word(), word())))
    }

    /// Reads a secret as `reveal()` returns it; nil for anything else, without a look-up.
    public init?(_ kind: Kind, text: some StringProtocol) {
        guard text.utf8.starts(with: kind.prefix.utf8) else { return nil }
        let body = Array(text.utf8.dropFirst(kind.prefix.utf8.count))
        self.init(kind, utf8: unsafe body.span.bytes)
    }

    /// Reads a secret from the characters after the kind's prefix.
    public init?(_ kind: Kind, utf8 body: RawSpan) {
        guard let words = Base64URL.fourWords(body) else { return nil }
        self.init(kind: kind, Bits(words))
    }

    private init(kind: Kind, _ bits: Bits) {
        self.kind = kind
        self.bits = bits
    }

    /// The secret in plain text: 43 characters of base64url after the kind's prefix.
    public func reveal() -> String { kind.prefix + Base64URL.encode(bytes) }

    /// SHA-256 of the bits: the key under which it is remembered.
    public var key: TokenKey {
        // A digest is 32 bytes, which is two halves of 16.
        unsafe digest.withUnsafeBytes {
            unsafe TokenKey(
                first: $0.loadUnaligned(as: SIMD2<UInt64>.self),
                second: $0.loadUnaligned(fromByteOffset: 16, as: SIMD2<UInt64>.self))
        }
    }

    /// SHA-256 of the bits, in hex: the form in which it is stored in the database.
    public var hash: String { Hexadecimal.text(digest) }

    private var digest: SHA256.Digest {
        unsafe bits.withBytes {
            var hash = SHA256()
            unsafe hash.update(bufferPointer: $0)
            return hash.finalize()
        }
    }

    /// HMAC-SHA-256 of some bytes under the secret's bits, in base64 (RFC 2104, RFC 4648 section 4).
    public func signature(of message: [UInt8]) -> String {
        Data(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: bytes))).base64EncodedString()
    }

    /// The first characters: too few to guess the rest from, but enough to tell two secrets apart.
    public var hint: String { String(reveal().prefix(kind.prefix.count + 4)) + "…" }
}
