// SPDX-License-Identifier: Apache-2.0

/// The secret that the server shares with a user's authenticator app: at least 160 random bits, as RFC 4226 section 4
/// recommends.
struct AuthenticatorSecret: Sendable {
    /// The secret in base32, as it is shown.
    let base32: Concealed
    let algorithm: OneTimeCode.Algorithm

    init(base32: Concealed, _ algorithm: OneTimeCode.Algorithm) {
        (self.base32, self.algorithm) = (base32, algorithm)
    }

    /// Reads a secret as it is sealed; nil for any other text.
    init?(stored text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        let known = [OneTimeCode.Algorithm.sha1, .sha256]
        guard parts.count == 2, let algorithm = known.first(where: { $0.rawValue == parts[0] }) else { return nil }
        self.init(base32: Concealed(parts[1]), algorithm)
    }

    /// The text that is sealed.
    var stored: Concealed { Concealed("\(algorithm.rawValue) \(base32.reveal())") }

    /// Creates a secret with the system's generator.
    static func make(_ algorithm: OneTimeCode.Algorithm) -> AuthenticatorSecret {
        AuthenticatorSecret(base32: Concealed(Base32.encode(.random(algorithm.length))), algorithm)
    }

    var bytes: [UInt8] { Base32.decode(base32.bytes) ?? [] }

    /// Whether a text is this secret; the comparison takes the same time wherever the two differ.
    func isSame(as text: Concealed) -> Bool { base32.bytes.isSameSecret(as: text.bytes) }

    /// The address that authenticator apps read from a QR code (the Key URI Format).
    ///
    /// - Parameter issuer: the name under which the app lists it.
    func address(issuer: String, user: String) -> Concealed {
        // A colon would end the issuer, so those of names are encoded too.
        let (issuer, user) = (PercentEncoding.encode(issuer), PercentEncoding.encode(user))
        return Concealed(
            "otpauth://totp/\(issuer):\(user)?secret=\(base32.reveal())&issuer=\(issuer)"
                + "&algorithm=\(algorithm.rawValue)&digits=\(OneTimeCode.digits)&period=\(OneTimeCode.period)")
    }
}
