// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StoragePostgreSQL
import StoreConformance
import Testing

@Suite("The address of a PostgreSQL database")
struct ConnectionTargetTests {
    @Test(
        "An address is distinguished from a file",
        arguments: [
            ("postgres://u@h/d", true), ("postgresql:///d", true), ("host=/run dbname=d", true), ("service=k", true),
            ("./kalends-data/kalends.sqlite", false), ("/srv/postgres/k.sqlite", false), ("dbname.sqlite", false),
        ])
    func tells(place: String, isServer: Bool) { #expect(DatabasePlace.isServer(place) == isServer) }

    @Test(
        "What is shown has no password",
        arguments: [
            ("postgres://ann:s3cret@db.example:6543/kalends", "postgres://ann@db.example:6543/kalends"),
            ("postgres://ann@db.example/kalends?sslpassword=s3cret", "postgres://ann@db.example/kalends"),
            ("postgres://db.example:6543/kalends?user=ann&password=s3cret", "postgres://db.example:6543/kalends"),
            (
                "host=db.example port = 6543 user=ann password=s3cret dbname=kalends",
                "postgres://ann@db.example:6543/kalends"
            ),
            ("host=h password='s3cret s3cret \\' user=s3cret' user='a n' dbname=d", "postgres://a n@h/d"),
            ("dbname=postgres://u:s3cret@h/d", "postgres:///"),
            ("host=h dbname='user=u password=s3cret'", "postgres://h/"),
            ("./kalends-data/kalends.sqlite", "./kalends-data/kalends.sqlite"),
        ])
    func hidesPassword(place: String, shown: String) { #expect(DatabasePlace.shown(place) == shown) }

    @Test("No password is shown, whichever of the URI's own signs it has", arguments: ["@", "/", "?", "#", ":", "%40"])
    func hidesOddPassword(sign: String) {
        for place in [
            "postgres://ann:s3cret\(sign)s3cret@h/d", "postgres://ann:\(sign)s3cret@h/d?x=s3cret",
            "postgres://h/d?user=a@b&password=s3cret\(sign)s3cret",
        ] {
            #expect(!DatabasePlace.shown(place).contains("s3cret"), "\(place)")
        }
    }

    @Test(
        "An invalid address is refused without quoting it",
        arguments: [
            "host=h password=s3cret s3cret", "postgres://u:s3cret@h:s3cret:x/d", "postgres://u:a@s3cret@h/d",
            "postgres://u@h/d?s3cret=1",
        ])
    func hidesInvalid(place: String) throws {
        let error = #expect(throws: StorageError.self) { try ConnectionTarget(place) }
        #expect(!"\(try #require(error))".contains("s3cret"))
    }

    @Test("No server is an error in our words, at once")
    func findsNobody() throws {
        let start = ContinuousClock.now
        let error = #expect(throws: StorageError.self) {
            try PostgreSQLStore(
                ConnectionTarget("host=/nonexistent user=u password=s3cret dbname=d"), isOnly: true
            ) { _, _ in throw StorageError.diskFull }
        }
        guard case .unreachable(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!reason.contains("s3cret"))
        #expect(ContinuousClock.now - start < .seconds(5))
    }
}

@Suite(
    "A database of PostgreSQL",
    .enabled(if: PostgreSQLServer.address != nil, "There is no PostgreSQL: run by Scripts/postgresql.sh"))
struct PostgreSQLStoreTests {
    /// Runs statements on the database that stands for a path, as its owner would by hand.
    private func byHand(_ path: String, _ statement: String) async throws {
        let store = try TestedPostgreSQL.open(path, isOnly: false)
        defer { try? store.close() }
        try await store.write { _ = try $0.rows(statement, []) }
    }

    private static let othersEnd = """
        SELECT COUNT(pg_terminate_backend(pid)) AS ended FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()
        """

