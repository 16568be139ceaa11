// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import NIOCore
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("A person's data")
struct PersonExportTests {
    private static let path = "/v1/users/ann/export"

    /// Returns the files of an archive as `tar` and gzip make it, checking each head's sum.
    private static func files(_ packed: [UInt8]) throws -> [(path: String, text: String)] {
        var rest = try Gunzip.unpack(packed, limit: 1 << 24)[...]
        var files: [(path: String, text: String)] = []
        while rest.count >= 512, rest.first != 0 {
            let head = Array(rest.prefix(512))
            func text(_ field: Range<Int>) -> String {
                String(decoding: head[field].prefix { $0 != 0 }, as: UTF8.self).trimmingCharacters(in: .whitespaces)
            }
            let sum = head.enumerated().reduce(0) { $0 + ((148..<156).contains($1.offset) ? 32 : Int($1.element)) }
            #expect(Int(text(148..<156), radix: 8) == sum && text(257..<263) == "ustar")
            let size = try #require(Int(text(124..<136), radix: 8))
            rest = rest.dropFirst(512)
            files.append((text(0..<100), String(decoding: rest.prefix(size), as: UTF8.self)))
            rest = rest.dropFirst((size + 511) / 512 * 512)
        }
        #expect(rest.count == 1024 && rest.allSatisfy { $0 == 0 })
        return files
    }

    private static func fill(_ server: TestServer, _ user: String) async throws {
        for number in 0..<120 {
            try await server.call(
                .post, "/v1/users/\(user)/events", ["title": .string("\(user) swims \(number)"), "date": "2026-03-05"]
            ).expect(201)
        }
        try await server.call(
            .put, "/v1/circles/c/tasks/\(user)",
            [
                "title": .string("\(user) paints"), "dueAt": "2026-03-05T10:00:00Z", "ownerId": .string(user),
                "reminders": [],
            ]
        ).expect(201)
        let now = server.clock.now
        try await server.services.store.write { writer in
            var calendar = try writer.insertOwnCalendar(
                OwnCalendar(id: "cal-\(user)", userID: user, segment: "home", components: [.event], now: now))
            let text = "BEGIN:VCALENDAR\r\nSUMMARY:\(user) dances\r\nEND:VCALENDAR\r\n"
            try writer.putOwnResource(
                OwnResource(
                    name: "x.ics", uid: "x", etag: "e", component: .event, span: nil, shown: "packed", text: text,
                    now: now), replacing: nil, in: &calendar)
        }
    }

