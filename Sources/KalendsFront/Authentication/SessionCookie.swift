// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import Storage

/// The cookie that a browser keeps a session in (RFC 6265).
enum SessionCookie {
    private static let names = CookieNames("kalends_session")
    /// A second name, for programs that know only that one.
    private static let specified = "tmr_session"

    /// The names under which a session counts, the strictest first.
    private static func accepted(_ settings: ServerSettings) -> [String] {
        names.accepted(settings) + (!settings.isSecure || settings.tmrSessionCookie ? [specified] : [])
    }

    /// The first session token among the request's cookies.
    static func secret(of request: Request, _ settings: ServerSettings) -> Secret? {
        let cookies = request.headers[values: .cookie].flatMap { $0.pieces(separatedBy: ";") }.compactMap {
            cookie -> (name: Substring, value: Substring)? in
            let parts = cookie.withoutOuterBlanks.pieces(separatedBy: "=", maxSplits: 1)
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
        for name in accepted(settings) {
            for cookie in cookies where cookie.name == name {
                if let secret = Secret(.session, text: cookie.value) { return secret }
            }
        }
        return nil
    }

    /// Whether the request has a cookie with one of the accepted names, whatever its value.
    static func isSent(with request: Request, _ settings: ServerSettings) -> Bool {
        let accepted = accepted(settings)
        return request.headers[values: .cookie].flatMap { $0.split(separator: ";") }.contains { cookie in
            let name = cookie.drop { $0.is(" ") }.prefix { !$0.is("=") }
            return accepted.contains { $0.isSameText(as: name) }
        }
    }

    /// The header field that gives the browser a session.
    static func field(_ secret: Secret, _ settings: ServerSettings) -> String {
        text(names.own(settings), secret.reveal(), seconds: Session.lifetime / 1000, settings)
    }

    /// The header fields that remove a session under each name that it may have.
    static func removals(_ settings: ServerSettings) -> [String] {
        (names.removable(settings) + [specified]).map { text($0, "", seconds: 0, settings) }
    }

    private static func text(_ name: String, _ value: String, seconds: Int, _ settings: ServerSettings) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax" + (settings.isSecure ? "; Secure" : "")
    }
}

/// Checks which page a request comes from, according to the browser.
enum SameOrigin {
    /// Whether one of our own pages sent the request, or no other site's page.
    ///
    /// `Sec-Fetch-Site` is set by the browser, and no page can change it; older browsers send `Origin`.
    ///
    /// - Parameter whenSilent: the result when the request has neither field.
    static func holds(_ request: Request, _ settings: ServerSettings, whenSilent: Bool) -> Bool {
        if let site = request.headers[.secFetchSite] { return site == "same-origin" || site == "none" }
        guard let origin = request.headers[.origin]?.asciiLowercased else { return whenSilent }
        if origin == self.origin(of: settings.publicURL) { return true }
        // On plain http a server is often reached by names that it does not know.
        guard !settings.publicURL.hasPrefix("https://"), let host = request.head.authority else { return false }
        return origin == "http://\(host.asciiLowercased)"
    }

    /// Scheme, host and port, as a browser writes them (RFC 6454 section 6.2).
    static func origin(of url: String) -> String {
        guard let parts = url.lowercased().parted(at: "://"), !parts.before.isEmpty else { return "" }
        var authority = parts.after.prefix { !$0.is("/") }
        let standard = parts.before == "https" ? ":443" : ":80"
        if authority.hasSuffix(standard) { authority.removeLast(standard.count) }
        return "\(parts.before)://\(authority)"
    }
}

extension HTTPField.Name {
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .from
    static let secFetchDest = HTTPField.Name("Sec-Fetch-Dest") ?? .from
}