    @Test("One process has a database, and the next one has it once the first has closed it")
    func isOnly() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            let first = try TestedPostgreSQL.open(path, isOnly: true)
            let error = #expect(throws: StorageError.self) { try TestedPostgreSQL.open(path, isOnly: true) }
            #expect(error == .inUse)
            #expect(error?.isLocked == true)
            try await first.write { try $0.set("a", to: "1") }
            try first.close()
            let second = try TestedPostgreSQL.open(path, isOnly: true)
            #expect(try await second.read { try $0.setting("a") } == "1")
            try second.close()
        }
    }

    @Test("Whoever takes over keeps the one before from writing")
    func fences() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            let first = try TestedPostgreSQL.open(path, isOnly: true)
            try await byHand(path, Self.othersEnd)
            let second = try TestedPostgreSQL.open(path, isOnly: true)
            await #expect(throws: StorageError.inUse) { try await first.write { try $0.set("a", to: "1") } }
            try await second.write { try $0.set("a", to: "2") }
            #expect(try await second.read { try $0.setting("a") } == "2")
            try second.close()
            try first.close()
        }
    }

    @Test("Sessions that the server ended are opened again, for reads and writes")
    func comesBack() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            let store = try TestedPostgreSQL.open(path, isOnly: true)
            defer { try? store.close() }
            try await store.write { try $0.set("a", to: "1") }
            #expect(try await store.read { try $0.setting("a") } == "1")
            for round in 2...4 {
                try await byHand(path, Self.othersEnd)
                let before = store.clock.now
                try await store.write { transaction in
                    transaction.concerns(circle: "one")
                    try transaction.set("a", to: "\(round)")
                }
                #expect(try await store.read { try $0.setting("a") } == "\(round)")
                // Notifications of what others wrote in the meantime were missed.
                #expect(!store.clock.isUnchanged(WriteClock.Slot(circle: "other"), since: before))
            }
        }
    }

    @Test("A session that ends within a transaction keeps nothing of it, and the body is run again")
    func runsAgain() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            let store = try TestedPostgreSQL.open(path, isOnly: true)
            defer { try? store.close() }
            try await store.write { try $0.set("count", to: "0") }
            try await store.write { transaction in
                let count = Int(try transaction.setting("count") ?? "") ?? 0
                let isFirst = try transaction.setting("ended") == nil
                try transaction.set("count", to: "\(count + 1)")
                if isFirst, !FileManager.default.fileExists(atPath: path + ".ended") {
                    _ = FileManager.default.createFile(atPath: path + ".ended", contents: nil)
                    _ = try transaction.rows("SELECT pg_terminate_backend(pg_backend_pid()) AS ended", [])
                }
            }
            #expect(try await store.read { try $0.setting("count") } == "1")
        }
    }

    @Test("A session that ends while its commit is under way, and was rolled back, is asked after and run again")
    func asksAfterCommit() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            let store = try TestedPostgreSQL.open(path, isOnly: true)
            defer { try? store.close() }
            // Within the commit it takes a while, as it does where a standby has to have it.
            try await store.write { transaction in
                for statement in [
                    "CREATE TABLE slow (n BIGINT)",
                    """
                    CREATE FUNCTION slow_down() RETURNS trigger LANGUAGE plpgsql
                    AS $$BEGIN PERFORM pg_sleep(5); RETURN NULL; END$$
                    """,
                    """
                    CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION slow_down()
                    """,
                ] { try transaction.execute(statement, []) }
            }
            async let written: Void = store.write { _ = try $0.execute("INSERT INTO slow VALUES (1)", []) }
            let end = Self.othersEnd + " AND query = 'COMMIT' AND state = 'active'"
            let deadline = ContinuousClock.now + .seconds(20)
            var ended = 0
            while ended == 0, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(50))
                let other = try TestedPostgreSQL.open(path, isOnly: false)
                ended = try await other.write { try $0.rows(end, []).first?.integer("ended") ?? 0 }
                try other.close()
            }
            try await written
            #expect(ended == 1)
            let count = try await store.read { try $0.rows("SELECT COUNT(*) AS n FROM slow", []).first?.integer("n") }
            #expect(count == 1)
        }
    }

    @Test(
        "A schema that is not as Kalends makes it is refused",
        arguments: [
            "CREATE VIEW strange AS SELECT 1 AS one", "ALTER TABLE settings ADD COLUMN strange TEXT",
            "CREATE INDEX strange ON settings (value)", "ALTER TABLE circles DROP CONSTRAINT circles_id_check",
            "CREATE RULE strange AS ON INSERT TO settings DO INSTEAD NOTHING", "DROP INDEX changes_by_time",
            "ALTER TABLE settings ALTER COLUMN value TYPE VARCHAR",
            "ALTER TABLE circles DISABLE TRIGGER ALL", "UPDATE schema_migrations SET version = 0",
        ])
    func findsStrange(statement: String) async throws {
        try await TemporaryStore.withDirectory { directory in
            let store = try TestedPostgreSQL.open(directory.appending(path: "k").path, isOnly: false)
            defer { try? store.close() }
            try await store.checkSchema()
            try await store.write { _ = try $0.execute(statement, []) }
            await #expect(throws: StorageError.self) { try await store.checkSchema() }
        }
    }

    @Test("A row that refers to nothing is found")
    func findsDangling() async throws {
        try await TemporaryStore.withDirectory { directory in
            let store = try TestedPostgreSQL.open(directory.appending(path: "k").path, isOnly: false)
            defer { try? store.close() }
            try await store.write { transaction in
                _ = try transaction.rows("SELECT set_config('session_replication_role', 'replica', true) AS x", [])
                try transaction.execute(
                    """
                    INSERT INTO patients (circle_id, id, display_name, created_at, updated_at)
                    VALUES ('nowhere', 'p', 'P', 1, 1)
                    """, [])
            }
            #expect(try await store.integrityCheck() != "ok")
            #expect(try await store.valueFaults().map(\.table) == ["patients"])
        }
    }

    @Test("A statement that was prepared goes on after a change of the schema")
    func outlivesChange() async throws {
        try await TemporaryStore.withDirectory { directory in
            let path = directory.appending(path: "k").path
            let store = try TestedPostgreSQL.open(path, isOnly: false)
            defer { try? store.close() }
            for table in ["settings", "trial"] {
                try await store.write { _ = try $0.execute("CREATE TABLE IF NOT EXISTS \(table) (n BIGINT)", []) }
                let statement = "SELECT * FROM \(table)"
                _ = try await store.read { try $0.rows(statement, []) }
                let other = try TestedPostgreSQL.open(path, isOnly: false)
                try await other.write { _ = try $0.execute("ALTER TABLE \(table) ADD COLUMN added BIGINT", []) }
                try other.close()
                for _ in 0..<10 { _ = try await store.read { try $0.rows(statement, []) } }
            }
        }
    }

    @Test("What calendar apps ask of a circle's changes is answered here, too")
    func followsCircle() async throws {
        try await TemporaryStore.withDirectory { directory in
            let store = try TestedPostgreSQL.open(directory.appending(path: "k").path, isOnly: false)
            defer { try? store.close() }
            try await store.write { transaction in
                try transaction.makeHome()
                let item = try transaction.put(.sample("t"))
                let version = try #require(try transaction.circle("home")).version
                let part = PersonalPart(circleID: "home", userID: "ann", uid: item.uid, content: "{}")
                try transaction.putPersonalPart(part, changedIn: version + 9)
                #expect(try transaction.changeCount(in: "home", changedAfter: 0, limit: 5) == 1)
                #expect(try !transaction.hasDeletions(in: "home", changedAfter: 0, before: 9))
                #expect(
                    try transaction.lastVersion(in: "home", for: "ann", changedAfter: 0, limit: 2, bytes: .max) == nil)
                let last = try #require(
                    try transaction.lastVersion(in: "home", for: "ann", changedAfter: 0, limit: 1, bytes: .max))
                #expect(last < version + 9)
                // A version is whole, however long its texts are.
                for bytes in [0, item.content.utf8.count] {
                    let end = try transaction.lastVersion(
                        in: "home", for: "ann", changedAfter: 0, limit: 9, bytes: bytes)
                    #expect(end == last)
                }
                #expect(
                    try transaction.lastVersion(in: "home", for: "bob", changedAfter: 0, limit: 1, bytes: .max) == nil)
                #expect(try transaction.items(in: "home", changedAfter: 0, upTo: last).map(\.id) == ["t"])
                let circle = try #require(try transaction.circle("home"))
                #expect(try transaction.importedUIDs(in: circle, changedAfter: 0, limit: 1) == [])
                #expect(try transaction.importedSources(["u"], visibleTo: "ann", in: "home").isEmpty)
            }
        }
    }

    @Test("Parameters may be null in one call and not in the next")
    func takesNulls() async throws {
        try await TemporaryStore.withDirectory { directory in
            let store = try TestedPostgreSQL.open(directory.appending(path: "k").path, isOnly: false)
            defer { try? store.close() }
            try await store.write { _ = try $0.execute("CREATE TABLE trial (n BIGINT, t TEXT)", []) }
            for (number, text) in [(nil, nil), (1, nil), (nil, "a"), (Int.max, "b")] as [(Int?, String?)] {
                try await store.write {
                    _ = try $0.execute("INSERT INTO trial (n, t) VALUES ($1, $2)", [SQLValue(number), SQLValue(text)])
                }
            }
            let sums = try await store.read {
                try $0.rows("SELECT COUNT(n) AS n, COUNT(t) AS t, SUM(n) - 1 AS sum FROM trial", [])
            }
            #expect(sums.first?.integer("n") == 2 && sums.first?.integer("t") == 2)
            #expect(sums.first?.integer("sum") == Int.max)
        }
    }
}
