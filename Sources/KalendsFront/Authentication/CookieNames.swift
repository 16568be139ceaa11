// SPDX-License-Identifier: Apache-2.0

import KalendsCore

/// The two names of a cookie that opens something: with `__Host-` over https, and without on plain http.
///
/// Only the host itself can set a cookie with `__Host-`; under any other name a neighbouring host can plant its own
/// (RFC 6265 section 8.6). On plain http browsers accept neither `Secure` nor a prefix that requires it.
struct CookieNames: Sendable {
    private let plain: String
    private var prefixed: String { "__Host-\(plain)" }

    init(_ plain: String) { self.plain = plain }

    /// The name under which the cookie is set.
    func own(_ settings: ServerSettings) -> String { settings.isSecure ? prefixed : plain }

    /// The names under which the cookie counts, the strictest first.
    ///
    /// A proxy may speak https where `publicURL` says http, so a browser may hold the prefixed one there too.
    func accepted(_ settings: ServerSettings) -> [String] { settings.isSecure ? [prefixed] : [prefixed, plain] }

    /// The names that a browser lets this server remove.
    func removable(_ settings: ServerSettings) -> [String] { settings.isSecure ? [prefixed, plain] : [plain] }
}
