// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import ICalBridge
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("The old address in its grace")
struct GraceNoticeTests {
    private static let task: JSONValue = ["title": "Refill pills", "dueAt": "2026-03-03T09:00:00-08:00"]
    private static let title = "CK: This calendar address ends on March 4\\, 2026"
    private static let grace: JSONValue = ["graceSeconds": 172_800]

    /// Returns a feed whose address was replaced at 4 o'clock in the circle's morning, with two days of grace.
    private static func replaced(
        _ server: TestServer, config: JSONValue = [:], grace: JSONValue = grace
    ) async throws -> (id: String, old: String, new: String) {
        let feed = try await server.makeFeed(label: UUID().uuidString, config: config)
        let answer = try await server.call(.post, "/v1/feeds/\(feed.id)/regenerate", grace).expect(200)
        return (feed.id, feed.path, try TestServer.path(answer))
    }

    @Test("Its feed, and no other, has a free event over the days of the grace that says where to renew")
    func notice() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            try await server.put("tasks", "t1", Self.task)
            server.clock.advance(seconds: 60)
            let feed = try await Self.replaced(server)
            let (old, new) = (
                try await server.raw(.get, feed.old).expect(200), try await server.raw(.get, feed.new).expect(200)
            )
            #expect(new.values("SUMMARY") == ["CK: Refill pills"])
            #expect(old.values("SUMMARY") == [Self.title, "CK: Refill pills"])
            let lines = old.calendarLines
            for line in [
                "DTSTART;VALUE=DATE:20260302", "DTEND;VALUE=DATE:20260305", "TRANSP:TRANSPARENT",
                "X-MICROSOFT-CDO-BUSYSTATUS:FREE", "SEQUENCE:0", "DTSTAMP:20260302T120100Z",
                "LAST-MODIFIED:20260302T120100Z",
            ] {
                #expect(lines.contains(line), "\(line)")
            }
            #expect(old.values("DESCRIPTION").contains { $0.contains("subscribe to it") })
            let token = String(feed.new.split(separator: "/")[1])
            let preview = try await server.call(.get, "/v1/feeds/\(feed.id)/preview").expect(200)
            for text in [old.text, preview.text] { #expect(!text.contains(token)) }
            #expect(!preview.text.contains("ends on"))
            // Nothing else differs between the two.
            let rest = old.text.replacing(
                /BEGIN:VEVENT.*?END:VEVENT\r\n/.dotMatchesNewlines(), with: "", maxReplacements: 1)
            #expect(rest == new.text)
            server.clock.advance(seconds: 172_799)
            #expect(try await server.raw(.get, feed.old).expect(200).values("SUMMARY").first == Self.title)
            server.clock.advance(seconds: 1)
            try await server.raw(.get, feed.old).expect(410)
            try await server.raw(.get, feed.new).expect(200)
        }
    }

    @Test("It is shown at each level of detail and in each form, and reveals nothing about the circle")
    func levels() async throws {
        var settings = ServerSettings()
        settings.linkTemplate = "https://family.example/app/{circle}/{collection}/{id}"
        try await TestServer.run(settings: settings) { server in
            try await server.makeCircle()
            try await server.put("tasks", "t1", Self.task)
            let configurations: [JSONValue] = [
                ["detail": "full"], ["detail": "titles"], ["showMinimalDetails": true],
                ["detail": "busy", "includeTasks": false, "patientIds": ["mom"], "pastDays": 0, "futureDays": 0],
            ]
            for (index, config) in configurations.enumerated() {
                let feed = try await Self.replaced(server, config: config)
                for form in CalendarForm.allCases {
                    let answer = try await server.raw(.get, feed.old, headers: [.accept: form.mediaType]).expect(200)
                    let text = answer.text.replacing("\r\n ", with: "")
                    // Each form has its own escape of a comma.
                    #expect(
                        text.contains("CK: This calendar address ends on March 4"), "\(config) as \(form)")
                    #expect(text.contains("https://family.example") == (index == 0), "\(config) as \(form)")
                    if index >= 2 { #expect(!text.contains("Our family") && !text.contains("Refill")) }
                    let new = try await server.raw(.get, feed.new, headers: [.accept: form.mediaType]).expect(200)
                    #expect(!new.text.replacing("\r\n ", with: "").contains("ends on"), "\(config) as \(form)")
                }
            }
        }
    }

    @Test("304 exactly when the bytes are the same, whichever of the addresses asks and whichever way it takes")
    func exactness() async throws {
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            try await server.put("tasks", "t1", Self.task)
            let feed = try await server.makeFeed()
            var paths = [feed.path]
            var known: [String: (etag: String, body: [UInt8])] = [:]
            let kinds: [HTTPFields] = [[:], [.accept: "text/csv"], [.accept: "application/calendar+json"]]
            func pollAll(_ what: String) async throws {
                var bodies: [[UInt8]: Set<String>] = [:]
                for (kind, fields) in kinds.enumerated() {
                    // Twice: what was remembered at the first may answer the second.
                    for _ in 1...2 {
                        for path in paths {
                            var conditional = fields
                            conditional[.ifNoneMatch] = known["\(kind) \(path)"]?.etag ?? "\"none\""
                            let poll = try await server.raw(.get, path, headers: conditional)
                            let whole = try await server.raw(.get, path, headers: fields).expect(200)
                            let isSame = known["\(kind) \(path)"].map { $0.body == whole.body } ?? false
                            #expect((poll.status == 304) == isSame, "\(what), kind \(kind)")
                            if poll.status == 200 { #expect(poll.body == whole.body, "\(what)") }
                            let etag = try #require(whole.headers[.eTag])
                            known["\(kind) \(path)"] = (etag, whole.body)
                            bodies[whole.body, default: []].insert(path)
                            // Another address's tag is not valid here.
                            for other in paths where other != path {
                                guard let tag = known["\(kind) \(other)"]?.etag, tag != etag else { continue }
                                var crossed = fields
                                crossed[.ifNoneMatch] = tag
                                try await server.raw(.get, path, headers: crossed).expect(200)
                            }
                        }
                    }
                }
                #expect(bodies.count == paths.count * kinds.count, "\(what)")
                #expect(bodies.values.allSatisfy { $0.count == 1 }, "\(what)")
            }
            func regenerate(_ seconds: Int) async throws {
                server.clock.advance(seconds: 2)
                let answer = try await server.call(
                    .post, "/v1/feeds/\(feed.id)/regenerate", ["graceSeconds": .integer(seconds)])
                paths.append(try TestServer.path(answer.expect(200)))
            }
            try await pollAll("at first")
            try await regenerate(300_000)
            try await pollAll("replaced")
            try await pollAll("unchanged")
            try await regenerate(200_000)
            try await pollAll("replaced again, so that the first ends earlier")
            server.clock.advance(seconds: 2)
            try await server.put("tasks", "t2", Self.task)
            try await pollAll("a new task")
            try await server.call(.patch, "/v1/feeds/\(feed.id)", ["config": ["detail": "titles"]]).expect(200)
            try await pollAll("another level of detail")
            server.clock.advance(seconds: 86_400)
            try await pollAll("the next day")
            try await server.call(.patch, "/v1/feeds/\(feed.id)", ["expiresAt": "2026-03-04T01:00:00Z"]).expect(200)
            try await pollAll("an expiry before the end of the grace")
        }
    }

    @Test("It is in the language of the feed's owner, from their next word on, and the feed itself stays as it is")
    func language() async throws {
        try await TestServer.withPasswords { server in
            try await server.put("tasks", "t1", Self.task)
            let ann = try await Browser.signedIn("ann", server)
            let feed = try await Self.replaced(server)
            let others = try await server.makeFeed(user: "ben")
            let again = try await server.call(.post, "/v1/feeds/\(others.id)/regenerate", Self.grace).expect(200)
            for path in [feed.old, feed.new, others.path] { try await server.raw(.get, path).expect(200) }
            let title = try await server.raw(.get, others.path).expect(200)
            var sequence = 0
            for (language, expected, part) in [
                ("de", "CK: Diese Kalenderadresse endet am 4. März 2026", "seit dem 2. März 2026"),
                ("es", "CK: esta dirección de calendario termina el 4 de marzo de 2026", "desde el 2 de marzo de 2026"),
                ("fr", "CK\u{A0}: cette adresse de calendrier prend fin le 4 mars 2026", "depuis le 2 mars 2026"),
                ("it", "CK: questo indirizzo di calendario termina il giorno 4 marzo 2026", "dal giorno 2 marzo 2026"),
                ("nl", "CK: dit agenda-adres vervalt op 4 maart 2026", "sinds 2 maart 2026"),
                ("pl", "CK: ten adres kalendarza wygasa 4 marca 2026", "od 2 marca 2026"),
                ("pt", "CK: este endereço de calendário termina em 4 de março de 2026", "desde 2 de março de 2026"),
                ("en", Self.title, "since March 2\\, 2026"),
            ] {
                let (old, new) = (
                    try await server.raw(.get, feed.old).expect(200), try await server.raw(.get, feed.new).expect(200)
                )
                server.clock.advance(seconds: 1)
                try await ann.send(
                    try await ann.open("/app/account").expect(200), to: "/app/account", ["language": language]
                ).expect(200)
                sequence += 1
                let answer = try await server.raw(
                    .get, feed.old, headers: [.ifNoneMatch: try #require(old.headers[.eTag])]
                ).expect(200)
                #expect(answer.values("SUMMARY").first == expected)
                #expect(answer.values("DESCRIPTION").contains { $0.contains(part) }, "\(language)")
                #expect(answer.values("SEQUENCE").first == "\(sequence)")
                let unchanged = HTTPFields([
                    HTTPField(name: .ifNoneMatch, value: try #require(new.headers[.eTag]))
                ])
                try await server.raw(.get, feed.new, headers: unchanged).expect(304)
            }
            // Ben's notice is in his own language, and the same choice again changes nothing.
            #expect(try await server.raw(.get, others.path).expect(200).body == title.body)
            #expect(try await server.raw(.get, TestServer.path(again)).expect(200).values("SUMMARY").count == 1)
            let last = try await server.raw(.get, feed.old).expect(200)
            let page = try await ann.open("/app/account").expect(200)
            try await ann.send(page, to: "/app/account", ["language": "en"]).expect(200)
            try await server.raw(
                .get, feed.old, headers: [.ifNoneMatch: try #require(last.headers[.eTag])]
            ).expect(304)
        }
    }

    @Test("Whatever moves the end raises SEQUENCE and LAST-MODIFIED, and each address has a notice of its own")
    func revisions() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let feed = try await Self.replaced(server)
            func notice(
                _ path: String
            ) async throws -> (uid: String?, title: String?, sequence: String?, stamp: String?) {
                let answer = try await server.raw(.get, path).expect(200)
                return (
                    answer.values("UID").first, answer.values("SUMMARY").first, answer.values("SEQUENCE").first,
                    answer.values("LAST-MODIFIED").first
                )
            }
            let first = try await notice(feed.old)
            server.clock.advance(seconds: 3600)
            let again = try await server.call(.post, "/v1/feeds/\(feed.id)/regenerate", ["graceSeconds": 86_400])
            let (second, other) = (try await notice(feed.old), try await notice(feed.new))
            #expect(second.uid == first.uid && other.uid != first.uid)
            #expect(second.title == "CK: This calendar address ends on March 3\\, 2026" && other.title == second.title)
            #expect(second.sequence == "1" && other.sequence == "0")
            #expect(second.stamp == "20260302T130000Z")
            server.clock.advance(seconds: 3600)
            try await server.call(.patch, "/v1/feeds/\(feed.id)", ["expiresAt": "2026-03-02T20:00:00Z"]).expect(200)
            let third = try await notice(feed.old)
            #expect(third.title == "CK: This calendar address ends on March 2\\, 2026")
            #expect(third.sequence == "2" && third.stamp == "20260302T140000Z")
            server.clock.advance(seconds: 3600)
            try await server.call(.put, "/v1/circles/c", ["name": "Our family", "timeZone": "Asia/Tokyo"]).expect(200)
            let fourth = try await notice(feed.old)
            #expect(fourth.title == "CK: This calendar address ends on March 3\\, 2026")
            #expect(fourth.uid == first.uid && fourth.sequence == "3" && fourth.stamp == "20260302T150000Z")
            #expect(try await server.raw(.get, TestServer.path(again)).expect(200).values("SUMMARY").isEmpty)
        }
    }
}
