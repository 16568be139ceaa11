// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import HTTPTypes
import HummingbirdTesting
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("Streams of changes")
struct ChangeStreamTests {
    private static let task: JSONValue = ["title": "Refill pills", "dueAt": "2026-03-03T09:00:00Z"]

    private static func reader(
        _ server: TestServer, _ path: String = "/v1/circles/c/changes", bearing key: String? = nil, _ more: String...
    ) async throws -> EventReader {
        let lines = ["GET \(path) HTTP/1.1", "Authorization: Bearer \(key ?? server.key)"] + more
        let reader = try await EventReader(
            port: try #require(server.client.port), lines.joined(separator: "\r\n"))
        try await eventually("The stream is open, or refused.") {
            reader.text.contains("\nid: ") || reader.hasEnded || reader.status >= 400
        }
        return reader
    }

    @Test("Each change comes once with its number, also over connections that are cut")
    func cut() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let latest = try #require(
                try await server.call(.get, "/v1/circles/c/changes?limit=1").expect(200).json["latest"]?.integer)
            var seen: [Int] = []
            var last = latest
            let writing = Task {
                for number in 0..<60 {
                    try await server.put("tasks", "t\(number)", Self.task)
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
            while seen.count < 60 {
                let before = last
                let reader = try await Self.reader(
                    server, "/v1/circles/c/changes", bearing: nil, "Last-Event-ID: \(before)")
                #expect(reader.status == 200 && reader.text.contains("text/event-stream"))
                try await eventually("Some changes come.") { reader.events.count >= min(7, 60 - seen.count) }
                reader.cut()
                let events = reader.events
                seen += events.map(\.id)
                last = try #require(events.last?.id)
            }
            try await writing.value
            #expect(seen == Array(latest + 1...latest + 60))
            try await eventually("The streams are closed.") { server.services.streams.count == 0 }
        }
    }

