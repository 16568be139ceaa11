// SPDX-License-Identifier: Apache-2.0

import Base
import Crypto

/// The secret that the server shares with a user's authenticator app: 160 random bits, as RFC 4226 section 4 recommends.
struct AuthenticatorSecret: Sendable {
    /// The secret in base32, as it is sealed and shown.
    let base32: Concealed

    static let length = 20

    /// Creates a secret with the system's generator.
    static func make() -> AuthenticatorSecret {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return AuthenticatorSecret(base32: Concealed(Base32.encode(bytes)))
    }

    var bytes: [UInt8] { Base32.decode(base32.bytes) ?? [] }

    /// Whether a text is this secret; the comparison takes the same time wherever the two differ.
    func isSame(as text: Concealed) -> Bool {
        SymmetricKey(data: base32.bytes) == SymmetricKey(data: text.bytes)
    }

    /// The address that authenticator apps read from a QR code (the Key URI Format).
    ///
    /// - Parameter issuer: the name under which the app lists it.
    func address(issuer: String, user: String) -> Concealed {
        // A colon would end the issuer, so those of names are encoded too.
        let (issuer, user) = (Self.encoded(issuer), Self.encoded(user))
        return Concealed(
            "otpauth://totp/\(issuer):\(user)?secret=\(base32.reveal())&issuer=\(issuer)&algorithm=SHA1"
                + "&digits=\(OneTimeCode.digits)&period=\(OneTimeCode.period)")
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
                UInt8(ascii: "-"):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }
}