    @Test("An archive has everything of the person and nothing of others, with a page that says what is what")
    func archive() async throws {
        try await TestServer.withPasswords { server in
            for user in ["ann", "ben"] { try await Self.fill(server, user) }
            let made = try await server.call(.post, "/v1/circles/c/feeds", ["userId": "ann", "label": "Kitchen"])
                .expect(201)
            try await server.call(.put, "/v1/circles/d", ["name": "Another", "timeZone": "Europe/Vienna"]).expect(201)
            try await server.call(
                .put, "/v1/circles/d/members/ann", ["displayName": "Ann", "role": "owner"]
            ).expect(201)
            for circle in ["c", "d"] {
                try await server.bring([OneCalendar.event("walk", "Walk")], as: "ann", to: circle).expect(201)
            }
            let session = try await server.session("ann")
            let answer = try await server.bearing(session, .get, Self.path).expect(200)
            #expect(answer.headers[.contentType] == "application/gzip")
            #expect(answer.headers[.cacheControl] == "no-store")
            let files = try Self.files(answer.body)
            func text(_ path: String) throws -> String {
                let file = files.first { $0.path == path }
                return try #require(file?.text, "\(path)")
            }
            let guide = try text("README.txt")
            for area in PersonTable.Area.allCases { #expect(guide.contains("\(area.rawValue)/: "), "\(area)") }
            #expect(guide.contains("Data stored about ann") && guide.contains("gespeichert"))
            for file in files.dropFirst() {
                let folder = file.path.split(separator: "/").first.map(String.init) ?? ""
                #expect(PersonTable.Area(rawValue: folder) != nil, "\(file.path)")
                if file.path.hasSuffix(".json") {
                    #expect(try JSONValue(parsing: Array(file.text.utf8)).array?.isEmpty == false, "\(file.path)")
                }
            }
            let all = files.map(\.text).joined()
            for number in 0..<120 { #expect(all.contains("\"ann swims \(number)\"")) }
            let events = try text("personal/events.ics")
            #expect(events.components(separatedBy: "SUMMARY:ann swims").count == 121)
            #expect(try text("personal/personal_events-2.json").contains("ann swims"))
            #expect(try text("calendars/own_resources-1-1.ics").contains("SUMMARY:ann dances\r\n"))
            #expect(try text("calendars/own_resources.json").contains("calendars/own_resources-1-1.ics"))
            // A program that reads a file takes two events with one UID for the same.
            for path in ["imports/event_versions.ics", "imports/event_versions-1-2.ics"] {
                #expect(try text(path).components(separatedBy: "UID:walk\r\n").count == 2)
                #expect(try text(path).contains("SUMMARY:Walk\r\n"))
            }
            #expect(try text("imports/event_versions.json").contains("\"importedBy\":\"ann\""))
            #expect(try text("schedule/schedule_items.json").contains("ann paints"))
            #expect(try text("feeds/feeds.json").contains("Kitchen"))
            #expect(try text("circles/members.json").contains("Ann"))
            #expect(try text("signIn/sessions.json").contains("2026-03-02T12:00:00Z"))
            #expect(try text("audit/audit_trail.json").contains("user.exported"))
            for other in ["ben swims", "ben paints", "ben dances", "packed"] { #expect(!all.contains(other)) }
            // Neither secrets nor values derived from them.
            for name in ["token", "url"] {
                let secret = try #require(made.json[name]?.string)
                #expect(!all.contains(secret))
            }
            for name in ["\"hash\"", "sealed", "ash\":"] { #expect(!all.contains(name), "\(name)") }
        }
    }

    @Test("A person's events come in parts, each with its changed occurrences, and none twice")
    func parts() async throws {
        try await TestServer.withPasswords { server in
            let phone = try await Phone(server)
            let long = JSONValue.string(String(repeating: "n", count: 30_000))
            for number in 0..<25 {
                try await phone.upsert(.sent("x\(number)", "Swim \(number)", ["description": long]))
            }
            try await phone.upsert(
                .sent(
                    "daily", "Rest",
                    ["date": "2026-01-01", "description": long, "recurrence": ["rrule": "FREQ=DAILY;COUNT=9"]]))
            for day in 3...5 {
                try await phone.upsert(
                    .sent(
                        "daily", "Rest \(day)",
                        ["date": .string("2026-01-0\(day)"), "externalInstanceId": .string("2026-01-0\(day)")]))
            }
            try await phone.upsert(
                .sent("lost", "Alone", ["date": "2026-01-07", "externalInstanceId": "2026-01-07"]))
            let answer = try await server.call(.get, Self.path).expect(200)
            let files = try Self.files(answer.body).filter { $0.path.hasPrefix("personal/events") }
            #expect(files.count >= 4 && files.allSatisfy { $0.text.utf8.count < 400_000 }, "\(files.map(\.path))")
            let all = files.map(\.text).joined()
            for number in 0..<25 {
                #expect(all.components(separatedBy: "SUMMARY:Swim \(number)\r\n").count == 2, "\(number)")
            }
            #expect(all.components(separatedBy: "SUMMARY:Alone\r\n").count == 2)
            let series = try #require(files.first { $0.text.contains("RRULE:FREQ=DAILY") })
            for day in 3...5 { #expect(series.text.contains("SUMMARY:Rest \(day)\r\n")) }
            #expect(all.components(separatedBy: "RECURRENCE-ID").count == 4)
        }
    }

    @Test("Only the person gets it, shortly after signing in, and the host application; the audit trail notes each")
    func rights() async throws {
        try await TestServer.withPasswords { server in
            let (ann, ben) = (try await server.session("ann"), try await server.session("ben"))
            try await server.bearing(ben, .get, Self.path).expect(404)
            try await server.bearing(ann, .get, Self.path).expect(200)
            try await server.call(.get, Self.path, as: "ann").expect(200)
            try await server.call(.get, Self.path, as: "ben").expect(404)
            try await server.call(.get, Self.path).expect(200)
            let bound = try await server.call(
                .post, "/v1/keys", ["name": "bound", "scopes": ["users"], "circles": ["c"]]
            ).expect(201)
            try await server.bearing(try #require(bound.json["key"]?.string), .get, Self.path).expect(404)
            server.clock.advance(seconds: 301)
            let late = try await server.bearing(ann, .get, Self.path).expect(403)
            #expect(late.json["code"] == "sign-in-too-old")
            let noted = try await server.call(.get, "/v1/audit").expect(200).json["items"]?.array ?? []
            #expect(noted.filter { $0["action"] == "user.exported" && $0["subject"] == "ann" }.count == 3)
        }
    }

    @Test("The page of a person's account has a button for it, which leads to the sign-in page after a while")
    func page() async throws {
        try await TestServer.withPasswords { server in
            let ann = try await Browser.signedIn("ann", server)
            let page = try await ann.open("/app/account").expect(200)
            let answer = try await ann.send(page, to: "/app/account/export").expect(200)
            #expect(try Self.files(answer.body).first?.path == "README.txt")
            server.clock.advance(seconds: 301)
            let late = try await ann.send(page, to: "/app/account/export", follows: false)
            #expect(late.headers[.location]?.contains("/app/sign-in") == true)
        }
    }
}