    @Test("A stream that is woken by what it does not show says every 15 seconds that it is open")
    func wokenForNothing() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let bound = try await server.call(
                .post, "/v1/keys", ["name": "bound", "scopes": ["schedule:read"], "circles": ["none"]]
            ).expect(201)
            let reader = try await Self.reader(
                server, "/v1/changes", bearing: try #require(bound.json["key"]?.string))
            let writing = Task {
                for number in 0... where !Task.isCancelled {
                    try await server.put(
                        "tasks", "t\(number % 5)", ["title": .string("\(number)"), "dueAt": "2026-03-03T09:00:00Z"])
                    try await Task.sleep(for: .milliseconds(200))
                }
            }
            defer { writing.cancel() }
            try await eventually("It says that it is open.") { reader.text.contains(": open") }
            #expect(reader.events.isEmpty)
        }
    }

    @Test("Without a number a stream begins with the next change; all circles have one for service keys")
    func everywhere() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let (one, all) = (try await Self.reader(server), try await Self.reader(server, "/v1/changes"))
            try await server.call(.put, "/v1/circles/d", ["name": "D", "timeZone": "UTC"]).expect(201)
            try await server.put("tasks", "t", Self.task)
            try await eventually("Both have the task.") { one.events.count == 1 && all.events.count == 2 }
            let circles = try all.events.map { try JSONValue(parsing: $0.data.utf8)["circleId"]?.string }
            #expect(circles == ["d", "c"])
            let last = try #require(all.events.last?.id)
            let listed = try await server.call(.get, "/v1/changes?since=\(last - 1)").expect(200).json
            #expect(listed["items"]?.array?.count == 1 && listed["latest"]?.integer == last)
            #expect(try await server.call(.get, "/v1/changes?since=\(last + 1)").expect(410).json["latest"] != nil)
            try await server.call(.get, "/v1/changes", as: "ann").expect(403)
        }
    }

    @Test("A person sees what the list shows them, and nothing of others' feeds")
    func own() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let ben = try await Self.reader(server, "/v1/circles/c/changes", bearing: nil, "Kalends-User: ben")
            _ = try await server.makeFeed(user: "ann")
            _ = try await server.makeFeed(user: "ben")
            try await eventually("Ben sees his feed.") { !ben.events.isEmpty }
            try await server.put("tasks", "t", Self.task)
            try await eventually("Ben sees the task.") { ben.events.count >= 2 }
            #expect(ben.events.count == 2)
        }
    }

    @Test(
        "No change after the end of a session, a key or a right is sent, and the stream ends",
        arguments: ["session", "key", "member", "circle"])
    func ends(way: String) async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            try await server.call(.put, "/v1/users/ben/password", ["password": "ben's password"]).expect(201)
            let session = try await server.session("ben")
            let made = try await server.call(.post, "/v1/keys", ["name": "k"]).expect(201).json
            let (key, id) = (try #require(made["key"]?.string), try #require(made["id"]?.string))
            let reader = try await Self.reader(
                server, "/v1/circles/c/changes", bearing: way == "key" ? key : session)
            #expect(reader.status == 200)
            try await server.put("tasks", "before", Self.task)
            try await eventually("The first change comes.") { reader.events.count == 1 }
            switch way {
            case "session":
                try await server.raw(
                    .delete, "/v1/sessions/current", headers: [.authorization: "Bearer \(session)"]
                ).expect(204)
            case "key": try await server.call(.post, "/v1/keys/\(id)/revoke").expect(200)
            case "member": try await server.call(.delete, "/v1/circles/c/members/ben").expect(204)
            default: try await server.call(.delete, "/v1/circles/c").expect(204)
            }
            if way != "circle" { try await server.put("tasks", "after", Self.task) }
            try await eventually("The stream ends.") { reader.hasEnded }
            #expect(reader.events.count == 1, "\(reader.text)")
        }
    }

    @Test("A key that is bound to circles receives the changes of those and no others, as the list has them")
    func bound() async throws {
        try await TestServer.run(live: true) { server in
            let circle: JSONValue = ["name": "C", "timeZone": "UTC"]
            for id in ["acme-1", "other"] { try await server.call(.put, "/v1/circles/\(id)", circle).expect(201) }
            let made = try await server.call(.post, "/v1/keys", ["name": "k", "circlePrefix": "acme-"]).expect(201)
            let key = try #require(made.json["key"]?.string)
            let all = try await Self.reader(server, "/v1/changes", bearing: key)
            let foreign = try await Self.reader(server, "/v1/circles/other/changes", bearing: key)
            #expect(all.status == 200 && foreign.status == 404)
            for (number, id) in ["other", "acme-1", "other", "acme-2", "acme-1"].enumerated() {
                if id == "acme-2" {
                    try await server.bearing(key, .put, "/v1/circles/\(id)", circle).expect(201)
                } else {
                    try await server.call(.put, "/v1/circles/\(id)/tasks/t\(number)", Self.task).expect(201)
                }
            }
            try await eventually("Its changes come.") { all.events.count >= 3 }
            let list = try await server.bearing(key, .get, "/v1/changes?since=0").expect(200)
            let listed = list.json["items"]?.array ?? []
            #expect(listed.compactMap { $0["circleId"]?.string } == ["acme-1", "acme-1", "acme-2", "acme-1"])
            #expect(try all.events.map { try JSONValue(parsing: $0.data.utf8) } == Array(listed.dropFirst()))
            let whole = try await server.call(.get, "/v1/changes?since=0").expect(200).json["items"]?.array
            #expect(whole?.count == 7)
        }
    }

    @Test("A stream is one request of its key, however many changes it carries")
    func counted() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let made = try await server.call(.post, "/v1/keys", ["name": "k", "quotas": ["requestsPerMinute": 1]])
            let key = try #require(made.expect(201).json["key"]?.string)
            let reader = try await Self.reader(server, "/v1/changes", bearing: key)
            for number in 1...3 {
                try await server.put("tasks", "t\(number)", Self.task)
                try await eventually("Change \(number) comes.") { reader.events.count >= number }
            }
            #expect(!reader.hasEnded)
            try await server.bearing(key, .get, "/v1/circles").expect(429)
        }
    }

    @Test("Streams are limited by user and in all, and their places come back")
    func bounded() async throws {
        var settings = ServerSettings()
        (settings.quotas.streamsPerUser, settings.quotas.streams) = (2, 3)
        try await TestServer.run(live: true, settings: settings) { server in
            try await server.makeCircle()
            func open(_ user: String) async throws -> EventReader {
                try await Self.reader(server, "/v1/circles/c/changes", bearing: nil, "Kalends-User: \(user)")
            }
            let first = [try await open("ann"), try await open("ann")]
            func refused(_ user: String) async throws -> Int {
                try await server.call(
                    .get, "/v1/circles/c/changes", as: user, headers: [.accept: "text/event-stream"]
                ).status
            }
            #expect(try await refused("ann") == 429)
            let other = try await open("ben")
            #expect(try await refused("vic") == 503)
            for reader in first { reader.cut() }
            try await eventually("The places are free.") { server.services.streams.count == 1 }
            #expect(try await open("vic").status == 200)
            #expect(!other.hasEnded)
            #expect(try await server.services.monitoredStreams().contains("kalends_change_streams"))
        }
    }

    @Test("An orderly stop ends all streams at once")
    func stop() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let readers = [try await Self.reader(server), try await Self.reader(server, "/v1/changes")]
            server.services.streams.stop()
            try await eventually("The streams end.") { readers.allSatisfy(\.hasEnded) }
            let answer = try await server.call(
                .get, "/v1/circles/c/changes", headers: [.accept: "text/event-stream"])
            #expect(answer.status == 503)
        }
    }

    @Test("A number that is no longer known is refused, also after changes of all circles were removed")
    func forgotten() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.call(.put, "/v1/circles/d", ["name": "D", "timeZone": "UTC"]).expect(201)
            try await server.call(.get, "/v1/changes?since=0").expect(200)
            try await server.services.store.record { transaction in
                _ = try transaction.pruneChanges(in: "c", keeping: 1, limit: 100)
            }
            let gone = try await server.call(.get, "/v1/changes?since=0").expect(410).json
            let oldest = try #require(gone["oldest"]?.integer)
            try await server.call(.get, "/v1/changes?since=\(oldest - 1)").expect(200)
            for bad in ["x", "-1"] {
                try await server.call(
                    .get, "/v1/circles/c/changes",
                    headers: [.accept: "text/event-stream", try #require(HTTPField.Name("Last-Event-ID")): bad]
                ).expect(400)
            }
        }
    }
}

extension Services {
    fileprivate func monitoredStreams() async throws -> String {
        await Monitoring(services: self, certificateExpiry: { _ in nil }).exposition()
    }
}
