// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Logging
import NIOCore
import Server
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("How long what is recorded is kept")
struct RetentionTests {
    @Test("Each is a setting, with the days that the pages and papers name as its default")
    func settings() async throws {
        let flags = Dictionary(uniqueKeysWithValues: Retention.settings.map { ($0.setting.name, "31") })
        let set = try await ServerSettings(flags: flags, configFile: nil, environment: [:])
        for kept in Retention.settings { #expect(set.retention[keyPath: kept.path] == 31, "\(kept.setting.name)") }
        let plain = try await ServerSettings(
            flags: [:], configFile: nil, environment: ["KALENDS_KEEP_RUN_DAYS": "7"]
        ).retention
        #expect(
            plain.runs == 7 && plain.accesses == 90 && plain.activity == 30 && plain.accessCounts == 400
                && plain.deletions == 365)
        #expect(plain.deliveries == 30 && plain.previews == 1 && plain.imports == 365)
        for (name, value) in [
            ("keepAccessDays", "0"), ("keepImportDays", "29"), ("keepDeletionDays", "29"), ("keepRunDays", "3651"),
            ("keepActivityDays", "91"),
        ] {
            await #expect(throws: ServerSettings.Invalid.self) {
                try await ServerSettings(flags: [name: value], configFile: nil, environment: [:])
            }
        }
    }

    @Test("A file that was read and not imported is kept for as many days as the setting says", arguments: [1, 4])
    func previews(days: Int) async throws {
        var settings = ServerSettings()
        settings.retention.previews = days
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            let made = try await server.raw(
                .post, "/v1/circles/c/imports?mode=preview",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"], body: RoutePaths.file)
            let id = try #require(made.json["id"]?.string)
            let housekeeping = Housekeeping(
                services: server.services, logger: Logger(label: "t") { _ in server.log })
            try await housekeeping.prune(server.clock.now)
            for _ in 0..<days {
                try await server.call(.get, "/v1/imports/\(id)").expect(200)
                server.clock.advance(seconds: 86_400)
                try await housekeeping.prune(server.clock.now)
            }
            server.clock.advance(seconds: 1)
            try await housekeeping.prune(server.clock.now)
            try await server.call(.get, "/v1/imports/\(id)").expect(404)
        }
    }

    @Test("The report of an import and what its undo needs go after a year, and what it brought stays")
    func imports() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let made = try await server.raw(
                .post, "/v1/circles/c/imports?mode=commit",
                headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"], body: RoutePaths.file)
            let path = "/v1/imports/\(try #require(made.json["id"]?.string))"
            let housekeeping = Housekeeping(
                services: server.services, logger: Logger(label: "t") { _ in server.log })
            server.clock.advance(seconds: 365 * 86_400)
            try await housekeeping.prune(server.clock.now)
            try await server.call(.get, path).expect(200)
            server.clock.advance(seconds: 1)
            try await housekeeping.prune(server.clock.now)
            try await server.call(.get, path).expect(404)
            try await server.call(.post, "\(path)/undo").expect(404)
            try await server.services.tidying.tidy()
            for table in ["imports", "import_items", "import_changes"] {
                let left = try await server.services.store.read { try $0.rows("SELECT * FROM \(table)", []) }
                #expect(left.isEmpty, "\(table)")
            }
            #expect(try await server.call(.get, "/v1/circles/c/export.ics").expect(200).text.contains("SUMMARY:Walk"))
        }
    }
}
