// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Server
import Storage
import StoreConformance
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite(
    "Several servers on one database",
    .enabled(if: TestedPostgreSQL.address != nil, "There is no PostgreSQL: run by Scripts/postgresql.sh"))
struct SharedServersTests {
    /// A task by the database's clock, which feeds of several servers follow.
    private static let task: JSONValue = [
        "title": "Refill pills", "dueAt": .string(rfc3339(milliseconds: systemClock())),
    ]

    private static func settings(_ folder: URL, key: String) throws -> ServerSettings {
        var settings = ServerSettings()
        settings.server = try TestedPostgreSQL.place(folder.appending(path: "shared").path)
        settings.servers = .several
        settings.secretKey = Concealed(key)
        return settings
    }

    private static func key() -> String { Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString() }

    /// Runs two listening servers on one database.
    private static func run(
        _ body: @escaping @Sendable (_ one: TestServer, _ other: TestServer) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kalends-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let settings = try settings(folder, key: key())
        try await TestServer.run(live: true, settings: settings) { one in
            try await TestServer.run(live: true, settings: settings) { other in try await body(one, other) }
        }
    }

    /// Runs a body while a server reports to the others that it runs, however long the body takes.
    private static func beating<Value>(_ server: TestServer, _ body: () async throws -> Value) async throws -> Value {
        try await server.services.counter.beat()
        let beats = Task {
            while (try? await Task.sleep(for: .seconds(1))) != nil { try? await server.services.counter.beat() }
        }
        do {
            let value = try await body()
            beats.cancel()
            await beats.value
            return value
        } catch {
            beats.cancel()
            throw error
        }
    }

    private static func fromMemory(_ server: TestServer) -> Int { server.services.metrics.fromMemory.count }

