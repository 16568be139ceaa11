// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import FeedServer
@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("What doctor looks at around the database")
struct SurroundingsTests {
    private static let noon = MachineChecks(settings: ServerSettings(), now: 1_800_000_000_000)

    @Test("A clock behind what was written is not well; one that no time server keeps is")
    func clock() {
        #expect(Self.noon.clock(nil, isKept: true) == (true, "2027-01-15T08:00:00Z, synchronized with a time server"))
        #expect(Self.noon.clock(Self.noon.now + 60_000, isKept: false).0)
        let (isWell, text) = Self.noon.clock(Self.noon.now + 3_600_000, isKept: true)
        #expect(!isWell && text == "2027-01-15T08:00:00Z, behind the latest act (2027-01-15T09:00:00Z)")
    }

    @Test(
        "A certificate is not well before it is valid, after its end, and in its last week",
        arguments: [(-1, 30, true), (1, 30, false), (-60, -1, false), (-60, 6, false), (-60, 8, true)])
    func certificate(from: Int, to: Int, isWell: Bool) throws {
        let dates = try Self.certificate(from: from, to: to)
        #expect(Self.noon.certificate("c.pem", dates).0 == isWell, "\(Self.noon.certificate("c.pem", dates).1)")
    }

    @Test("A file without a certificate is not well")
    func noCertificate() {
        #expect(CertificateDates(file: "/etc/hostname") == nil)
        #expect(!Self.noon.certificate("/etc/hostname", nil).0)
    }

    private static func certificate(from: Int, to: Int) throws -> CertificateDates {
        let (second, day) = (noon.now / 1000, 86_400)
        return CertificateDates(notBefore: second + from * day, notAfter: second + to * day)
    }

    @Test(
        "The SQLite with the fault is named, with what keeps Kalends from it",
        arguments: [
            ("3.40.1", true), ("3.51.2", true), ("3.51.3", false), ("3.52.0", false), ("4.0.0", false),
            ("3.6.23", false),
            ("unknown", false),
        ])
    func engine(version: String, hasFault: Bool) {
        #expect(SQLiteNote.text(version).contains("3.51.3") == (hasFault || version == "3.51.3"))
        #expect((SQLiteNote.text(version) == version) == !hasFault)
    }

    @Test("A disk without room is not well, and one without room for a backup is named")
    func disk() throws {
        let room = try #require(DiskRoom(ofFolderOf: "/tmp/x"))
        #expect(room.free > 0 && room.total >= room.free)
        #expect(!Self.noon.disk(nil, 0).0)
        #expect(!Self.noon.disk(DiskRoom(free: 100 << 20, total: 1 << 30), 1 << 20).0)
        #expect(
            Self.noon.disk(DiskRoom(free: 1 << 30, total: 2 << 30), 1 << 20) == (
                true, "1024 MiB free beside a database of 1 MiB"
            ))
        #expect(Self.noon.disk(DiskRoom(free: 1 << 30, total: 9 << 30), 2 << 30).1.contains("no room"))
    }

    @Test("doctor reports all of them, as text and as JSON")
    func all() async throws {
        let server = try await RunningServer()
        defer { server.remove() }
        let beside = try await server.kalends(["doctor", "--json"])
        let checks = try beside.output.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        for name in ["disk", "clock", "SQLite"] {
            #expect(checks.first { $0["check"]?.string == name }?["ok"] == true, "\(beside.output)")
        }
        #expect(await server.stop() == 0)
        #expect(try await server.kalends(["doctor"]).output.contains("ok   clock: "))
    }
}
