// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync
import Foundation
import ICalBridge
import TestSupport
import Testing

/// Google's answers are foreign input: nothing is accepted without a check.
@Suite struct GoogleHostileTests {
    private func provider(_ steps: [ScriptedHTTP.Step]) -> GoogleCalendar {
        GoogleCalendar(
            http: ScriptedHTTP(steps), tokens: FixedToken(token: "t"), now: { Instant(seconds: 1_790_000_000) },
            pause: { _ in }, random: { _ in 0 })
    }

    private func changes(_ bodies: String...) async throws(ProviderFailure) -> ChangeSet {
        try await provider(bodies.map { .answer(200, $0) }).changes(
            in: "c", since: nil, window: GoogleBench.window)
    }

    @Test(
        "A listing that is not what Google promises is not accepted",
        arguments: [
            "", "[]", "null", "{", "{\"items\":{}}", "{\"items\":[]}", "{\"items\":[],\"nextSyncToken\":\"\"}",
            "{\"items\":[],\"nextSyncToken\":7}", "{\"items\":[7],\"nextSyncToken\":\"s\"}",
            "{\"items\":[{\"id\":\"\"}],\"nextSyncToken\":\"s\"}",
            "{\"items\":[{\"id\":\"a b\"}],\"nextSyncToken\":\"s\"}",
            "{\"items\":[{\"id\":7}],\"nextSyncToken\":\"s\"}", "{\"items\":[],\"nextPageToken\":7}",
            "{\"items\":[],\"items\":[],\"nextSyncToken\":\"s\"}",
            "{\"items\":[],\"nextSyncToken\":\"" + String(repeating: "s", count: 9000) + "\"}",
            "{\"items\":" + String(repeating: "[", count: 100) + String(repeating: "]", count: 100) + "}",
        ])
    func malformed(_ body: String) async {
        await #expect { _ = try await changes(body) } throws: { ($0 as? ProviderFailure)?.kind == .malformed }
    }

    @Test("Pages that lead in a circle, or never end, are not accepted")
    func circles() async {
        let page = #"{"items":[],"nextPageToken":"a"}"#
        await #expect { _ = try await changes(page, page, page) } throws: {
            ($0 as? ProviderFailure)?.kind == .malformed
        }
        let pages = (0..<2000).map { ScriptedHTTP.Step.answer(200, #"{"items":[],"nextPageToken":"\#($0)"}"#) }
        await #expect {
            _ = try await provider(pages).changes(in: "c", since: nil, window: GoogleBench.window)
        } throws: {
            ($0 as? ProviderFailure)?.kind == .malformed
        }
    }

    private static let times =
        #""start":{"dateTime":"2026-12-03T09:00:00+01:00","timeZone":"Europe/Berlin"},"end":{"dateTime":"2026-12-03T10:00:00+01:00","timeZone":"Europe/Berlin"}"#

