// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import Foundation
import HTTPTypes
import NIOCore
import Storage
import Synchronization
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

extension TestServer {
    /// A user's new app password: its answer as JSON.
    func makeAppPassword(_ user: String = "ann", _ more: [ByteString: JSONValue] = [:]) async throws -> JSONValue {
        let body = JSONValue.object(["label": "Phone"].merging(more) { _, new in new })
        return try await call(.post, "/v1/app-passwords", body, as: user).expect(201).json
    }

    /// What signing in at the CalDAV door leads to, in words.
    func door(
        _ user: String, _ password: String, from network: String = "192.0.2.0/24", isSecure: Bool = true,
        isLoopback: Bool = false
    ) async throws -> String {
        switch try await services.appPasswords.signIn(
            name: user, password: password, from: network, isSecure: isSecure, isLoopback: isLoopback)
        {
        case .accepted(let caller):
            "accepted \(caller.userID) \(caller.mayWrite ? "write" : "read") "
                + "\(caller.circleIDs?.joined(separator: ",") ?? "all") \(caller.own)"
        case .refused: "refused"
        case .ended: "ended"
        case .wait(let seconds): "wait \(seconds)"
        case .needsTLS: "needsTLS"
        }
    }

    /// Records an access with a password.
    func access(
        _ user: String, _ password: String, _ status: Int, _ agent: String, _ network: NetworkPrefix = .local
    )
        async throws
    {
        let signedIn = try await services.appPasswords.signIn(
            name: user, password: password, from: network.text, isSecure: true, isLoopback: false)
        guard case .accepted(let caller) = signedIn else {
            Issue.record("\(user) is not let in.")
            return
        }
        try await services.appPasswords.record(caller, status: status, userAgent: agent, from: network)
    }
}

