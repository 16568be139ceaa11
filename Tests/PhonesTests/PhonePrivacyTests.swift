// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import Storage
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("A person's calendar is that person's")
struct PhonePrivacyTests {
    /// A word that is in all of the person's own data here, and nowhere else.
    private static let secret = "XYLOPHONE"

    @Test("No other member sees anything of it, over any route", arguments: ["ben", "vic"])
    func walk(other: String) async throws {
        try await PhoneBench.run { bench in
            let server = bench.server
            let phone = try await Phone(server, of: "ann", named: Self.secret)
            try await bench.appointment("dentist", "2026-03-06T10:00:00-08:00")
            let connection = try await bench.connect(label: Self.secret)
            let event = try await phone.changes().events[0]
            try await phone.upsert(bench.sent(event, as: "\(Self.secret)-1"))
            // Typed on the phone into the item's event, put back and recorded.
            server.clock.advance(seconds: 60)
            try await phone.upsert(
                bench.sent(event, as: "\(Self.secret)-1", ["title": .string(Self.secret), "description": "XYLOPHONE"]))
            try await phone.upsert(
                .sent("E1", Self.secret, ["id": "secret", "description": .string(Self.secret)]))
            try await server.call(
                .post, "/api/apple_sync/planned_upsert",
                [
                    "range_start": "2026-03-01T00:00:00Z", "range_end": "2026-04-01T00:00:00Z",
                    "events": [
                        [
                            "external_id": "P1", "title": .string(Self.secret), "start_at": "2026-03-05T09:00:00Z",
                            "end_at": "2026-03-05T10:00:00Z",
                        ]
                    ],
                ], as: "ann"
            ).expect(200)
            try await server.call(
                .patch, "/v1/users/ann/office-days/settings",
                [
                    "enabled": true, "target": ["connectionId": .string(connection)],
                    "officeTitle": .string(Self.secret),
                ],
                as: "ann"
            ).expect(200)
            try await server.call(
                .put, "/v1/users/ann/office-days/days/2026-03-03", ["status": "inOffice"], as: "ann"
            ).expect(200)
            let shown = try await phone.changes().events
            #expect(shown.contains { $0["collection"] == "office-days" && $0["title"] == .string(Self.secret) })
            _ = try await server.makeFeed(
                user: "ann", label: "own", config: ["includePersonal": true, "includePlanned": true])
            let (record, run) = try await server.services.store.read { transaction in
                (
                    try transaction.syncConflicts(of: connection, before: .max, limit: 1).first?.id ?? "",
                    try transaction.syncRuns(of: connection, before: .max, limit: 1).first?.id ?? ""
                )
            }
            #expect(!record.isEmpty && !run.isEmpty)
            let item = try #require(event["id"]?.string)
            let values = [
                "circle": "c", "user": "ann", "patient": "mom", "start": "20260122T180000Z", "name": "calendar.ics",
                "date": "2026-03-03", "token": "x",
            ]
            let ids = [connection, record, run, item, "secret", "dentist", "x"]
            var (asked, answered) = (0, 0)
            let session = try await Phone(server, of: other)
            for route in try Routes.table(server.front, isLocal: false).described where route.method == .get {
                let paths = Set(
                    ids.map { id in
                        "/"
                            + route.path.split(separator: "/").map { part in
                                guard part.hasPrefix("{") else { return String(part) }
                                return values[String(part.dropFirst().dropLast())] ?? id
                            }.joined(separator: "/")
                    })
                for path in paths.sorted() {
                    for answer in [
                        try await server.call(.get, path, as: other), try await session.call(.get, path),
                    ] {
                        asked += 1
                        if answer.status < 300 { answered += 1 }
                        #expect(
                            !answer.text.contains(Self.secret), "\(other): \(path) → \(answer.text.prefix(300))")
                        #expect(answer.status < 500)
                    }
                }
            }
            #expect(asked > 100 && answered > 10)
            // The same walk finds it for the person.
            var found = 0
            for path in [
                "/v1/users/ann/events", "/v1/users/ann/planned", "/v1/circles/c/connections",
                "/v1/connections/\(connection)/conflicts", "/sync/apple/status",
                "/v1/users/ann/office-days/settings",
            ] {
                let answer =
                    path.hasPrefix("/sync")
                    ? try await phone.call(.get, path) : try await server.call(.get, path, as: "ann")
                found += answer.text.contains(Self.secret) ? 1 : 0
            }
            #expect(found == 6)
            // Nor by what others can do to it.
            for (method, path) in [
                (HTTPRequest.Method.post, "/v1/connections/\(connection)/sync?mode=preview"),
                (.post, "/v1/conflicts/\(record)/dismiss"), (.post, "/v1/runs/\(run)/undo"),
                (.put, "/v1/connections/\(connection)/device"), (.delete, "/v1/connections/\(connection)"),
            ] {
                let body: JSONValue? = method == .put ? ["deviceId": .string(Self.secret)] : nil
                try await server.call(method, path, body, as: other).expect(404)
            }
        }
    }
}
