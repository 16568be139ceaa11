// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Synchronization
import Testing

/// A browser without scripts: it keeps cookies, follows redirects, and sends forms as their pages have them.
final class Browser: Sendable {
    let server: TestServer
    private let cookies: Mutex<[String: String]>
    private let visited = Mutex<[String]>([])

    init(_ server: TestServer, cookies: [String: String] = [:]) {
        self.server = server
        self.cookies = Mutex(cookies)
    }

    /// The header fields that a browser sends with a form of the server's own pages.
    static let own = HTTPFields(named: ["Sec-Fetch-Site": "same-origin"])

    /// Returns a browser in which a user signed in with their password.
    static func signedIn(_ user: String, _ server: TestServer) async throws -> Browser {
        let browser = Browser(server)
        let page = try await browser.open("/app/sign-in").expect(200)
        try await browser.send(page, to: "/app/sign-in", ["user": user, "password": "\(user)'s password"]).expect(200)
        return browser
    }

    /// All addresses that redirects led to.
    var history: [String] { visited.withLock { $0 } }
    var hasSession: Bool { cookies.withLock { $0["kalends_session"] != nil } }

    /// Opens an address and follows its redirects.
    func open(_ path: String, follows: Bool = true, headers: HTTPFields = [:]) async throws -> Answer {
        try await ask(.get, path, follows: follows, headers: headers)
    }

    /// Sends one of a page's forms with some typed values; a name with a nil value is switched off.
    ///
    /// - Parameter action: the form's action, as in the page; of several, it is the form with the typed fields.
    func send(
        _ page: Answer, to action: String, _ typed: [String: String?] = [:], follows: Bool = true,
        headers: HTTPFields = Browser.own, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        let forms = HTMLForm.all(in: page.text).filter { $0.action == action }
        let form = try #require(
            forms.first { typed.keys.allSatisfy($0.names.contains) } ?? forms.first,
            "no form for \(action) among \(HTMLForm.all(in: page.text).map(\.action))", sourceLocation: sourceLocation)
        return try await post(action, form.filled(typed), follows: follows, headers: headers)
    }

    /// Sends a form that is on no page.
    func post(
        _ path: String, _ fields: [(String, String)], follows: Bool = true,
        headers: HTTPFields = Browser.own
    ) async throws -> Answer {
        var headers = headers
        headers[.contentType] = "application/x-www-form-urlencoded"
        let body = fields.map { "\(Self.encoded($0.0))=\(Self.encoded($0.1))" }.joined(separator: "&")
        return try await ask(.post, path, follows: follows, headers: headers, body: body)
    }

    /// Sends a page's form with a file in it.
    ///
    /// - Parameter token: in place of the form's own.
    func upload(_ page: Answer, to action: String, _ content: String, token: String? = nil) async throws -> Answer {
        let form = HTMLForm.all(in: page.text).first { $0.action == action && $0.names.contains("file") }
        var headers = Self.own
        headers[.contentType] = "multipart/form-data; boundary=of-the-form"
        func part(_ head: String, _ content: String) -> String {
            "--of-the-form\r\nContent-Disposition: form-data; \(head)\r\n\r\n\(content)\r\n"
        }
        let body =
            part("name=\"token\"", token ?? form?.token ?? "")
            + part("name=\"file\"; filename=\"a.ics\"\r\nContent-Type: text/calendar", content) + "--of-the-form--\r\n"
        return try await ask(.post, action, follows: true, headers: headers, body: body)
    }

    private func ask(
        _ method: HTTPRequest.Method, _ path: String, follows: Bool, headers: HTTPFields, body: String? = nil
    ) async throws -> Answer {
        var headers = headers
        let known = cookies.withLock { $0.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "; ") }
        if !known.isEmpty { headers[.cookie] = known }
        let target = String(path.prefix { $0 != "#" })
        let answer = try await server.raw(method, target, headers: headers, body: body.map { ByteBuffer(string: $0) })
        for field in answer.headers[values: .setCookie] {
            let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let isGone = field.contains("Max-Age=0;") || field.hasSuffix("Max-Age=0")
            cookies.withLock { $0[String(pair[0])] = isGone ? nil : String(pair[1]) }
        }
        guard let address = answer.headers[.location], (300..<400).contains(answer.status) else { return answer }
        visited.withLock { $0.append(address) }
        guard follows, address.hasPrefix("/") else { return answer }
        return try await ask(.get, address, follows: true, headers: [:])
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            // The characters that browsers leave as they are.
            (byte | 0x20) >= 97 && (byte | 0x20) <= 122 || (48...57).contains(byte) || "*-._".utf8.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}

/// A form of a page, with the values of its fields.
struct HTMLForm {
    let action: String
    let method: String
    private(set) var fields: [(name: String, value: String)] = []
    private(set) var names: [String] = []

    /// The token that it carries.
    var token: String? { fields.first { $0.name == "token" }?.value }

    static func all(in html: String) -> [HTMLForm] {
        html.components(separatedBy: "<form ").dropFirst().map {
            HTMLForm(String($0.components(separatedBy: "</form>")[0]))
        }
    }

    private init(_ text: String) {
        action = Self.attribute("action", of: text.components(separatedBy: ">")[0]) ?? ""
        method = Self.attribute("method", of: text.components(separatedBy: ">")[0]) ?? "get"
        for part in text.components(separatedBy: "<").dropFirst() {
            let tag = part.components(separatedBy: ">")[0]
            guard tag.hasPrefix("input") || tag.hasPrefix("select") || tag.hasPrefix("textarea"),
                let name = Self.attribute("name", of: tag)
            else { continue }
            names.append(name)
            let type = Self.attribute("type", of: tag) ?? ""
            if ["checkbox", "radio"].contains(type), !tag.hasSuffix(" checked"), !tag.contains(" checked ") {
                continue
            }
            if tag.hasPrefix("input") {
                fields.append((name, Self.attribute("value", of: tag) ?? (type == "checkbox" ? "on" : "")))
            } else if tag.hasPrefix("textarea") {
                fields.append((name, Self.plain(String(part.dropFirst(tag.count + 1)))))
            } else {
                let options = text.components(separatedBy: "name=\"\(name)\"")[1].components(separatedBy: "</select>")[
                    0]
                let chosen = options.components(separatedBy: "<option").first { $0.contains(" selected") }
                if let chosen, let value = Self.attribute("value", of: chosen) { fields.append((name, value)) }
            }
        }
    }

    /// Returns the fields to send with these values typed in; several values of one name are separated by commas.
    func filled(_ typed: [String: String?]) -> [(String, String)] {
        var all = fields.filter { typed[$0.name] == nil }.map { ($0.name, $0.value) }
        for (name, value) in typed.sorted(by: { $0.key < $1.key }) {
            guard let value else { continue }
            let isList = names.filter { $0 == name }.count > 1
            for piece in isList ? value.components(separatedBy: ",") : [value] { all.append((name, piece)) }
        }
        return all
    }

    private static func attribute(_ name: String, of tag: String) -> String? {
        let parts = tag.components(separatedBy: " \(name)=\"")
        if parts.count > 1 { return plain(parts[1].components(separatedBy: "\"")[0]) }
        guard tag.hasPrefix("\(name)=\"") else { return nil }
        return plain(tag.components(separatedBy: "\"")[1])
    }

    private static func plain(_ text: String) -> String {
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#96;", "`"), ("&amp;", "&")]
            .reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}

extension HTTPFields {
    /// Fields by names that the library does not know.
    init(named fields: [String: String]) {
        self.init()
        for (name, value) in fields { if let name = HTTPField.Name(name) { self[name] = value } }
    }
}
