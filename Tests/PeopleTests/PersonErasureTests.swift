// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import HTTPTypes
import Server
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport
@testable import Storage

@Suite("Erasing a person")
struct PersonErasureTests {
    private static let path = "/v1/users/ben?erase=true"

    private static func fill(_ server: TestServer, _ user: String) async throws {
        for number in 0..<300 {
            try await server.call(
                .post, "/v1/users/\(user)/events", ["title": .string("\(user) swims \(number)"), "date": "2026-03-05"]
            ).expect(201)
        }
        for number in 0..<5 {
            try await server.call(
                .put, "/v1/circles/c/tasks/\(user)\(number)",
                [
                    "title": "Paint", "dueAt": "2026-03-05T10:00:00Z", "ownerId": .string(user), "reminders": [],
                ], as: user
            ).expect(201)
        }
    }

    @Test("Nothing of theirs opens anything afterwards, and others keep what is theirs and what they share")
    func ended() async throws {
        try await TestServer.withPasswords { server in
            for user in ["ann", "ben"] { try await Self.fill(server, user) }
            let feed = try await server.call(.post, "/v1/circles/c/feeds", ["userId": "ben"]).expect(201)
            let own = try await server.call(.post, "/v1/circles/c/feeds", ["userId": "ann"]).expect(201)
            let session = try await server.session("ben")
            let device = try await server.bearing(
                session, .post, "/sync/devices/register", ["deviceId": "phone", "platform": "ios"]
            ).expect(201)
            try await server.call(.post, "/v1/app-passwords", ["userId": "ben", "label": "Mac"]).expect(201)
            let head = try #require(try await server.verifyAudit().head)
            let token = try #require(feed.json["token"]?.string)
            try await server.raw(.get, "/feeds/\(token).ics").expect(200)

            let answer = try await server.bearing(session, .delete, Self.path).expect(200)
            #expect(answer.json["state"] == "done" && answer.json["endedAt"]?.string != nil)
            #expect(!answer.text.contains("ben"))
            try await server.raw(.get, "/feeds/\(token).ics").expect(410)
            try await server.bearing(session, .get, "/v1/circles").expect(401)
            let secret = try #require(device.json["deviceToken"]?.string)
            try await server.raw(
                .get, "/v1/devices/current", headers: [.authorization: "Device \(secret)"]
            ).expect(401)
            #expect(try await server.signIn("ben").status == 401)
            #expect(try await server.call(.get, "/v1/app-passwords", as: "ben").expect(200).json["items"] == [])
            #expect(try await server.call(.get, "/v1/users/ben/events", as: "ben").expect(200).json["items"] == [])

            let other = try #require(own.json["token"]?.string)
            let shown = try await server.raw(.get, "/feeds/\(other).ics").expect(200)
            #expect(!shown.text.contains("Ben") && shown.text.contains("Paint"))
            let kept = try await server.call(.get, "/v1/users/ann/events?limit=1").expect(200)
            #expect(kept.json["items"]?.array?.count == 1)
            let task = try await server.call(.get, "/v1/circles/c/tasks/ben3").expect(200)
            #expect(task.json["ownerId"]?.string?.hasPrefix("erased-") == true)
            #expect(try await server.call(.get, "/v1/circles/c/tasks/ann3").expect(200).json["ownerId"] == "ann")
            try await server.call(.get, "/v1/circles/c/members/ben").expect(404)

            // The trail continues where it was, and says how many entries no longer name the person.
            let verdict = try await server.verifyAudit(head)
            #expect(verdict.fault == nil && verdict.anonymous > 2)
            let trail = try await server.auditTrail()
            #expect(try !trail.contains { try $0.text().contains("\"ben\"") || $0.text().contains("user:ben") })
            #expect(trail.filter { $0["action"] == "user.erased" }.count == 1)
            let noted = trail.filter { $0["action"] == "audit.anonymized" }
            #expect(
                noted.reduce(0) { $0 + ($1["detail"]?["entries"]?.integer ?? 0) } == verdict.anonymous
                    && noted.allSatisfy { $0["actor"] == "server" })
            #expect(try await StoredRows.faults(in: server.services.store, server.services.maintenance, .all).isEmpty)
            // Whoever has the id afterwards is somebody new.
            try await server.call(
                .put, "/v1/circles/c/members/ben", ["displayName": "Benno", "role": "member"]
            ).expect(201)
            let again = try await server.call(.get, "/v1/circles/c/tasks/ben3", as: "ben").expect(200)
            #expect(again.json["ownerId"] != "ben")
        }
    }

    @Test("Only the person may, shortly after signing in, and the host application; and only when it is said")
    func rights() async throws {
        try await TestServer.withPasswords { server in
            let (ann, ben) = (try await server.session("ann"), try await server.session("ben"))
            try await server.bearing(ann, .delete, Self.path).expect(404)
            try await server.call(.delete, Self.path, as: "vic").expect(404)
            try await server.raw(.delete, Self.path).expect(401)
            let bound = try await server.call(
                .post, "/v1/keys", ["name": "bound", "scopes": ["users"], "circles": ["c"]]
            ).expect(201)
            try await server.bearing(try #require(bound.json["key"]?.string), .delete, Self.path).expect(404)
            for path in ["/v1/users/ben", "/v1/users/ben?erase=false"] {
                try await server.bearing(ben, .delete, path).expect(422)
                try await server.bearing(ann, .delete, path).expect(404)
            }
            server.clock.advance(seconds: 301)
            let late = try await server.bearing(ben, .delete, Self.path).expect(403)
            #expect(late.json["code"] == "sign-in-too-old")
            try await server.bearing(ben, .get, "/v1/users/ben").expect(200)
            try await server.call(.get, "/v1/circles/c/members/ben").expect(200)
            try await server.call(.delete, Self.path, as: "ben").expect(200)
        }
    }

    @Test("The last owner of circles with others learns which; the host application goes on; circles of one go")
    func owners() async throws {
        try await TestServer.withPasswords { server in
            try await server.call(.put, "/v1/circles/alone", ["name": "Alone", "timeZone": "UTC"]).expect(201)
            try await server.call(
                .put, "/v1/circles/alone/members/ann", ["displayName": "Ann", "role": "owner"]
            ).expect(201)
            let ann = try await server.session("ann")
            let refused = try await server.bearing(ann, .delete, "/v1/users/ann?erase=true").expect(409)
            #expect(refused.json["code"] == "last-owner")
            let detail = refused.json["detail"]?.string ?? ""
            #expect(detail.contains("Our family (c)") && !detail.contains("Alone"))
            try await server.call(.get, "/v1/circles/alone").expect(200)
            try await server.bearing(ann, .get, "/v1/circles").expect(200)
            try await server.call(.delete, "/v1/users/ann?erase=true").expect(200)
            try await server.call(.get, "/v1/circles/alone").expect(404)
            try await server.call(.get, "/v1/circles/c").expect(200)
            #expect(try await server.call(.get, "/v1/circles/c/members").expect(200).json["items"]?.array?.count == 2)
        }
    }

    @Test("An erasure that was stopped after any of its transactions is taken to its end at the next start")
    func resumed() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "erasure-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for steps in [0, 1, 3, 8] {
            var settings = ServerSettings()
            settings.database = folder.appending(path: "\(steps).sqlite").path
            try await TestServer.withPasswords(settings: settings) { server in
                try await Self.fill(server, "ben")
                _ = try await server.call(.post, "/v1/circles/c/feeds", ["userId": "ben"]).expect(201)
                let erasure = try await server.services.erasures.begin("ben", for: .operatorAtHand)
                let now = server.clock.now
                for step in 0..<steps {
                    _ = try await server.services.store.record { transaction in
                        guard try !transaction.removeHoldings(of: "ben", in: erasure.id, limit: 1, now: now) else {
                            return true
                        }
                        let tables = PersonTable.all.filter { $0.fate == .removed }
                        return try transaction.removeSome(
                            of: "ben", in: tables[step % tables.count], erasure.id, limit: 1)
                    }
                }
                if steps == 8 {
                    let names = try #require(ErasureSearch.names(of: "ben", in: "c", erasure).first)
                    _ = try await server.services.store.record { transaction in
                        #expect(try transaction.beginRenaming(of: "ben", in: "c", erasure, now: now))
                        let keys = try transaction.keys(of: names, limit: 2)
                        #expect(keys.count == 2)
                        return try transaction.carryOut(names, on: keys[...], in: erasure.id)
                    }
                }
                let under = try await server.services.store.read { try $0.erasuresUnderWay().map(\.id) }
                #expect(under == [erasure.id])
            }
            let clock = TestClock()
            try await TestServer.run(clock: clock, settings: settings) { server in
                try await eventually("The erasure of step \(steps) is done.") {
                    try await server.services.store.read { try $0.erasuresUnderWay().isEmpty }
                }
                for table in PersonTable.all {
                    let rows = try await server.services.store.read {
                        try $0.personRows(of: "ben", in: table, after: nil).rows
                    }
                    #expect(rows.isEmpty, "\(table.name) after \(steps)")
                }
                #expect(try await server.verifyAudit().fault == nil)
            }
        }
    }

    @Test("What others have in a circle does not make an erasure long, and its search keeps no writer waiting")
    func amongMany() async throws {
        try await TestServer.withPasswords { server in
            try await Self.fill(server, "ben")
            try await server.bring([OneCalendar.event("run", "Run")], as: "ann").expect(201)
            let (first, store) = (EventSource.shared.text, server.services.store)
            try await store.record { transaction in
                let columns = ("event_versions" as SchemaTable).columns
                let values = columns.map { $0.isSameText(as: "uid") ? "'copy-' || numbers.n" : $0 }
                try transaction.execute(
                    """
                    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 150000)
                    INSERT INTO event_versions (\(columns.joined(separator: ", ")))
                    SELECT \(values.joined(separator: ", ")) FROM event_versions CROSS JOIN numbers
                    WHERE source = $1 AND uid = 'run'
                    """, [.text(first)])
            }
            // A search within each transaction made that one for each of the person's 300 events, which took a minute.
            let done = try await server.call(.delete, Self.path).expect(200)
            #expect(done.json["state"] == "done")
            let left = try await store.read {
                try $0.rows("SELECT COUNT(*) AS count FROM event_versions", []).first?.integer("count")
            }
            #expect(left == 150_001)
        }
    }

    @Test("Of an import that others see as well, nothing stays that only the person saw")
    func imports() async throws {
        try await TestServer.withPasswords { server in
            let swim = OneCalendar.event("swim", "Swim")
            try await server.bring([swim + ["CLASS:PRIVATE"]], as: "ben").expect(201)
            try await server.bring([swim, OneCalendar.event("run", "Run")], as: "ben").expect(201)
            func own() async throws -> Int {
                try await server.services.store.read {
                    try $0.rows(
                        "SELECT position FROM import_changes WHERE source = $1", [.text(EventSource.own("ben").text)]
                    ).count
                }
            }
            let mixed = try await server.bring(
                [OneCalendar.event("secret", "Therapy") + ["CLASS:PRIVATE"], OneCalendar.event("walk", "Walk")],
                as: "ben"
            ).expect(201)
            let report = "/v1/imports/\(try #require(mixed.json["id"]?.string))"
            #expect(try await own() > 0)
            #expect(try await server.call(.get, report).expect(200).text.contains("Therapy"))
            try await server.call(.delete, Self.path).expect(200)
            #expect(try await own() == 0)
            for user in ["ann", nil] as [String?] {
                #expect(try await !server.call(.get, report, as: user).expect(200).text.contains("Therapy"))
            }
            let export = try await server.call(.get, "/v1/circles/c/export.ics").expect(200)
            #expect(export.values("SUMMARY").sorted() == ["Run", "Swim", "Walk"])
        }
    }

    @Test("The account page asks first, then shows what stays; the operator's asks about the id that was typed")
    func pages() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let last = try await ann.open("/app/account").expect(200)
            #expect(last.text.contains("Our family") && !last.text.contains("/app/account/erase"))
            let ben = try await Browser.signedIn("ben", server)
            let page = try await ben.open("/app/account?ask=erase-all").expect(200)
            #expect(page.text.contains("cannot be undone"))
            let done = try await ben.send(page, to: "/app/account/erase").expect(200)
            #expect(done.text.contains("What stays, and why") && done.text.contains("Earlier backups"))
            let after = try await ben.open("/app/account", follows: false)
            #expect(after.headers[.location]?.contains("/app/sign-in") == true)
            try await server.call(.get, "/v1/circles/c/members/ben").expect(404)
        }
    }
}
