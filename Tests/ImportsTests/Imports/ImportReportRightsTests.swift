// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import TestSupport
import Testing

@testable import KalendsFront
@testable import ServerTestSupport

@Suite("What an import's report shows to whom")
struct ImportReportRightsTests {
    private static let events = [
        OneCalendar.event("secret@x", "Doctor", "CLASS:PRIVATE"), OneCalendar.event("open@x", "Bins"),
        // Cannot be read, and says so with its lines.
        ["UID:bad@x", "DTSTART:yesterday", "SUMMARY:Psychiatrist", "CLASS:PRIVATE"],
        ["DTSTART:Oncologist", "SUMMARY:Oncologist"],
    ]
    private static let words = ["Doctor", "secret@x", "Psychiatrist", "bad@x", "Oncologist"]

    private func tell(_ server: TestServer, _ id: String, to user: String?) async throws -> [Answer] {
        [
            try await server.call(.get, "/v1/imports/\(id)", as: user).expect(200),
            try await server.call(.get, "/v1/circles/c/imports", as: user).expect(200),
        ]
    }

    @Test("A preview that nobody committed is its maker's and the host application's; for others it does not exist")
    func previews() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let made = try await server.bring(Self.events, as: "ann", mode: "preview").expect(201)
            let id = try #require(made.json["id"]?.string)
            #expect(made.json["items"]?.array?.count == 2 && made.json["shown"] == "all")
            let own = try await server.bring([OneCalendar.event("other@x", "Other")], as: "ben", mode: "preview")
            let others = try #require(try own.expect(201).json["id"]?.string)
            let hosts = try #require(
                try await server.bring([Self.events[1]], as: nil, mode: "preview").expect(201).json["id"]?.string)
            func listed(_ user: String?) async throws -> Set<String> {
                let list = try await server.call(.get, "/v1/circles/c/imports", as: user).expect(200)
                return Set(list.json["items"]?.array?.compactMap { $0["id"]?.string } ?? [])
            }
            for user in ["vic", "ben"] {
                for number in [id, hosts, "nothing"] {
                    let path = "/v1/imports/\(number)"
                    for (method, end) in [(.get, ""), (.post, "/commit"), (.post, "/undo")]
                        as [(HTTPRequest.Method, String)]
                    {
                        let answer = try await server.call(method, path + end, nil, as: user).expect(404)
                        #expect(answer.json["code"] == "import-not-found")
                    }
                }
            }
            #expect(try await listed("vic") == [])
            #expect(try await listed("ben") == [others])
            #expect(try await listed("ann") == [id])
            #expect(try await listed(nil) == [id, others, hosts])
            for user in ["ann", nil] {
                let report = try #require(try await tell(server, id, to: user).first)
                #expect(report.json["items"]?.array?.count == 2 && report.text.contains("Doctor"))
            }
            try await server.call(.post, "/v1/imports/\(id)/commit", nil, as: "ann").expect(200)
            #expect(try await listed("vic") == [id])
            try await server.call(.post, "/v1/imports/\(id)/undo", nil, as: "ben").expect(403)
        }
    }

    @Test("A committed import is shown to others without its private events, also once it is undone")
    func committed() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let made = try await server.bring(Self.events, as: "ann").expect(201)
            let id = try #require(made.json["id"]?.string)
            for state in ["committed", "undone"] {
                for user in ["vic", "ben"] {
                    for answer in try await tell(server, id, to: user) {
                        for word in Self.words {
                            #expect(!answer.text.contains(word), "\(word) in \(answer.text)")
                        }
                    }
                    let report = try await server.call(.get, "/v1/imports/\(id)?limit=1", as: user).json
                    #expect(report["state"] == .string(state) && report["counts"]?["created"] == 2)
                    var items: [JSONValue] = report["items"]?.array ?? []
                    if let cursor = report["nextCursor"]?.string {
                        let next = try await server.call(.get, "/v1/imports/\(id)?limit=1&cursor=\(cursor)", as: user)
                        items += next.json["items"]?.array ?? []
                    }
                    #expect(items.map { $0["summary"] } == ["Bins"])
                }
                if state == "committed" {
                    try await server.call(.post, "/v1/imports/\(id)/undo", as: "ann").expect(200)
                }
            }
        }
    }

    @Test("What becomes private later goes from the reports that named it, and a UID that others bring opens none")
    func later() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let open = OneCalendar.event("u@x", "Lunch with Bob")
            let made = try await server.bring([open], as: "ann").expect(201)
            let id = try #require(made.json["id"]?.string)
            func seen(_ ids: String...) async throws -> [Bool] {
                var seen: [Bool] = []
                for id in ids {
                    let answer = try await server.call(.get, "/v1/imports/\(id)", as: "ben").expect(200)
                    seen.append(answer.text.contains("Lunch"))
                }
                return seen
            }
            #expect(try await seen(id) == [true])
            let second = try await server.bring([open + ["CLASS:PRIVATE"]], as: "ann").expect(201)
            let other = try #require(second.json["id"]?.string)
            #expect(try await seen(id, other) == [false, false])
            try await server.bring([OneCalendar.event("u@x", "Anything")], as: "ben").expect(201)
            #expect(try await seen(id, other) == [false, false])
            try await server.bring([open], as: "ann").expect(201)
            #expect(try await seen(id, other) == [true, false])
        }
    }

    @Test("Only its maker sees why an import failed: the reason may name lines of the file")
    func failures() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answer = try await server.raw(
                .post, "/v1/circles/c/imports",
                headers: [
                    .authorization: "Bearer \(server.key)", .kalendsUser: "ann", .contentType: "text/calendar",
                    .prefer: "respond-async",
                ],
                body: .init(string: OneCalendar.text([["UID:x", "DTSTART:Oncologist", "SUMMARY:Oncologist"]]))
            ).expect(202)
            let id = try #require(answer.json["id"]?.string)
            try await eventually("The file is read.") {
                try await server.call(.get, "/v1/imports/\(id)").json["state"] != "reading"
            }
            try await server.call(.get, "/v1/imports/\(id)", as: "ben").expect(404)
            #expect(try await server.call(.get, "/v1/circles/c/imports", as: "ben").json["items"] == [])
            let own = try await server.call(.get, "/v1/imports/\(id)", as: "ann").expect(200)
            #expect(own.json["state"] == "failed" && own.json["problem"]?["status"] == 422)
        }
    }
}
