// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("The audit trail")
struct AuditTests {
    static func line(_ entry: JSONValue) throws -> String {
        [
            entry["actor"]?.string ?? "", entry["action"]?.string ?? "", entry["subject"]?.string ?? "",
            entry["circleId"]?.string ?? "-", try entry["detail"]?.text() ?? "",
        ].joined(separator: " ")
    }

    /// Carries out an act and returns the entries that record it.
    static func noted<Value: Sendable>(
        _ server: TestServer, _ act: () async throws -> Value
    ) async throws -> (value: Value, lines: [String]) {
        let before = try await server.auditTrail().count
        let value = try await act()
        return (value, try await server.auditTrail().dropFirst(before).map(line))
    }

    static func post(_ server: TestServer, _ mode: String, _ text: String) async throws -> String {
        let answer = try await server.raw(
            .post, "/v1/circles/c/imports?mode=\(mode)",
            headers: [.authorization: "Bearer \(server.key)", .contentType: "text/calendar"],
            body: ByteBuffer(string: text)
        ).expect(201)
        return try #require(answer.json["id"]?.string)
    }

    @Test("Circles, members and patients: each act once, with its actor; an unchanged PUT is not an act")
    func circles() async throws {
        try await TestServer.run { server in
            let key = "key:\(try await server.keyID())"
            try await server.makeCircle()
            let (_, lines) = try await Self.noted(server) {
                // The same again.
                for (path, body) in [
                    ("", ["name": "Our family", "timeZone": "America/Los_Angeles"]),
                    ("/members/ben", ["displayName": "Ben", "role": "member"]),
                    ("/patients/mom", ["displayName": "Mom"]),
                ] as [(String, JSONValue)] {
                    try await server.call(.put, "/v1/circles/c\(path)", body).expect(200)
                }
                try await server.call(.put, "/v1/circles/c", ["name": "Zebra", "timeZone": "UTC"], as: "ann").expect(
                    200)
                try await server.call(
                    .put, "/v1/circles/c/members/ben", ["displayName": "Ben", "role": "owner"], as: "ann"
                ).expect(200)
                try await server.call(
                    .put, "/v1/circles/c/members/ben", ["displayName": "Quokka", "role": "owner"]
                ).expect(200)
                try await server.call(.put, "/v1/circles/c/patients/mom", ["displayName": "Quagga"]).expect(200)
                try await server.call(.delete, "/v1/circles/c/patients/dad").expect(204)
                try await server.call(.delete, "/v1/circles/c/members/vic", as: "vic").expect(204)
                try await server.call(
                    .put, "/v1/circles/c/members/vic", ["displayName": "Vic", "role": "member"]
                ).expect(201)
                try await server.call(.delete, "/v1/circles/c").expect(204)
            }
            #expect(
                lines == [
                    "user:ann via \(key) circle.changed c c {\"fields\":[\"name\",\"timeZone\"]}",
                    "user:ann via \(key) member.changed ben c {\"roleAfter\":\"owner\",\"roleBefore\":\"member\"}",
                    "\(key) member.changed ben c {\"roleAfter\":\"owner\",\"roleBefore\":\"owner\"}",
                    "\(key) patient.changed mom c {\"fields\":[\"displayName\"]}",
                    "\(key) patient.removed dad c {}",
                    "user:vic via \(key) member.removed vic c "
                        + "{\"revokedFeeds\":[],\"roleAfter\":null,\"roleBefore\":\"viewer\"}",
                    "\(key) member.added vic c {\"roleAfter\":\"member\",\"roleBefore\":null}",
                    "\(key) circle.deleted c c {}",
                ])
            let all = try await server.auditTrail()
            #expect(
                try all.prefix(6).map(Self.line) == [
                    "\(key) circle.created c c {}",
                    "\(key) member.added ann c {\"roleAfter\":\"owner\",\"roleBefore\":null}",
                    "\(key) member.added ben c {\"roleAfter\":\"member\",\"roleBefore\":null}",
                    "\(key) member.added vic c {\"roleAfter\":\"viewer\",\"roleBefore\":null}",
                    "\(key) patient.added mom c {}", "\(key) patient.added dad c {}",
                ])
            #expect(all.compactMap { $0["number"]?.integer } == Array(1...14))
            let text = try JSONValue.array(all).text()
            for word in ["family", "Zebra", "Quokka", "Quagga", "UTC"] { #expect(!text.contains(word)) }
        }
    }

    @Test("What is refused or fails is not recorded, and what cannot be recorded is not done")
    func togetherOrNotAtAll() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let member: JSONValue = ["displayName": "Eve", "role": "viewer"]
            let (_, lines) = try await Self.noted(server) {
                try await server.call(.put, "/v1/circles/c/members/eve", member, as: "ben").expect(403)
                try await server.call(.put, "/v1/circles/c/members/eve", member, as: "nobody").expect(404)
                try await server.call(.put, "/v1/circles/c/members/eve", ["role": "x"]).expect(422)
                try await server.call(
                    .delete, "/v1/circles/c/members/ben", headers: [.ifMatch: "\"stale\""]
                ).expect(412)
                try await server.call(.post, "/v1/keys/none/revoke").expect(404)
                let store = server.services.store
                await #expect(throws: Refusal.self) {
                    try await store.write { transaction in
                        try AuditTrail.note(
                            .keyCreated, "k", by: AuditActor(user: "ann"), in: transaction, now: 1)
                        throw Refusal.missing(.feed)
                    }
                }
            }
            #expect(lines.isEmpty)
            _ = try await server.services.store.record { transaction in
                try transaction.execute(
                    "CREATE TRIGGER full BEFORE INSERT ON audit_trail BEGIN SELECT RAISE(ABORT, 'no'); END", [])
            }
            let answer = try await server.client.execute(
                uri: "/v1/circles/c/members/eve", method: .put,
                headers: [.authorization: "Bearer \(server.key)", .contentType: "application/json"],
                body: ByteBuffer(bytes: try member.serialized()))
            #expect(answer.status.code == 500)
            let members = try await server.call(.get, "/v1/circles/c/members").expect(200).json["items"]?.array
            #expect(members?.compactMap { $0["id"]?.string } == ["ann", "ben", "vic"])
            #expect(try await server.verifyAudit().count == 6)
        }
    }

    @Test("The list has the latest first, in pages, of one circle if wanted; a key with the scope audit may read it")
    func listed() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.call(.put, "/v1/circles/d", ["name": "D", "timeZone": "UTC"]).expect(201)
            try await server.call(.put, "/v1/circles/c/patients/kid", ["displayName": "Kid"]).expect(201)
            let made = try await server.call(.post, "/v1/keys", ["name": "mirror", "scopes": ["audit"]]).expect(201)
            let bearer: HTTPFields = [.authorization: "Bearer \(made.json["key"]?.string ?? "")"]
            func numbers(_ query: String) async throws -> ([Int], String?) {
                let json = try await server.raw(.get, "/v1/audit\(query)", headers: bearer).expect(200).json
                return (json["items"]?.array?.compactMap { $0["number"]?.integer } ?? [], json["nextCursor"]?.string)
            }
            #expect(try await numbers("") == ([9, 8, 7, 6, 5, 4, 3, 2, 1], nil))
            let (first, cursor) = try await numbers("?circle=c&limit=3")
            #expect(first == [8, 6, 5])
            #expect(try await numbers("?circle=c&limit=4&cursor=\(try #require(cursor))") == ([4, 3, 2, 1], nil))
            #expect(try await numbers("?circle=d").0 == [7])
            #expect(try await numbers("?circle=nowhere").0.isEmpty)
            #expect(
                try await server.raw(.get, "/v1/audit?circle=%20", headers: bearer).expect(422).pointers == [
                    "/query/circle"
                ])
            #expect(
                try await server.raw(.get, "/v1/audit?cursor=eA", headers: bearer).expect(422).pointers
                    == ["/query/cursor"])
            try await server.raw(.get, "/v1/circles", headers: bearer).expect(403)
            try await server.call(.get, "/v1/audit", as: "ann").expect(403)
        }
    }

    @Test("An import of 15,000 events is one entry")
    func large() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let (id, lines) = try await Self.noted(server) {
                try await Self.post(server, "commit", NumberedEvents.calendar(15_000))
            }
            #expect(lines.count == 1 && lines[0].contains("import.committed \(id) c"))
        }
    }
}