@Suite("App passwords")
struct AppPasswordTests {
    @Test("A password is shown once, to its user alone, and says what it opens")
    func shown() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let made = try await server.makeAppPassword(
                "ann", ["access": "read", "circleIds": ["c"], "own": false, "label": "Thunderbird"])
            let (id, password) = (try #require(made["id"]?.string), try #require(made["password"]?.string))
            #expect(made["username"] == "ann" && made["userId"] == "ann" && made["label"] == "Thunderbird")
            #expect(made["url"] == "http://calendar.example/dav/")
            #expect(made["profileURL"]?.string?.hasPrefix("http://calendar.example/profiles/kal_pf_") == true)
            #expect(made["access"] == "read" && made["circleIds"] == ["c"] && made["own"] == false)
            let path = "/v1/app-passwords/\(id)"
            let read = try await server.call(.get, path, as: "ann").expect(200)
            #expect(read.json["accessCount"] == 0 && read.json["lastAccessedAt"] == .null)
            for answer in [
                read, try await server.call(.get, "/v1/app-passwords", as: "ann").expect(200),
                try await server.call(.get, "/v1/app-passwords").expect(200),
            ] {
                #expect(answer.text.contains(id))
                #expect(!answer.text.contains(password) && !answer.text.contains("kal_pf_"))
            }
            for method in [HTTPRequest.Method.get, .patch, .delete] {
                try await server.call(method, path, [:], as: "ben").expect(404)
            }
            try await server.call(.get, path + "/accesses", as: "ben").expect(404)
            #expect(try await server.call(.get, "/v1/app-passwords", as: "ben").expect(200).json["items"] == [])
            #expect(try await server.door("ann", password) == "accepted ann read c false")
            // Everything is open unless it is said otherwise.
            let open = try #require(try await server.makeAppPassword()["password"]?.string)
            #expect(try await server.door("ann", open) == "accepted ann write all true")
        }
    }

    @Test("The host application makes passwords for a user whom it names, and a user only for themselves")
    func owners() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let path = "/v1/app-passwords"
            #expect(try await server.call(.post, path, ["label": "x"]).expect(422).pointers == ["/userId"])
            let made = try await server.call(.post, path, ["label": "x", "userId": "ben"]).expect(201).json
            #expect(made["username"] == "ben")
            #expect(try await server.call(.get, path, as: "ben").expect(200).json["items"]?.array?.count == 1)
            let other = try await server.call(.post, path, ["label": "x", "userId": "ben"], as: "ann").expect(422)
            #expect(other.pointers == ["/userId"])
            let wrong: JSONValue = [
                "label": "", "access": "all", "circleIds": ["c", "not-there"], "own": 1,
                "expiresAt": "2020-01-01T00:00:00Z",
            ]
            let faults = try await server.call(.post, path, wrong, as: "ann").expect(422).pointers
            #expect(Set(faults) == ["/label", "/access", "/own", "/expiresAt"])
            let foreign = try await server.call(.post, path, ["label": "x", "circleIds": ["c", "z"]], as: "ann")
                .expect(422)
            #expect(foreign.pointers == ["/circleIds/1"])
        }
    }

    @Test("A change holds from the next request on, and does nothing under a condition that does not hold")
    func changes() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let made = try await server.makeAppPassword()
            let (id, password) = (try #require(made["id"]?.string), try #require(made["password"]?.string))
            let path = "/v1/app-passwords/\(id)"
            #expect(try await server.door("ann", password) == "accepted ann write all true")
            let tag = try #require(try await server.call(.get, path, as: "ann").expect(200).headers[.eTag])
            let changed = try await server.call(
                .patch, path, ["access": "read", "circleIds": ["c"], "own": false], as: "ann",
                headers: [.ifMatch: tag]
            ).expect(200)
            #expect(changed.json["access"] == "read")
            #expect(try await server.door("ann", password) == "accepted ann read c false")
            try await server.call(.patch, path, ["access": "write"], as: "ann", headers: [.ifMatch: tag]).expect(412)
            try await server.call(.delete, path, as: "ann", headers: [.ifMatch: tag]).expect(412)
            try await server.call(.patch, path, ["circleIds": .null, "label": "Tablet"], as: "ann").expect(200)
            #expect(try await server.door("ann", password) == "accepted ann read all false")
            try await server.call(.patch, path, ["expiresAt": "2026-03-02T12:00:10Z"], as: "ann").expect(200)
            server.clock.advance(seconds: 9)
            #expect(try await server.door("ann", password).hasPrefix("accepted"))
            server.clock.advance(seconds: 1)
            #expect(try await server.door("ann", password) == "ended")
        }
    }

    @Test("An account's own password opens nothing here, nor does another's name, nor anything without TLS")
    func door() async throws {
        try await TestServer.withPasswords { server in
            let password = try #require(try await server.makeAppPassword()["password"]?.string)
            #expect(try await server.door("ann", password.uppercased()).hasPrefix("accepted"))
            #expect(try await server.door("ann", password.replacing("-", with: "")).hasPrefix("accepted"))
            #expect(try await server.door("ben", password) == "refused")
            #expect(try await server.door("Ann", password) == "refused")
            #expect(try await server.door("ann", "ann's password") == "refused")
            #expect(try await server.door("ann", "") == "refused")
            #expect(try await server.door("", password) == "refused")
            #expect(try await server.door("ann", password, isSecure: false) == "needsTLS")
            #expect(try await server.door("ann", "x", isSecure: false) == "needsTLS")
            #expect(try await server.door("ann", password, isSecure: false, isLoopback: true).hasPrefix("accepted"))
        }
    }

    @Test("A password ends with DELETE, with a new account's password, and with the account, and counts as no guess")
    func ends() async throws {
        try await TestServer.withPasswords { server in
            var ended: [String] = []
            for way in ["delete", "password", "account"] {
                let made = try await server.makeAppPassword()
                let (id, password) = (try #require(made["id"]?.string), try #require(made["password"]?.string))
                #expect(try await server.door("ann", password).hasPrefix("accepted"))
                switch way {
                case "delete": try await server.call(.delete, "/v1/app-passwords/\(id)", as: "ann").expect(204)
                case "password":
                    try await server.call(.put, "/v1/users/ann/password", ["password": "a third password"]).expect(204)
                default: try await server.call(.delete, "/v1/users/ann/password").expect(204)
                }
                #expect(try await server.door("ann", password) == "ended", "\(way)")
                try await server.call(.get, "/v1/app-passwords/\(id)", as: "ann").expect(404)
                try await server.call(.delete, "/v1/app-passwords/\(id)", as: "ann").expect(404)
                ended.append(password)
            }
            #expect(try await server.call(.get, "/v1/app-passwords", as: "ann").expect(200).json["items"] == [])
            // A phone goes on trying for days.
            for _ in 0..<50 {
                for password in ended { #expect(try await server.door("ann", password) == "ended") }
            }
            #expect(try await server.door("ann", AppSecret.make().reveal()) == "refused")
        }
    }

    @Test("Wrong passwords wait; a right one never does, and neither does the account's own at its sign-in")
    func waits() async throws {
        try await TestServer.withPasswords { server in
            let password = try #require(try await server.makeAppPassword()["password"]?.string)
            // The same wrong one over and over is one guess.
            for _ in 0..<30 { #expect(try await server.door("ann", "wrong") == "refused") }
            for _ in 0..<4 { #expect(try await server.door("ann", AppSecret.make().reveal()) == "refused") }
            #expect(try await server.door("ann", AppSecret.make().reveal()) == "wait 30")
            #expect(try await server.door("ann", "wrong") == "wait 30")
            #expect(try await server.door("ann", AppSecret.make().reveal(), from: "198.51.100.0/24") == "wait 30")
            #expect(try await server.door("ann", password).hasPrefix("accepted"))
            try await server.signIn("ann").expect(201)
            // By network, whoever is named.
            for number in 0..<15 {
                #expect(try await server.door("user\(number)", AppSecret.make().reveal()) == "refused", "\(number)")
            }
            #expect(try await server.door("zed", AppSecret.make().reveal()) == "wait 30")
            #expect(try await server.door("no user's name, but long", "x") == "wait 30")
            #expect(try await server.door("zed", AppSecret.make().reveal(), from: "203.0.113.0/24") == "refused")
            server.clock.advance(seconds: 30)
            #expect(try await server.door("zed", AppSecret.make().reveal()) == "refused")
        }
    }

    @Test("Every access counts, by program and network, also one that was not folded when the server ended")
    func counts() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kalends-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = ServerSettings()
        settings.database = folder.appending(path: "k.sqlite").path
        let clock = TestClock()
        let known = Locked<(id: String, password: String)>(("", ""))
        try await TestServer.run(clock: clock, settings: settings, folds: false) { server in
            try await server.makeCircle()
            let made = try await server.makeAppPassword()
            let (id, password) = (try #require(made["id"]?.string), try #require(made["password"]?.string))
            known.withLock { $0 = (id, password) }
            for status in [200, 207, 304, 201, 204] {
                try await server.access(
                    "ann", password, status, "DAVx5/4.4.3 (okhttp)", NetworkPrefix([192, 0, 2, 7]))
            }
            try await server.access("ann", password, 207, "iOS/17.5 (21F79) dataaccessd/1.0")
        }
        let (id, password) = known.withLock { $0 }
        try await TestServer.run(clock: clock, settings: settings) { server in
            let path = "/v1/app-passwords/\(id)"
            var read = try await server.call(.get, path, as: "ann").expect(200).json
            #expect(read["accessCount"] == 6 && read["lastAccessedAt"] == "2026-03-02T12:00:00Z")
            let clients = read["clients"]?.array ?? []
            #expect(clients.map { $0["client"] } == ["DAVx5", "Apple Calendar (iOS)"])
            #expect(clients.map { $0["count"] } == [5, 1])
            let list = try await server.call(.get, path + "/accesses?limit=3", as: "ann").expect(200).json
            #expect(list["items"]?.array?.map { $0["status"] } == [207, 204, 201])
            #expect(list["items"]?.array?.map { $0["network"] } == ["local", "192.0.2.0/24", "192.0.2.0/24"])
            // A new program after a week is reported, until its owner has seen it.
            server.clock.advance(seconds: 8 * 86_400)
            try await server.access("ann", password, 207, "Mozilla/5.0 Thunderbird/128.0")
            read = try await server.call(.get, path, as: "ann").expect(200).json
            #expect(read["attention"]?.array?.map { $0["client"] } == ["Thunderbird"])
            #expect(read["attention"]?.array?[0]["message"]?.string?.contains("end the password") == true)
            let seen = try await server.call(.patch, path, ["attention": []], as: "ann").expect(200).json
            #expect(seen["attention"] == [] && seen["accessCount"] == 7)
        }
    }

    @Test("A user has so many passwords and no more, until one ends")
    func quota() async throws {
        var settings = ServerSettings()
        settings.quotas.appPasswordsPerUser = 2
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let id = try #require(try await server.makeAppPassword()["id"]?.string)
            _ = try await server.makeAppPassword()
            let body: JSONValue = ["label": "one too many"]
            let refused = try await server.call(.post, "/v1/app-passwords", body, as: "ann").expect(409)
            #expect(refused.json["code"] == "limit-reached")
            _ = try await server.makeAppPassword("ben")
            try await server.call(.delete, "/v1/app-passwords/\(id)", as: "ann").expect(204)
            _ = try await server.makeAppPassword()
        }
    }

    @Test("Each act is noted once, without what was named or handed out")
    func audit() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let made = try await server.makeAppPassword("ann", ["label": "Xylophone"])
            let id = try #require(made["id"]?.string)
            let profile = try #require(made["profileURL"]?.string).dropFirst("http://calendar.example".count)
            try await server.raw(.get, String(profile)).expect(200)
            for _ in 0..<2 {
                try await server.call(.patch, "/v1/app-passwords/\(id)", ["access": "read"], as: "ann").expect(200)
            }
            try await server.call(.delete, "/v1/app-passwords/\(id)", as: "ann").expect(204)
            let audit = try await server.call(.get, "/v1/audit?limit=1000").expect(200)
            let own = (audit.json["items"]?.array ?? []).filter { $0["subject"]?.string == id }
            let actions = own.compactMap { $0["action"]?.string }.sorted()
            #expect(
                actions == [
                    "appPassword.changed", "appPassword.created", "appPassword.ended", "appPassword.fetched",
                ])
            #expect(own.contains { $0["detail"] == ["access": "write", "user": "ann"] })
            #expect(own.contains { $0["detail"] == ["fields": ["access"]] })
            let password = try #require(made["password"]?.string)
            #expect(!audit.text.contains("Xylophone") && !audit.text.contains(password))
        }
    }

    @Test("With another sealing key the same passwords go on opening")
    func rotation() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let made = try await server.makeAppPassword()
            let password = try #require(made["password"]?.string)
            let outcome = try await server.services.upkeep.rotateKey(for: .operatorAtHand)
            #expect(outcome.lost == 0)
            let fresh = FeedLedger(store: server.services.store, key: server.services.sealingKey)
            let secret = try #require(AppSecret(text: password))
            guard case .live = try await fresh.resolve(secret, now: server.clock.now) else {
                Issue.record("The password opens nothing after the rotation.")
                return
            }
            let profile = try #require(made["profileURL"]?.string).dropFirst("http://calendar.example".count)
            #expect(try await server.raw(.get, String(profile)).expect(200).text.contains(password))
        }
    }

    @Test("Rows that no version writes are found")
    func rows() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            _ = try await server.makeAppPassword("ann", ["circleIds": ["c"]])
            let services = server.services
            func faults() async throws -> [String] {
                try await StoredRows.faults(in: services.store, services.maintenance, .all).map(\.description)
            }
            #expect(try await faults().isEmpty)
            for (wrong, right) in [
                ("circles = 'c ../x'", "circles = 'c'"), ("may_write = 2", "may_write = 1"),
                ("number = -1", "number = 1"), ("user_id = 'a b'", "user_id = 'ann'"),
            ] {
                for (sql, isSound) in [(wrong, false), (right, true)] {
                    try await services.store.write { _ = try $0.execute("UPDATE app_passwords SET \(sql)", []) }
                    let found = try await faults()
                    #expect(found.isEmpty == isSound && found.allSatisfy { $0.contains("app_passwords") }, "\(sql)")
                }
            }
        }
    }
}

/// A lock in a class, so that a body that may run elsewhere can set a value.
private final class Locked<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) { mutex = Mutex(value) }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { mutex.withLock { body(&$0) } }
}
