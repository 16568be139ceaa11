// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("What every page has in common")
struct PageDoorTests {
    /// Returns a path with something in place of each name.
    static func path(_ route: PageRoute, circle: String = "c") -> String {
        route.path.replacing("{circle}", with: circle).replacing(/\{[a-z]+\}/, with: "x").replacing("**", with: "none")
    }

    @Test("No page is in the document of the API, and the documentation has all that not everybody may read")
    func documented() async throws {
        try await TestServer.run { server in
            let routes = try Routes.table(server.front, isLocal: false)
            let answer = try await server.raw(.get, "/openapi.json").expect(200)
            let paths = try #require(answer.json["paths"]?.object)
            #expect(!routes.pages.isEmpty && !paths.keys.contains { PageFront.owns($0.string) })
            var lines = ["| method | path | for |", "| --- | --- | --- |"]
            // What anybody may read leads elsewhere, or to the sign-in.
            for route in routes.pages where route.method != .get || route.access.needsCredential {
                lines.append("| \(route.method.rawValue) | `\(route.path)` | \(route.access.text) |")
            }
            try expectTable("pages", in: "docs/rights.md", lines)
        }
    }

    @Test("Without a session a page that needs one leads to the sign-in, whatever other credential is shown")
    func nobody() async throws {
        try await TestServer.withPasswords { server in
            for route in try Routes.table(server.front, isLocal: false).pages
            where route.access.needsCredential && !route.path.hasSuffix("/progress") {
                if route.access == .operatorPages { continue }
                for headers: HTTPFields in [
                    Browser.own, Self.with(Browser.own, .authorization, "Bearer \(server.key)"),
                    Self.with(Browser.own, .cookie, "kalends_session=kal_ss_nothing"),
                ] {
                    let answer = try await server.raw(route.method, Self.path(route), headers: headers).expect(303)
                    #expect(
                        answer.headers[.location]?.hasPrefix("/app/sign-in?to=%2Fapp") == true,
                        "\(route.method) \(route.path)")
                }
            }
        }
    }

    @Test("A form without its token, with another session's, or from a page elsewhere is refused before anything else")
    func forms() async throws {
        try await TestServer.withPasswords { server in
            let (ann, ben) = (
                try await Browser.signedIn("ann", server), try await Browser.signedIn("ben", server)
            )
            let foreign = try #require(HTMLForm.all(in: try await ben.open("/app/sign-in").text).first?.token)
            let own = try #require(HTMLForm.all(in: try await ann.open("/app/sign-in").text).first?.token)
            #expect(own != foreign)
            var tried = 0
            for route in try Routes.table(server.front, isLocal: false).pages where route.method == .post {
                // These know another session, and have tests of their own.
                if route.access == .operatorPages { continue }
                let path = Self.path(route)
                var wrong: [([(String, String)], HTTPFields)] = [
                    ([], Browser.own), ([("token", foreign)], Browser.own), ([("token", "")], Browser.own),
                    ([("token", own)], HTTPFields(named: ["Sec-Fetch-Site": "cross-site"])),
                    ([("token", own)], HTTPFields(named: ["Sec-Fetch-Site": "same-site"])),
                    ([("token", own)], HTTPFields(named: ["Origin": "https://evil.example"])),
                    ([("token", own)], HTTPFields(named: ["Origin": "null"])), ([("token", own)], [:]),
                ]
                if case .upload = route.body { wrong.removeFirst(3) }
                for (fields, headers) in wrong {
                    let answer = try await ann.post(path, fields, follows: false, headers: headers)
                    #expect(answer.status == 403, "\(path) \(headers) → \(answer.status)")
                    #expect(answer.text.contains("<h1>Please send it once more</h1>"))
                    tried += 1
                }
            }
            #expect(tried >= 16)
        }
    }

    @Test("Whatever a form holds, it is read within bounds or refused as a page")
    func hostile() async throws {
        try await TestServer.withPasswords { server in
            var headers = Browser.own
            headers[.contentType] = "application/x-www-form-urlencoded"
            for body in [
                "token=%", "token=%zz", "token=%ff%fe", "a=1&a=%C3", "\u{0}", "=&=&=", "&&&&",
                String(repeating: "a=1&", count: 3000), String(repeating: "n", count: 100) + "=1",
            ] {
                let answer = try await server.raw(
                    .post, "/app/sign-in", headers: headers, body: ByteBuffer(string: body))
                #expect([400, 403].contains(answer.status), "\(body.prefix(20)) → \(answer.status)")
                #expect(answer.headers[.contentType] == "text/html; charset=utf-8")
            }
            let large = ByteBuffer(string: "token=" + String(repeating: "x", count: PageForm.mostBytes))
            try await server.raw(.post, "/app/sign-in", headers: headers, body: large).expect(413)
            headers[.contentType] = "application/json"
            try await server.raw(.post, "/app/sign-in", headers: headers, body: ByteBuffer(string: "{}")).expect(400)
        }
    }

    @Test("What a form's fields are decoded to is what a browser encoded")
    func decoded() throws {
        let form = try #require(PageForm(Array("a=%C3%A9+b&kinds=task&kinds=shift&on=&x%20y=1%2B1".utf8)))
        #expect(form["a"] == "é b" && form.all("kinds") == ["task", "shift"] && form.isOn("on") && !form.isOn("off"))
        #expect(form["x y"] == "1+1" && form.typed(["kinds", "none"]) == ["kinds": "task,shift", "none": ""])
        #expect(PageForm(query: "a=%ff")["a"] == nil)
    }

    @Test("Each page says what a browser may load, keep and frame; its assets may be kept for ever")
    func headers() async throws {
        var settings = ServerSettings()
        settings.passwordCost = 4
        var values = SettingValues(
            flags: [
                "appName": "Our <family>", "appAccent": "#7a3e9d",
                "frameAncestors": "https://app.example,http://localhost:3000",
            ], configFile: nil, environment: [:])
        settings.brand = BrandSettings(&values)
        try await TestServer.withPasswords(settings: settings) { server in
            let page = try await server.raw(.get, "/app/sign-in").expect(200)
            let policy = try #require(page.headers[.contentSecurityPolicy])
            #expect(policy.hasSuffix("; frame-ancestors https://app.example http://localhost:3000"))
            #expect(policy.hasPrefix("default-src 'none'; script-src 'self'") && !policy.contains("unsafe"))
            #expect(page.headers[.xContentTypeOptions] == "nosniff" && page.headers[.strictTransportSecurity] == nil)
            #expect(page.headers[.referrerPolicy] == "same-origin")
            #expect(page.text.contains("Our &lt;family&gt;") && !page.text.contains("<family>"))
            let missing = try await server.raw(.get, "/app/nothing/here").expect(404)
            #expect(missing.headers[.contentSecurityPolicy]?.contains("frame-ancestors https") == true)
            #expect(
                missing.text.contains("<h1>There is nothing here</h1>") && missing.headers[.cacheControl] == "no-store")
            let assets = page.text.matches(of: /(?:href|src)="(\/app\/assets\/[^"]+)"/).map { String($0.1) }
            #expect(assets.count >= 3)
            for asset in assets {
                let answer = try await server.raw(.get, asset).expect(200)
                #expect(answer.headers[.cacheControl] == "public, max-age=31536000, immutable", "\(asset)")
                #expect(!answer.body.isEmpty && answer.headers[.setCookie] == nil)
            }
        }
        try await TestServer.withPasswords { server in
            let page = try await server.raw(.get, "/app/sign-in").expect(200)
            #expect(page.headers[.contentSecurityPolicy]?.hasSuffix("; frame-ancestors 'none'") == true)
        }
    }

    @Test(
        "A brand that no page could show is refused with a sentence",
        arguments: [
            (["appAccent": "red"], "--app-accent must be a colour in the form #rrggbb."),
            (["appName": String(repeating: "x", count: 51)], "--app-name must have 1 to 50 characters on one line."),
            (
                ["frameAncestors": "*"],
                "--frame-ancestors must be origins such as https://app.example, separated by commas."
            ),
            (
                ["appLogo": "/etc/hostname"],
                "--app-logo names /etc/hostname, which is not a picture in SVG, PNG, JPEG or WebP."
            ),
        ])
    func brand(flags: [String: String], sentence: String) {
        var values = SettingValues(flags: flags, configFile: nil, environment: [:])
        _ = BrandSettings(&values)
        #expect(values.faults == [sentence])
    }

    private static func with(_ fields: HTTPFields, _ name: HTTPField.Name, _ value: String) -> HTTPFields {
        var fields = fields
        fields[name] = value
        return fields
    }
}
