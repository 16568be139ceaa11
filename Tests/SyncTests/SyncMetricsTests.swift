// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import HTTPTypes
import Storage
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Counters of connections")
struct SyncMetricsTests {
    /// Returns the samples by name and labels, after checking that every family has its help and type first.
    private static func samples(_ text: String) throws -> [String: Double] {
        var (found, families): ([String: Double], [String: String]) = ([:], [:])
        #expect(text.hasSuffix("\n"))
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            if words[0] == "#" {
                if words[1] == "TYPE" {
                    #expect(families.updateValue(words[3], forKey: words[2]) == nil, "\(line)")
                    #expect(["counter", "gauge", "histogram"].contains(words[3]))
                }
                continue
            }
            let name = try #require(line.firstMatch(of: #/^([a-z_]+)(\{.*\})? ([-0-9.e+]+)$/#), "\(line)")
            var family = String(name.1)
            for suffix in ["_bucket", "_sum", "_count"] where families[family] == nil && family.hasSuffix(suffix) {
                family = String(family.dropLast(suffix.count))
            }
            #expect(families[family] != nil, "\(line)")
            let key = String(name.1) + String(name.2 ?? "")
            #expect(found.updateValue(try #require(Double(name.3)), forKey: key) == nil, "\(key) twice")
        }
        return found
    }

    @Test("Runs, writes, waits, lateness, conflicts, held runs and dead grants are counted by provider, without names")
    func counted() async throws {
        try await SyncBench.run { bench in
            let server = bench.server
            try await bench.fill(20)
            let id = try await server.connect(label: "secret label", calendar: "secret calendar")
            let dead = try await server.connect(user: "ben")
            let calendar = bench.calendars[id]
            bench.calendars[dead].fail(ProviderFailure(.unauthorized, "The account has to be connected again."))
            server.clock.advance(seconds: 100)
            try await bench.sync.once()
            let monitoring = Monitoring(services: server.services)
            let first = try Self.samples(await monitoring.exposition())
            #expect(first[#"kalends_sync_runs_total{provider="caldav",outcome="success"}"#] == 1)
            #expect(first[#"kalends_sync_runs_total{provider="caldav",outcome="failed"}"#] == 1)
            #expect(first[#"kalends_connections{provider="caldav",state="active"}"#] == 1)
            #expect(first[#"kalends_connections{provider="caldav",state="needsReconnect"}"#] == 1)
            #expect(first[#"kalends_sync_writes_total{provider="caldav",direction="out"}"#] == 20)
            #expect(first[#"kalends_sync_lateness_seconds_bucket{provider="caldav",le="60"}"#] == 0)
            #expect(first[#"kalends_sync_lateness_seconds_bucket{provider="caldav",le="300"}"#] == 2)
            #expect(first[#"kalends_sync_lateness_seconds_count{provider="caldav"}"#] == 2)
            #expect(first[#"kalends_sync_lateness_seconds_sum{provider="caldav"}"#] == 200)
            #expect(first[#"kalends_sync_runs_under_way{provider="caldav"}"#] == 0)

            calendar.delete(["a0"])
            try await bench.run(id)
            calendar.delete((1..<15).map { "a\($0)" })
            try await bench.run(id)
            server.clock.advance(seconds: 7200)
            calendar.fail(ProviderFailure(.throttled(retryAfter: 60), "Wait."))
            try await bench.sync.once()
            let text = await monitoring.exposition()
            let second = try Self.samples(text)
            #expect(second[#"kalends_sync_runs_total{provider="caldav",outcome="held"}"#] == 1)
            #expect(second[#"kalends_sync_conflicts_open{provider="caldav"}"#] == 1)
            #expect(second[#"kalends_sync_waits_total{provider="caldav"}"#] == 1)
            // Sentences of help are our own, and have words such as "cannot".
            let values = text.split(separator: "\n").filter { !$0.hasPrefix("#") }.joined(separator: "\n")
            for word in ["secret", "ann", "ben", "Dr.", id] { #expect(!values.contains(word), "\(word)") }
        }
    }
}
