// SPDX-License-Identifier: Apache-2.0

import Crypto
import FoundationEssentials

/// The codes of authenticator apps: HOTP (RFC 4226) with SHA-1 and six digits over steps of 30 seconds (TOTP, RFC 6238).
///
/// SHA-1 and six digits because some apps ignore what an address says and always use these; collisions in SHA-1 do not
/// weaken HMAC.
enum OneTimeCode {
    static let digits = 6
    /// The length of a step, in seconds.
    static let period = 30

    /// The step of a time in milliseconds since 1970.
    static func step(at now: Int) -> Int { now / (period * 1000) }

    /// Returns the code of a step, or of any other counter.
    static func code(of counter: UInt64, secret: [UInt8], digits: Int = digits) -> String {
        let message = (0..<8).reversed().map { UInt8(truncatingIfNeeded: counter >> UInt64($0 * 8)) }
        let hash = Array(
            HMAC<Insecure.SHA1>.authenticationCode(for: message, using: SymmetricKey(data: secret)))
        let offset = Int(hash[hash.count - 1] & 15)
        let number = hash[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        var (rest, text) = (number, [UInt8](repeating: UInt8(ascii: "0"), count: digits))
        for place in (0..<digits).reversed() {
            text[place] += UInt8(rest % 10)
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
    static func step(of typed: [UInt8], secret: [UInt8], now: Int, tolerance: Int, after last: Int) -> Int? {
        let current = step(at: now)
        var found: Int?
        for step in max(current - tolerance, 0)...max(current + tolerance, 0) {
            let code = code(of: UInt64(step), secret: secret)
            let isSame = SymmetricKey(data: Array(code.utf8)) == SymmetricKey(data: typed)
            if isSame, step > last { found = step }
        }
        return found
    }
}
