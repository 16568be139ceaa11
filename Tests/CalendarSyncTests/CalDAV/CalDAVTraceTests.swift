// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import TestSupport
import Testing

@testable import CalendarSync

/// Exchanges of real clients with Radicale and Xandikos, recorded by others.
struct CalDAVTrace {
    struct Exchange: Sendable {
        var note: String
        var status: Int
        var headers: [(name: String, value: String)]
        var body: [UInt8]
    }

    let exchanges: [Exchange]

    init(_ name: String) throws {
        let text = try String(contentsOf: try #require(Corpora.find("caldav_traces/\(name)")), encoding: .utf8)
        var exchanges: [Exchange] = []
        for part in text.components(separatedBy: "===== exchange ").dropFirst() {
            let lines = part.components(separatedBy: "\n")
            guard let first = lines.firstIndex(where: { $0.hasPrefix("<<< HTTP/") }),
                let end = lines[first...].firstIndex(where: { $0 == "<<<" || $0 == "<<< " })
            else { continue }
            let headers = lines[(first + 1)..<end].compactMap { line -> (name: String, value: String)? in
                let sides = line.dropFirst(4).split(separator: ":", maxSplits: 1)
                return sides.count == 2 ? (String(sides[0]), sides[1].trimmingCharacters(in: .whitespaces)) : nil
            }
            exchanges.append(
                Exchange(
                    note: String(lines[0].dropFirst(6)),
                    status: Int(lines[first].split(separator: " ")[2]) ?? 0, headers: headers,
                    body: Array(lines[(end + 1)...].joined(separator: "\n").trimmingCharacters(in: .newlines).utf8)))
        }
        self.exchanges = exchanges
    }

    func answer(_ note: String) throws -> ProviderAnswer {
        let exchange = try #require(exchanges.first { $0.note.hasPrefix(note) }, "\(note)")
        return ProviderAnswer(status: exchange.status, headers: exchange.headers, body: exchange.body)
    }

    func step(_ note: String) throws -> ScriptedHTTP.Step {
        let answer = try answer(note)
        return .answer(answer.status, String(decoding: answer.body, as: UTF8.self), answer.headers)
    }
}

@Suite(.needsCorpora("caldav_traces")) struct CalDAVTraceTests {
    static let names = ["radicale_raw.txt", "xandikos_raw.txt"]

    private func provider(_ steps: [ScriptedHTTP.Step]) throws -> (CalDAVCalendar, ScriptedHTTP) {
        let http = ScriptedHTTP(steps)
        let origin = "http://127.0.0.1:1"
        let account = CalDAVAccount(principal: origin, homes: [origin + "/alice/"], entrance: origin)
        return (
            try CalDAVCalendar(
                account: account, username: "alice", password: "secret", calendarKey: "k", objects: DirectObjects(),
                http: http, clock: { 0 }),
            http
        )
    }

    private let window = TimeRange(from: Instant(seconds: 0), to: Instant(seconds: 1))

    @Test(
        "Every recorded multistatus is read",
        arguments: names + ["radicale_python-caldav.txt", "xandikos_python-caldav.txt"])
    func multistatus(_ name: String) throws {
        let trace = try CalDAVTrace(name)
        let found = trace.exchanges.filter { $0.status == 207 }
        #expect(found.count > 5)
        for exchange in found {
            #expect(throws: Never.self, "\(exchange.note)") { try Multistatus(exchange.body) }
        }
    }

    @Test("Calendars are listed as the servers described them", arguments: names)
    func calendars(_ name: String) async throws {
        let trace = try CalDAVTrace(name)
        let (provider, http) = try provider([try trace.step("calendar properties")])
        let calendars = try await provider.calendars()
        #expect(calendars.map(\.name) == ["Appointments"])
        #expect(calendars.map(\.color) == ["#3366CC"])
        #expect(calendars.allSatisfy { $0.canWrite && !$0.isOurs })
        #expect(http.requests[0].method == "PROPFIND")
    }

    @Test("A recorded listing and multiget become changes, the series and the whole day with them", arguments: names)
    func changes(_ name: String) async throws {
        let trace = try CalDAVTrace(name)
        let isRadicale = name.hasPrefix("radicale")
        let calendar = "http://127.0.0.1:1/alice/" + (isRadicale ? "" : "calendars/") + "appts-raw/"
        let listing = try trace.answer("incremental sync: three added")
        #expect(try Multistatus(listing.body).responses.count == 3)
        let objects = try trace.answer("calendar-multiget, one missing href").body
        let (provider, _) = try provider([
            try trace.step("incremental sync: three added"), try trace.step("calendar-multiget, one missing href"),
            // What the recorded multiget did not ask for is asked for by itself.
            try trace.step("GET object"), try trace.step("GET object"), try trace.step("GET object"),
        ])
        let changes = try await provider.changes(in: calendar, since: nil, window: window)
        #expect(changes.isFull && changes.events.count == 3 && changes.cursor != nil)
        #expect(changes.events.allSatisfy { $0.entry != nil && $0.mark == nil && $0.etag != nil })
        #expect(try Multistatus(objects).responses.contains { $0.status == 404 })
        let series = changes.events.compactMap(\.entry).filter { $0.repetition != nil }
        let days = changes.events.compactMap(\.entry).filter { if case .days = $0.span { true } else { false } }
        #expect(series.count + days.count >= 1)
    }

    @Test("The recorded refusals mean what they mean", arguments: names)
    func refusals(_ name: String) async throws {
        let trace = try CalDAVTrace(name)
        #expect(DAVCondition(try trace.answer("sync with a token never issued").body)?.name == "valid-sync-token")
        #expect(
            DAVCondition(try trace.answer("sync with a well-formed but unknown token").body)?.name == "valid-sync-token"
        )
        #expect(DAVCondition(try trace.answer("PUT other href, same UID").body)?.name == "no-uid-conflict")
        #expect(DAVCondition(try trace.answer("MKCALENDAR again").body)?.name == "resource-must-be-null")
        // The same status, another meaning.
        #expect(DAVCondition(try trace.answer("update with stale If-Match").body) == nil)
        let removed = try Multistatus(try trace.answer("incremental sync from t1: one removed").body)
        #expect(removed.responses.contains { $0.status == 404 && $0.href.hasSuffix("evt-0001.ics") })
        #expect(removed.syncToken != nil)
        let (provider, http) = try provider([try trace.step("sync on deleted calendar")])
        let failure = await #expect(throws: ProviderFailure.self) {
            try await provider.changes(in: "http://127.0.0.1:1/alice/appts-raw/", since: nil, window: window)
        }
        #expect(failure?.kind == .calendarMissing && http.requests.count == 1)
    }

    @Test("A token that has really expired leads to one more listing")
    func expired() async throws {
        let trace = try CalDAVTrace("radicale_expired-token.txt")
        let index = trace.exchanges.firstIndex { $0.status == 403 }
        let dead = try #require(index)
        let calendar = "http://127.0.0.1:1/alice/exp/"
        let first = trace.exchanges[2]
        func step(_ exchange: CalDAVTrace.Exchange) -> ScriptedHTTP.Step {
            .answer(exchange.status, String(decoding: exchange.body, as: UTF8.self), exchange.headers)
        }
        let empty = "<multistatus xmlns=\"DAV:\"><sync-token>t</sync-token></multistatus>"
        let (provider, http) = try provider([.answer(207, empty), step(trace.exchanges[dead]), .answer(207, empty)])
        let cursor = try await provider.changes(in: calendar, since: nil, window: window).cursor
        let again = try await provider.changes(in: calendar, since: cursor, window: window)
        #expect(again.isFull && http.requests.count == 3)
        #expect(try Multistatus(first.body).responses.map(\.href) == ["/alice/exp/a.ics"])
    }
}