    @Test("A stream at one server has what others change, and a key takes effect once at all of them")
    func streamsAndKeys() async throws {
        try await Self.run { one, other in
            try await one.makeCircle()
            let reader = try await EventReader(
                port: try #require(one.client.port), "GET /v1/circles/c/changes HTTP/1.1",
                "Authorization: Bearer \(one.key)")
            try await eventually("The stream is open.") { reader.text.contains("\nid: ") }
            for number in 0..<20 { try await [one, other][number % 2].put("tasks", "t\(number)", Self.task) }
            try await eventually("All changes come.") { reader.events.count >= 20 }
            let ids = reader.events.map(\.id)
            #expect(ids.count == 20 && ids == ids.indices.map { (ids.first ?? 0) + $0 })

            // Both servers know the key of the first one's caller.
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        try await [one, other][number % 2].raw(
                            .post, "/v1/keys",
                            headers: [
                                .authorization: "Bearer \(one.key)", .contentType: "application/json",
                                try #require(HTTPField.Name("Idempotency-Key")): "\"once\"",
                            ], body: ByteBuffer(string: #"{"name": "once"}"#))
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(answers.filter { $0.status == 201 }.map(\.body)).count == 1)
            #expect(answers.allSatisfy { [201, 409].contains($0.status) })
        }
    }

    @Test("What both servers do at once is in one audit trail and in one order of all changes, for whoever asks next")
    func trailAndOrder() async throws {
        try await Self.run { one, other in
            try await one.makeCircle()
            let count = 20
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    let server = [one, other][number % 2]
                    group.addTask {
                        let circle: JSONValue = ["name": "C", "timeZone": "Europe/Vienna"]
                        try await server.call(.put, "/v1/circles/c\(number)", circle).expect(201)
                        try await server.call(.put, "/v1/circles/c\(number)/tasks/t", Self.task).expect(201)
                        try await server.put("tasks", "t\(number)", Self.task)
                    }
                }
                try await group.waitForAll()
            }
            let trail = try await other.auditTrail()
            let made = trail.filter { $0["action"] == "circle.created" }.compactMap { $0["subject"]?.string }
            #expect(Set(made) == Set((0..<count).map { "c\($0)" } + ["c"]))
            let verdict = try await one.services.audit.verify(known: nil)
            #expect(verdict.fault == nil && verdict.count >= count)
            #expect(try await one.services.store.read { try !$0.hasWaitingAuditEntries() })

            let changes = try await other.call(.get, "/v1/changes?limit=1000").json["items"]?.array ?? []
            #expect(changes.compactMap { $0["sequence"]?.integer } == Array(1...changes.count))
            for circle in (0..<count).map({ "c\($0)" }) + ["c"] {
                let numbers = changes.filter { $0["circleId"]?.string == circle }.compactMap { $0["number"]?.integer }
                #expect(numbers == Array(1...max(2, numbers.count)))
            }
        }
    }

    @Test("What one server ends, the other no longer answers from memory; what one changes, the other shows")
    func ends() async throws {
        try await Self.run { one, other in
            try await one.makeCircle()
            try await one.put("tasks", "t1", Self.task)
            for way in ["revoke", "regenerate", "delete", "leave", "expire"] {
                let feed = try await one.makeFeed(user: "ben", label: way)
                let first = try await other.raw(.get, feed.path).expect(200)
                let before = Self.fromMemory(other)
                try await other.raw(.get, feed.path).expect(200)
                #expect(Self.fromMemory(other) == before + 1, "it went through the router")
                try await one.put("tasks", "t-\(way)", Self.task)
                let second = try await other.raw(.get, feed.path).expect(200)
                #expect(second.headers[.eTag] != first.headers[.eTag])
                switch way {
                case "revoke": try await one.call(.post, "/v1/feeds/\(feed.id)/revoke").expect(200)
                case "regenerate": try await one.call(.post, "/v1/feeds/\(feed.id)/regenerate", [:]).expect(200)
                case "delete": try await one.call(.delete, "/v1/feeds/\(feed.id)").expect(204)
                case "leave": try await one.call(.delete, "/v1/circles/c/members/ben").expect(204)
                default: continue
                }
                try await other.raw(.get, feed.path).expect(410)
                if way == "leave" { break }
            }
        }
    }

    @Test("Requests that follow each other on a connection are answered in order, and each read is counted once")
    func pipelined() async throws {
        try await Self.run { one, other in
            try await one.makeCircle()
            let feed = try await one.makeFeed()
            try await other.raw(.get, feed.path).expect(200)
            let port = try #require(other.client.port)
            let ways = ["GET", "HEAD", "GET", "HEAD", "HEAD", "GET", "GET"]
            let text = ways.map { "\($0) \(feed.path) HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n" }.joined()
            let last = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
            let received = try await RawConnection(port: port).exchange(text + last) { $0.contains("HTTP/1.1 200 ") }
            let statuses = received.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0.prefix(3) }
            #expect(statuses == ["304", "304", "304", "304", "304", "304", "304", "200"])
            try await one.services.counter.fold()
            try await other.services.counter.fold()
            let shown = try await one.call(.get, "/v1/feeds/\(feed.id)").expect(200)
            #expect(shown.json["accessCount"]?.integer == 5)
        }
    }

    @Test("Guesses at one server count at the other")
    func brake() async throws {
        try await Self.run { one, other in
            let (first, second) = (one.services.passwords.brake, other.services.passwords.brake)
            for number in 0..<5 {
                try await (number % 2 == 0 ? first : second).begin("ann", from: "net", now: 0)
            }
            for brake in [first, second] {
                await #expect(throws: Refusal.self) { try await brake.begin("ann", from: "net", now: 0) }
                try await brake.begin("ben", from: "elsewhere", now: 0)
            }
            try await first.forget("ann", now: 0)
            try await second.begin("ann", from: "elsewhere", now: 0)
            for number in 0..<5 {
                try await (number % 2 == 0 ? first : second).refuse(companion: "\(number)", from: "home", now: 0)
            }
            for brake in [first, second] {
                await #expect(throws: Refusal.self) { try await brake.checkCompanion(from: "home", now: 0) }
                try await brake.begin("cid", from: "home", now: 0)
            }
        }
    }

    @Test("How far an import is, every server knows; one whose server is gone is found")
    func imports() async throws {
        try await Self.run { one, other in
            try await one.makeCircle()
            let id = FeedLedger.makeID()
            let (leases, services) = (one.services.leases, one.services)
            let held = try #require(try await leases.take(ImportRecord.leaseName(id)))
            try await services.store.record { transaction in
                var record = ImportRecord(
                    id: id, circleID: "c", state: .previewed, importedBy: "ann", report: "", source: "",
                    createdAt: services.now())
                record.stage = .reading
                try transaction.putImport(record)
            }
            services.importRegistry.reportProgress(id, .reading, 0.25)
            let (shown, finish) = AsyncStream.makeStream(of: Void.self)
            async let work: Void = leases.keeping(
                held, every: .milliseconds(20), noting: { services.importRegistry.progress(id)?.note ?? "" }
            ) {
                for await _ in shown {}
            }
            try await eventually("The other server shows the progress.") {
                try await other.call(.get, "/v1/imports/\(id)").expect(200).json["progress"] == .number(0.25)
            }
            let kept = try await other.services.store.record {
                try $0.failAbandonedImports(problem: "{}", limit: 9)
            }
            #expect(kept == [])
            finish.finish()
            try await work
            let found = try await other.services.store.record {
                try $0.failAbandonedImports(problem: "{}", limit: 9)
            }
            #expect(found == [id])
        }
    }

    @Test("Work under a lease that another has taken is cancelled, and one circle is one server's at a time")
    func leases() async throws {
        try await Self.run { one, other in
            let held = try #require(try await one.services.leases.take("circle/c"))
            let store = other.services.store
            let start = ContinuousClock.now
            await #expect(throws: StorageError.leaseLost) {
                try await one.services.leases.keeping(held, every: .milliseconds(20)) {
                    // What the end of the lease's time would let another server do.
                    try await store.record { transaction in
                        try transaction.endLease(held.lease)
                        _ = try transaction.takeLease("circle/c", for: "other", time: 2_000)
                    }
                    try await Task.sleep(for: .seconds(600))
                }
            }
            // The turn comes once the other's two seconds are over, however long it took to notice them.
            try await one.services.turns.alone(in: "c") {}
            #expect(ContinuousClock.now - start > .milliseconds(1_900))
        }
    }

    @Test("An app password that ends or changes at one server does so at the other from the next request on")
    func appPasswords() async throws {
        try await Self.run { one, other in
            try await one.makeCircle()
            let made = try await one.call(.post, "/v1/app-passwords", ["label": "Phone"], as: "ann").expect(201).json
            let (id, password) = (try #require(made["id"]?.string), try #require(made["password"]?.string))
            func opens() async throws -> String {
                switch try await other.services.appPasswords.signIn(
                    name: "ann", password: password, from: "local", isSecure: true, isLoopback: true)
                {
                case .accepted(let caller): caller.mayWrite ? "write" : "read"
                case .ended: "ended"
                default: "nothing"
                }
            }
            for _ in 0..<2 { #expect(try await opens() == "write") }
            try await one.call(.patch, "/v1/app-passwords/\(id)", ["access": "read"], as: "ann").expect(200)
            for _ in 0..<2 { #expect(try await opens() == "read") }
            try await one.call(.delete, "/v1/app-passwords/\(id)", as: "ann").expect(204)
            for _ in 0..<2 { #expect(try await opens() == "ended") }
        }
    }

    @Test("What would set servers apart is refused: another key, another prefix, a rotated key")
    func sameForAll() async throws {
        try await Self.run { one, _ in
            var settings = one.services.settings
            settings.database = one.folder.appending(path: "third").path
            settings.secretKey = Concealed(Self.key())
            await #expect(throws: StorageError.self) { try await Installation(settings, isServer: true) }
            settings.secretKey = one.services.settings.secretKey
            settings.titlePrefix = "ZZ"
            let other = settings
            let error = await #expect(throws: StorageError.self) {
                try await Self.beating(one) { try await Installation(other, isServer: true) }
            }
            #expect(error?.description.contains("titlePrefix") == true)
            await #expect(throws: Refusal.self) {
                try await one.services.upkeep.rotateKey(for: .operatorAtHand)
            }
        }
    }

    @Test("Readers are informed of what a new version shows differently once the servers of the earlier one have ended")
    func shownByTwoVersions() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kalends-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let settings = try Self.settings(folder, key: Self.key())
        let new = ShownForm(settings, renderer: FeedRenderer.version + 1)
        let clock = TestClock()
        try await TestServer.run(clock: clock, live: true, settings: settings) { old in
            try await old.makeCircle()
            let before = try await old.services.store.read { try $0.circle("c") }
            let store = old.services.store
            try await Self.beating(old) {
                try await new.checkOthers(in: store, own: "new")
                try await new.note(in: store, own: "new", now: clock.now + 1)
            }
            let beside = try await store.read { (try $0.setting("renderer"), try $0.circle("c")) }
            #expect(beside.0 == "\(FeedRenderer.version)")
            #expect(beside.1?.version == before?.version)
            // The last one ends in an orderly way.
            let all = try await store.read { try $0.servers() }
            for server in all {
                _ = try await store.record {
                    try $0.noteServer(
                        journal: server.journal, token: server.token, recorded: server.recorded, isStopping: true)
                }
            }
            try await new.note(in: store, own: "new", now: clock.now + 1)
            let after = try await store.read { (try $0.setting("renderer"), try $0.circle("c")) }
            #expect(after.0 == "\(FeedRenderer.version + 1)")
            #expect(try #require(after.1?.version) > #require(before?.version))
        }
    }

    @Test("A file cannot be the database of several servers")
    func refusesSQLite() async throws {
        await #expect(throws: ServerSettings.Invalid.self) {
            try await ServerSettings(flags: ["servers": "several"], configFile: nil, environment: [:])
        }
        let settings = try await ServerSettings(
            flags: ["servers": "several", "database": "postgres://db.example/kalends"], configFile: nil,
            environment: [:])
        #expect(settings.isShared)
    }
}
