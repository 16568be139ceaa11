// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore

/// The tokens that forms carry: what a page elsewhere cannot know, since the sealing key makes them.
struct FormToken: Sendable {
    let key: SealingKey

    /// For the forms of a session, by its id.
    func ofSession(_ id: String) -> String { key.name(for: "forms of session \(id)") }

    /// For the forms of somebody who is not signed in, by what their browser keeps.
    func ofVisitor(_ mark: String) -> String { key.name(for: "forms of visitor \(mark)") }

    /// A token as one page carries it: another text each time, so that nobody learns it from how well pages are packed.
    static func masked(_ own: String) -> String {
        let pad = own.utf8.map { _ in UInt8.random(in: .min ... .max) }
        return Base64URL.encode(pad + zip(pad, own.utf8).map { $0 ^ $1 })
    }

    /// Whether a form carried a token that was masked; takes the same time wherever they differ.
    static func isSame(_ sent: String?, _ own: String) -> Bool {
        let count = own.utf8.count
        guard let sent, sent.utf8.count < 1024, let bytes = Base64URL.decode(sent.utf8), bytes.count == 2 * count
        else { return false }
        return zip(zip(bytes[..<count], bytes[count...]), own.utf8).reduce(0) { $0 | ($1.0.0 ^ $1.0.1 ^ $1.1) } == 0
    }
}

/// The cookie by which a browser is known whose user is not: it opens nothing.
enum VisitorCookie {
    /// The mark that a browser sent; nil for none, and for what is no mark of ours.
    static func mark(of request: Request, _ settings: ServerSettings) -> String? {
        let mark = BrowserCookies.value(of: name(settings), in: request)
        let isOurs = mark.map { text in
            text.utf8.count == 32
                && text.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
        }
        return isOurs == true ? mark : nil
    }

    /// The header field that hands a mark to the browser, until it is closed.
    static func field(_ mark: String, _ settings: ServerSettings) -> String {
        "\(name(settings))=\(mark); Path=/; HttpOnly; SameSite=Lax" + (settings.isSecure ? "; Secure" : "")
    }

    private static func name(_ settings: ServerSettings) -> String {
        settings.isSecure ? "__Host-kalends_visitor" : "kalends_visitor"
    }
}

/// The language that somebody chose under Account, which their browser keeps.
enum LanguageCookie {
    static let name = "kalends_language"

    static func value(of request: Request) -> String? { BrowserCookies.value(of: name, in: request) }

    /// - Parameter language: such as `de`; nil for what the browser asks for.
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
