// SPDX-License-Identifier: Apache-2.0

import Crypto
import FoundationEssentials

/// The codes of authenticator apps: HOTP (RFC 4226) with six digits over steps of 30 seconds (TOTP, RFC 6238).
enum OneTimeCode {
    /// The hash that HMAC uses, as it is stored and as addresses name it.
    enum Algorithm: String, Sendable {
        /// The hash that every app knows; some use it whatever an address says. Collisions in SHA-1 do not weaken HMAC.
        case sha1 = "SHA1"
        /// The hash that ASVS approves for new uses.
        case sha256 = "SHA256"

        /// The length of a secret in bytes, which is that of the hash (RFC 6238 section 5.1).
        var length: Int {
            switch self {
            case .sha1: 20
            case .sha256: 32
            }
        }

        fileprivate func code(for message: [UInt8], _ secret: [UInt8]) -> [UInt8] {
            let key = SymmetricKey(data: secret)
            return switch self {
            case .sha1: Array(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: key))
            case .sha256: Array(HMAC<SHA256>.authenticationCode(for: message, using: key))
            }
        }
    }

    static let digits = 6
    /// The length of a step, in seconds.
    static let period = 30

    /// The step of a time in milliseconds since 1970.
    static func step(at now: Int) -> Int { now / (period * 1000) }

    /// Returns the code of a step, or of any other counter.
    static func code(
        of counter: UInt64, secret: [UInt8], _ algorithm: Algorithm = .sha1, digits: Int = digits
    ) -> String {
        let message = (0..<8).reversed().map { UInt8(truncatingIfNeeded: counter >> UInt64($0 * 8)) }
        let hash = algorithm.code(for: message, secret)
        let offset = Int(hash[hash.count - 1] & 15)
        let number = hash[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        var (rest, text) = (number, [UInt8](repeating: UInt8(ascii: "0"), count: digits))
        for index in (0..<digits).reversed() {
            text[index] += UInt8(rest % 10)
            rest /= 10
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the step that a typed code belongs to; nil for a wrong code and for one of a step that was used.
    ///
    /// Every possible step is looked at, and the comparison takes the same time wherever two codes differ.
    ///
    /// - Parameters:
    ///   - tolerance: how many steps the app's clock may be wrong by.
    ///   - last: the latest step that was used.
    static func step(
        of typed: [UInt8], secret: [UInt8], _ algorithm: Algorithm = .sha1, now: Int, tolerance: Int, after last: Int
    ) -> Int? {
        let current = step(at: now)
        var found: Int?
        for step in max(current - tolerance, 0)...max(current + tolerance, 0) {
            let code = code(of: UInt64(step), secret: secret, algorithm)
            let isSame = SymmetricKey(data: Array(code.utf8)) == SymmetricKey(data: typed)
            if isSame, step > last { found = step }
        }
        return found
    }
}
