// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport
@testable import Storage

@Suite("App passwords in the browser, as a profile, and by Nextcloud's login flow")
struct AppPasswordPageTests {
    private static let path = "/app/app-passwords"

    /// The value of a field that a page shows for copying.
    private static func copied(_ name: String, _ page: Answer) throws -> String {
        let match = try page.text.firstMatch(of: Regex("id=\"app-\(name)\"[^>]* value=\"([^\"]*)\""))
        return String(try #require(match?.output[1].substring, "\(page.text.prefix(3000))"))
    }

    private static func opens(_ server: TestServer, _ password: String) async throws -> String {
        switch try await server.services.appPasswords.signIn(
            name: "ann", password: password, from: "local", isSecure: true, isLoopback: true)
        {
        case .accepted(let caller):
            "\(caller.mayWrite ? "write" : "read") \(caller.circleIDs?.joined() ?? "all") \(caller.own)"
        case .ended: "ended"
        default: "nothing"
        }
    }

    @Test("A new one takes three steps, shows its password once, and is ended on its page, which leaves the proof")
    func steps() async throws {
        try await TestServer.withPasswords { server in
            let browser = try await Browser.signedIn("ann", server)
            #expect(try await browser.open("/app/devices").expect(200).text.contains("href=\"\(Self.path)\""))
            let first = try await browser.open(Self.path + "/new").expect(200)
            for app in ["apple", "davx5", "thunderbird", "evolution", "korganizer", "outlook", "other"] {
                #expect(first.text.contains("\(Self.path)/new?app=\(app)\""), "\(app)")
            }
            let second = try await browser.open(Self.path + "/new?app=thunderbird").expect(200)
            let refused = try await browser.send(second, to: Self.path + "/new", ["label": ""]).expect(422)
            #expect(refused.text.contains("app-password-label-error"))
            let third = try await browser.send(
                refused, to: Self.path + "/new",
                ["label": "<At home>", "access": "read", "own": nil, "circleIds": "c"]
            ).expect(200)
            #expect(third.headers[.cacheControl] == "no-store")
            #expect(try Self.copied("url", third) == "http://calendar.example/dav/")
            #expect(try Self.copied("username", third) == "ann")
            let password = try Self.copied("password", third)
            #expect(try await Self.opens(server, password) == "read c false")
            let list = try await browser.open(Self.path).expect(200)
            #expect(list.text.contains("&lt;At home&gt;") && !list.text.contains(password))
            let one = try #require(list.text.firstMatch(of: /href="(\/app\/app-passwords\/[0-9a-f]{32})"/)?.1)
            let page = try await browser.open(String(one)).expect(200)
            #expect(!page.text.contains(password))
            try await browser.send(
                page, to: String(one), ["access": "write", "own": "true", "circleIds": nil]
            ).expect(200)
            #expect(try await Self.opens(server, password) == "write all true")
            // Nobody else sees or ends it.
            let ben = try await Browser.signedIn("ben", server)
            try await ben.open(String(one)).expect(404)
            let token = try #require(HTMLForm.all(in: try await ben.open("/app/account").text).first?.token)
            try await ben.post("\(one)/end", [("token", token)]).expect(404)
            let ended = try await browser.send(page, to: "\(one)/end").expect(200)
            #expect(try await Self.opens(server, password) == "ended")
            #expect(ended.text.contains("<h2>Ended</h2>") && ended.text.contains("&lt;At home&gt;"))
            #expect(!ended.text.contains(String(one)))
            try await browser.open(String(one)).expect(404)
        }
    }

    @Test("A profile has address, principal, name and password; it is there once, for an hour, and only for GET")
    func profile() async throws {
        try await TestServer.run(publicURL: "https://calendar.example:8443/kalends") { server in
            try await server.makeCircle()
            func made(_ label: String) async throws -> (password: String, path: String) {
                let body: JSONValue = ["label": .string(label)]
                let json = try await server.call(.post, "/v1/app-passwords", body, as: "ann").expect(201).json
                let url = try #require(json["profileURL"]?.string)
                #expect(url.hasPrefix("https://calendar.example:8443/kalends/profiles/"))
                return (
                    try #require(json["password"]?.string),
                    String(url.dropFirst("https://calendar.example:8443/kalends".count))
                )
            }
            let (password, path) = try await made("Phone & <tablet>")
            for _ in 0..<2 { #expect(try await server.raw(.head, path).expect(200).body.isEmpty) }
            let answer = try await server.raw(.get, path).expect(200)
            #expect(answer.headers[.contentType] == "application/x-apple-aspen-config")
            #expect(answer.headers[.cacheControl] == "no-store")
            let plist = try unsafe PropertyListSerialization.propertyList(
                from: Data(answer.body), options: [], format: nil)
            let root = try #require(plist as? [String: Any])
            let account = try #require((root["PayloadContent"] as? [[String: Any]])?.first)
            #expect(root["PayloadType"] as? String == "Configuration")
            #expect(account["PayloadType"] as? String == "com.apple.caldav.account")
            #expect(account["CalDAVHostName"] as? String == "calendar.example")
            #expect(account["CalDAVPort"] as? Int == 8443)
            #expect(account["CalDAVUseSSL"] as? Bool == true)
            #expect(account["CalDAVPrincipalURL"] as? String == "/kalends/dav/principals/ann/")
            #expect(account["CalDAVUsername"] as? String == "ann")
            #expect(account["CalDAVPassword"] as? String == password)
            #expect((account["CalDAVAccountDescription"] as? String)?.hasSuffix("Phone & <tablet>") == true)
            try await server.raw(.get, path).expect(410)
            try await server.raw(.get, "/profiles/\(Secret.make(.profile).reveal())").expect(404)
            try await server.raw(.get, "/profiles/x").expect(404)
            let (_, early) = try await made("59 minutes")
            let (_, late) = try await made("an hour")
            server.clock.advance(seconds: 3599)
            try await server.raw(.get, early).expect(200)
            server.clock.advance(seconds: 1)
            try await server.raw(.get, late).expect(410)
            // An ended password is handed to nobody.
            let (ended, kept) = try await made("ended")
            let id = try #require(
                try await server.call(.get, "/v1/app-passwords", as: "ann").json["items"]?.array?
                    .first { $0["label"] == "ended" }?["id"]?.string)
            try await server.call(.delete, "/v1/app-passwords/\(id)", as: "ann").expect(204)
            let gone = try await server.raw(.get, kept)
            #expect([404, 410].contains(gone.status) && !gone.text.contains(ended))
        }
    }

    private static func poll(_ server: TestServer, _ token: String) async throws -> Answer {
        try await server.raw(
            .post, "/index.php/login/v2/poll", headers: [.contentType: "application/x-www-form-urlencoded"],
            body: ByteBuffer(string: "token=\(token)"))
    }

    /// Begins a sign-in as DAVx5 does; returns the token and the path of the page.
    private static func begin(_ server: TestServer) async throws -> (token: String, page: String) {
        let begun = try await server.raw(
            .post, "/index.php/login/v2", headers: [.userAgent: "DAVx5/4.4.3-ose (dav4jvm; okhttp/4.12.0) Android/14"]
        ).expect(200).json
        #expect(begun["poll"]?["endpoint"] == "http://calendar.example/index.php/login/v2/poll")
        let login = try #require(begun["login"]?.string)
        #expect(login.hasPrefix("http://calendar.example/app/login/"))
        let token = try #require(begun["poll"]?["token"]?.string)
        // Whoever is sent the page's address cannot ask for the password.
        #expect(!login.contains(token) && !login.contains(token.dropFirst(7)))
        return (token, String(login.dropFirst("http://calendar.example".count)))
    }

    @Test("An app asks until a person lets it in, gets a password once, and nobody can let it in twice")
    func login() async throws {
        try await TestServer.withPasswords { server in
            let (token, path) = try await Self.begin(server)
            try await Self.poll(server, token).expect(404)
            // The page leads through the sign-in.
            let browser = Browser(server)
            let signIn = try await browser.open(path).expect(200)
            let page = try await browser.send(
                signIn, to: "/app/sign-in", ["user": "ann", "password": "ann's password"]
            ).expect(200)
            #expect(page.text.contains("<bdi>DAVx5</bdi> asks for a password"))
            try await Self.poll(server, token).expect(404)
            let done = try await browser.send(page, to: path, ["access": "read"]).expect(200)
            #expect(done.text.contains("has its password"))
            let answer = try await Self.poll(server, token).expect(200)
            #expect(answer.json["server"] == "http://calendar.example" && answer.json["loginName"] == "ann")
            let password = try #require(answer.json["appPassword"]?.string)
            #expect(!done.text.contains(password))
            #expect(try await Self.opens(server, password) == "read all true")
            try await Self.poll(server, token).expect(404)
            try await browser.open(path).expect(410)
            let again = try await browser.send(page, to: path).expect(410)
            #expect(again.text.contains("has been let in already"))
            try await Self.poll(server, token).expect(404)
            let list = try await server.call(.get, "/v1/app-passwords", as: "ann").expect(200)
            #expect(list.json["items"]?.array?.map { $0["label"] } == ["DAVx5"])
        }
    }

    @Test("A sign-in takes twenty minutes at most, and a page that this server did not make lets nobody in")
    func late() async throws {
        try await TestServer.withPasswords { server in
            let browser = try await Browser.signedIn("ann", server)
            let (token, path) = try await Self.begin(server)
            let (second, kept) = try await Self.begin(server)
            let page = try await browser.open(path).expect(200)
            let parts = path.split(separator: ".").map(String.init)
            for forged in [
                path + "x", path.replacing(parts[2], with: "9\(parts[2])"),
                path.replacing("/app/login/", with: "/app/login/0"),
                "/app/login/x", "/app/login/...",
            ] {
                try await browser.open(forged).expect(410)
            }
            server.clock.advance(seconds: 1199)
            try await browser.send(try await browser.open(kept).expect(200), to: kept).expect(200)
            server.clock.advance(seconds: 1)
            let gone = try await browser.send(page, to: path).expect(410)
            #expect(gone.text.contains("longer than 20 minutes"))
            try await Self.poll(server, token).expect(404)
            try await Self.poll(server, second).expect(404)
            // Nothing of it was stored before somebody agreed.
            for _ in 0..<100 { _ = try await Self.begin(server) }
            let count = try await server.services.store.read {
                try $0.row("SELECT COUNT(*) AS count FROM password_handouts", [])?.integer("count")
            }
            #expect(count == 1)
            for body in ["", "token=", "token=x", "token=%ff"] {
                let answer = try await server.raw(
                    .post, "/index.php/login/v2/poll", headers: [.contentType: "application/x-www-form-urlencoded"],
                    body: ByteBuffer(string: body))
                #expect([400, 404].contains(answer.status), "\(body)")
            }
        }
    }
}
