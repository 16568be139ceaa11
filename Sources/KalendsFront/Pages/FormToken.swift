// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore

/// The tokens in forms, which other sites cannot know, since they are derived from the sealing key.
struct FormToken: Sendable {
    let key: SealingKey

    /// The token for the forms of a session, by its id.
    func ofSession(_ id: String) -> String { key.name(for: "forms of session \(id)") }

    /// The token for the forms of a visitor who is not signed in, by the value of their cookie.
    func ofVisitor(_ visitorID: String) -> String { key.name(for: "forms of visitor \(visitorID)") }

    /// A masked token for one page: its text differs each time, so that the size of compressed pages cannot reveal it.
    static func masked(_ own: String) -> String {
        let pad = [UInt8].random(own.utf8.count)
        return Base64URL.encode(pad + zip(pad, own.utf8).map { $0 ^ $1 })
    }

    /// Whether a form contained a masked copy of this token; the time does not depend on where they differ.
    static func isSame(_ sent: String?, _ own: String) -> Bool {
        let count = own.utf8.count
        guard let sent, sent.utf8.count < 1024, let bytes = Base64URL.decode(sent.utf8), bytes.count == 2 * count
        else { return false }
        return zip(bytes[..<count], bytes[count...]).map { $0 ^ $1 }.isSameSecret(as: own.utf8)
    }
}

/// The cookie that identifies a browser without a user; it gives no access.
enum VisitorCookie {
    private static let names = CookieNames("kalends_visitor")

    /// The value that a browser sent; nil when it is missing or not one of ours.
    static func visitorID(of request: Request, _ settings: ServerSettings) -> String? {
        let visitorID = BrowserCookies.value(of: names.own(settings), in: request)
        let isOurs = visitorID.map { text in
            text.utf8.count == 32
                && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        }
        return isOurs == true ? visitorID : nil
    }

    /// The header field that gives the browser a value until it is closed.
    static func field(_ visitorID: String, _ settings: ServerSettings) -> String {
        "\(names.own(settings))=\(visitorID); Path=/; HttpOnly; SameSite=Lax" + (settings.isSecure ? "; Secure" : "")
    }
}

/// The language that a person chose under Account, which their browser stores.
enum LanguageCookie {
    static let name = "kalends_language"

    static func value(of request: Request) -> String? { BrowserCookies.value(of: name, in: request) }

    /// - Parameter language: a language such as `de`; nil for the browser's own choice.
    static func field(_ language: String?, _ settings: ServerSettings) -> String {
        "\(name)=\(language ?? ""); Path=/; Max-Age=\(language == nil ? 0 : 31_536_000); HttpOnly; SameSite=Lax"
            + (settings.isSecure ? "; Secure" : "")
    }
}

enum BrowserCookies {
    /// The first value of a name among the request's cookies (RFC 6265 section 5.4).
    static func value(of name: String, in request: Request) -> String? {
        for field in request.headers[values: .cookie] {
            for cookie in field.pieces(separatedBy: ";") {
                let parts = cookie.withoutOuterBlanks.pieces(separatedBy: "=", maxSplits: 1)
                if parts.count == 2, parts[0] == name { return String(parts[1]) }
            }
        }
        return nil
    }
}