    @Test(
        "An event that cannot be read is there, with a reason",
        arguments: [
            "\"start\":{},\"end\":{}", "\"summary\":7," + times, "\"summary\":\"x\"",
            "\"start\":{\"date\":\"2026-13-01\"},\"end\":{\"date\":\"2026-12-25\"}",
            "\"start\":{\"date\":\"2026-12-01\",\"dateTime\":\"2026-12-01T00:00:00Z\"},\"end\":{\"date\":\"2026-12-25\"}",
            "\"start\":{\"date\":\"2026-12-01\"},\"end\":{\"dateTime\":\"2026-12-01T00:00:00Z\"}",
            "\"start\":{\"dateTime\":\"2026-12-01T00:00:00\"},\"end\":{\"dateTime\":\"2026-12-01T00:00:00\"}",
            "\"start\":{\"dateTime\":\"2026-12-02T00:00:00Z\"},\"end\":{\"dateTime\":\"2026-12-01T00:00:00Z\"}",
            "\"recurrence\":[7]," + times, "\"recurrence\":[\"RRULE:FREQ=SOMETIMES\"]," + times,
            "\"recurrence\":[\"EXRULE:FREQ=DAILY\"]," + times, "\"recurrence\":[\"RRULE\"]," + times,
            "\"recurrence\":[\"RRULE:FREQ=DAILY\",\"EXDATE;TZID=Mars/Base:20261204T090000\"]," + times,
            "\"recurrence\":[\"RDATE;VALUE=PERIOD:20261204T090000Z/PT1H\"]," + times,
            "\"recurrence\":[\"RRULE:FREQ=DAILY\",\"EXDATE:x\"]," + times, "\"status\":\"someday\"," + times,
            "\"eventType\":\"birthday\"," + times,
            "\"recurrence\":[\"RRULE:FREQ=DAILY\"],\"start\":{\"dateTime\":\"2026-12-03T09:00:00Z\",\"timeZone\":\"Mars/Base\"},\"end\":{\"dateTime\":\"2026-12-03T10:00:00Z\"}",
            "\"description\":\"" + String(repeating: "x", count: 300_000) + "\"," + times,
            "\"recurrence\":[" + Array(repeating: "\"RDATE:20261204T090000Z\"", count: 1001).joined(separator: ",")
                + "]," + times,
            "\"recurrence\":[\"RDATE:" + Array(repeating: "20261204T090000Z", count: 5001).joined(separator: ",")
                + "\"]," + times,
            "\"recurringEventId\":\"elsewhere\"," + times,
        ])
    func unreadable(_ fields: String) async throws {
        let set = try await changes(#"{"items":[{"id":"abcde",\#(fields)}],"nextSyncToken":"s"}"#)
        #expect(set.events.map(\.id) == ["abcde"])
        guard case .unreadable(let reason)? = set.events.first?.content else {
            Issue.record("\(set.events)")
            return
        }
        #expect(reason.hasSuffix(".") && !reason.contains("Mars"))
    }

    @Test("A version that could not be sent back is not accepted")
    func etags() async throws {
        let set = try await changes(
            #"{"items":[{"id":"abcde","etag":"\"a\"\r\nX: y",\#(Self.times)}],"nextSyncToken":"s"}"#)
        #expect(set.events.first?.etag == nil)
        let text = String(repeating: "e\u{301}\u{301}", count: 40) + "a" + String(repeating: "\u{301}", count: 400)
        let marks = try await changes(
            #"{"items":[{"id":"abcde","summary":"\#(text)",\#(Self.times)}],"nextSyncToken":"s"}"#)
        #expect(marks.events.first?.entry?.title.hasLongRunOfMarks == false)
    }

    @Test("No change of some bytes in an answer does more than make it unreadable", arguments: 0..<8)
    func mutated(_ seed: Int) async throws {
        let item = #"""
            {"id":"kalendsabc","etag":"\"35\"","status":"confirmed","updated":"2026-11-21T01:39:31.755Z","summary":"Haircut","description":"<p>x</p>","recurrence":["RRULE:FREQ=WEEKLY;BYDAY=TH;COUNT=9","EXDATE;TZID=Europe/Berlin:20261210T090000"],\#(Self.times),"extendedProperties":{"private":{"kalends":"1/i/c/c/tasks/x/0"}},"reminders":{"useDefault":false,"overrides":[{"method":"popup","minutes":15}]}},{"id":"kalendsabc_20261217T080000Z","etag":"\"36\"","recurringEventId":"kalendsabc","originalStartTime":{"dateTime":"2026-12-17T09:00:00+01:00","timeZone":"Europe/Berlin"},\#(Self.times)}
            """#
        let body = Array(#"{"items":[\#(item)],"nextSyncToken":"s"}"#.utf8)
        var random = SplitMix(seed: UInt64(seed))
        let alphabet = Array("0123456789{}[]\",:\\-TZ\u{7F}aFu".utf8)
        var read = 0
        for _ in 0..<400 {
            var bytes = body
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = alphabet.randomElement(using: &random) ?? 0
                case 1: bytes.remove(at: index)
                default: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 1...200, using: &random)))
                }
            }
            guard let set = try? await changes(String(decoding: bytes, as: UTF8.self)) else { continue }
            read += 1
            for event in set.events {
                #expect(event.id.utf8.allSatisfy { $0 > 32 && $0 < 127 })
                #expect(event.etag?.utf8.allSatisfy { $0 == 10 || $0 == 32 || ($0 > 32 && $0 < 127) } ?? true)
                if let entry = event.entry {
                    #expect(entry.reminders.allSatisfy { (0...40_320).contains($0) })
                    if case .timed(let start, let end, let zone) = entry.span {
                        #expect(end >= start && TimeZoneReference(zone) != nil)
                    }
                }
            }
        }
        #expect(read > 50)
    }

    @Test("A look that is answered with another event is not accepted")
    func otherEvent() async {
        let provider = provider([.answer(200, #"{"id":"other",\#(Self.times)}"#)])
        await #expect { _ = try await provider.look(at: ["asked"], in: "c") } throws: {
            ($0 as? ProviderFailure)?.kind == .malformed
        }
    }

    @Test(
        "A write whose answer cannot be read is perhaps done",
        arguments: [
            "", "[]", "{}", "{\"id\":\"other\"}", "{\"id\":7}",
        ])
    func unreadableWrite(_ body: String) async {
        let request = WriteRequest(
            key: "k", mark: GoogleBench.mark("a"), kind: .create(GoogleBench.single("A")))
        let answers = await provider([.answer(200, body)]).write([request], in: "c")
        #expect(answers.map(\.failedKind) == [.unanswered])
    }

    @Test(
        "A channel's end is never further off than Google can mean, and its name is ours",
        arguments: [
            "9223372036854775807", "\"1795829974629\"", "-5", "\"never\"", "1e300",
        ])
    func channels(_ expiration: String) async throws {
        let answer = #"{"resourceId":"r","id":"ID","expiration":\#(expiration)}"#
        let foreign = provider([.answer(200, answer)])
        await #expect(throws: ProviderFailure.self) {
            _ = try await foreign.watch("c", address: "https://x.example/", secret: "s")
        }
        let http = ScriptedHTTP([.answer(200, "{}")])
        let first = GoogleCalendar(http: http, tokens: FixedToken(token: "t"), now: { Instant(seconds: 0) })
        _ = try? await first.watch("c", address: "https://x.example/", secret: "s")
        let sent = try JSONValue(parsing: http.requests.first?.body ?? [])
        let id = try #require(sent["id"]?.string)
        #expect(id.utf8.count <= 64)
        let now = Instant(seconds: 1_790_000_000)
        let own = provider([.answer(200, answer.replacing("ID", with: id))])
        let channel = try #require(try await own.watch("c", address: "https://x.example/", secret: "s"))
        #expect(channel.expiresAt >= now && channel.expiresAt <= now.adding(seconds: 6_048_000))
    }

    @Test("A calendar's name never reaches beyond its own part of the path")
    func paths() async {
        let http = ScriptedHTTP([])
        let provider = GoogleCalendar(http: http, tokens: FixedToken(token: "t"), now: { Instant(seconds: 0) })
        _ = try? await provider.changes(in: "../../x?y#z%", since: nil, window: GoogleBench.window)
        #expect(
            http.requests.map(\.url) == [
                "https://www.googleapis.com/calendar/v3/calendars/..%2F..%2Fx%3Fy%23z%25/events?maxResults=2500"
            ])
    }

    @Test("No failure repeats what Google wrote, nor a token")
    func silent() async {
        let canary = "ya29.canary"
        let body =
            #"{"error":{"errors":[{"domain":"global","reason":"\#(canary) x","message":"\#(canary)"}],"code":403}}"#
        do {
            _ = try await provider([.answer(403, body)]).changes(in: "c", since: nil, window: GoogleBench.window)
            Issue.record("It was refused.")
        } catch {
            #expect(!"\(error)".contains("canary"))
        }
    }
}
