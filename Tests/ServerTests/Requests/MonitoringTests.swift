// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("What monitors read")
struct MonitoringTests {
    /// The promtool of Debian's `prometheus`, which `Tests/Harness alerts` fetches.
    private static let promtool = [
        "/usr/bin/promtool", packageRoot.appending(path: ".tools/prometheus/usr/bin/promtool").path,
    ].first { FileManager.default.isExecutableFile(atPath: $0) }

    private static func exposition() async throws -> String {
        let made = Made()
        try await TestServer.run(live: true) { server in
            try await server.makeCircle()
            let feed = try await server.makeFeed()
            for _ in 0..<3 { try await server.raw(.get, feed.path).expect(200) }
            try await server.raw(.get, "/nowhere").expect(404)
            Self.report(to: server.services.metrics.libraries)
            made.set(await Monitoring(services: server.services).exposition())
        }
        return made.text
    }

    /// Reports as a library does.
    private static func report(to factory: LibraryMetrics) {
        let kind = [("kind", "a \"b\" \\ \n")]
        CoreMetrics.Counter(label: "pool.connections", dimensions: kind, factory: factory).increment(by: 3)
        CoreMetrics.Timer(label: "pool.wait", dimensions: [], factory: factory).recordMilliseconds(7)
        CoreMetrics.Timer(label: "pool.wait", dimensions: kind, factory: factory).recordSeconds(2)
        CoreMetrics.Meter(label: "pool.idle", dimensions: [], factory: factory).set(4)
        CoreMetrics.Recorder(label: "pool.batch_items", dimensions: [], aggregate: true, factory: factory).record(5)
    }

    @Test("What libraries report through swift-metrics comes after our own, by Prometheus' names and units")
    func libraries() async throws {
        let text = try await Self.exposition()
        let start = try #require(text.range(of: "# HELP pool_batch_items "))
        let own = text[..<start.lowerBound]
        #expect(own.contains("kalends_feed_rendering_seconds_total") && !own.contains("pool"))
        for line in [
            #"pool_connections_total{kind="a \"b\" \\ \n"} 3.0"#, #"pool_wait_seconds_bucket{le="0.01"} 1"#,
            "pool_wait_seconds_count 1", #"pool_wait_seconds_bucket{kind="a \"b\" \\ \n",le="1.0"} 0"#,
            #"pool_wait_seconds_sum{kind="a \"b\" \\ \n"} 2.0"#, "pool_idle 4.0", "pool_batch_items_sum 5.0",
            "pool_batch_items_count 1", "# TYPE pool_wait_seconds histogram",
        ] {
            #expect(text.contains("\n\(line)\n"), "\(line)")
        }
    }

    @Test("Nobody takes one of our names or another kind's, and labels without end take no memory without end")
    func bounds() {
        let factory = LibraryMetrics()
        #expect(factory.exposition.isEmpty)
        CoreMetrics.Counter(label: "kalends.requests", dimensions: [], factory: factory).increment()
        CoreMetrics.Counter(label: "process_open_fds", dimensions: [], factory: factory).increment()
        #expect(factory.exposition.isEmpty)
        for _ in 0..<2 { CoreMetrics.Counter(label: "a_total", dimensions: [("x", "1")], factory: factory).increment() }
        CoreMetrics.Meter(label: "a_total", dimensions: [("x", "2")], factory: factory).set(9)
        #expect(factory.exposition.hasSuffix("# TYPE a_total counter\na_total{x=\"1\"} 2.0\n"))
        for number in 0..<(LibraryMetrics.most + 10) {
            CoreMetrics.Counter(label: "b", dimensions: [("x", "\(number)")], factory: factory).increment()
        }
        let kept = factory.exposition.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(kept.count == LibraryMetrics.most)
    }

    /// The names of metrics, without the parts of histograms.
    private static func names(_ text: String) -> Set<String> {
        Set(text.matches(of: /\b(?:kalends|process)_[a-z_]+/).map { String($0.output) })
    }

    @Test("Prometheus' own tool has nothing to say about the metrics", .enabled(if: promtool != nil))
    func conventions() async throws {
        let text = try await Self.exposition()
        let result = try await runProgram(Self.promtool ?? "", ["check", "metrics"], input: text)
        #expect(result.status == 0 && result.error.isEmpty && result.output.isEmpty, "\(result)")
    }

    @Test(
        "The alerts are valid, each fires where it should and does not where it should not",
        .enabled(if: promtool != nil))
    func alerts() async throws {
        let folder = packageRoot.appending(path: "Packaging/prometheus")
        let rules = try await runProgram(Self.promtool ?? "", ["check", "rules", "kalends.rules.yml"], in: folder)
        #expect(rules.status == 0, "\(rules)")
        let tests = try await runProgram(Self.promtool ?? "", ["test", "rules", "kalends.rules.test.yml"], in: folder)
        #expect(tests.status == 0, "\(tests)")
    }

    @Test("The alerts and the dashboard ask for nothing that the server does not offer")
    func offered() async throws {
        var offered = try await Self.exposition().split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map {
            String($0.split(separator: " ")[2])
        }
        offered +=
            offered.flatMap { ["\($0)_bucket", "\($0)_sum", "\($0)_count"] } + [
                // Only of a server with TLS.
                "kalends_tls_certificate_expiry_timestamp_seconds"
            ]
        for file in ["prometheus/kalends.rules.yml", "grafana/kalends.json"] {
            let text = try String(contentsOf: packageRoot.appending(path: "Packaging/\(file)"), encoding: .utf8)
            let asked = Self.names(text)
            #expect(asked.count > 10)
            #expect(asked.subtracting(offered).isEmpty, "\(file): \(asked.subtracting(offered))")
        }
    }

    @Test("Each alert is described with what to do")
    func described() throws {
        let rules = try String(
            contentsOf: packageRoot.appending(path: "Packaging/prometheus/kalends.rules.yml"), encoding: .utf8)
        let page = try String(contentsOf: packageRoot.appending(path: "docs/operations.md"), encoding: .utf8)
        let tests = try String(
            contentsOf: packageRoot.appending(path: "Packaging/prometheus/kalends.rules.test.yml"), encoding: .utf8)
        let alerts = rules.matches(of: /- alert: (\w+)/).map { String($0.output.1) }
        #expect(alerts.count >= 15)
        for alert in alerts {
            #expect(page.contains("### \(alert)\n"), "\(alert)")
            #expect(tests.components(separatedBy: "alertname: \(alert)\n").count >= 3, "\(alert)")
        }
        #expect(page.components(separatedBy: "\n### Kalends").count - 1 == alerts.count)
    }

    @Test("Durations are a histogram: cumulative, with a sum and a count, whatever the status")
    func histogram() {
        let metrics = Metrics()
        for (status, taken) in [(200, 900), (200, 4000), (304, 60_000), (500, 20_000_000)] {
            metrics.counter(method: "GET", route: "/x", status: status).add(taken)
        }
        let lines = metrics.exposition.split(separator: "\n").filter { $0.hasPrefix("kalends_request_duration") }
        let values = lines.map { $0.split(separator: " ")[1] }
        #expect(lines.count == 14)
        #expect(
            values.map(String.init) == ["1", "2", "2", "2", "3", "3", "3", "3", "3", "3", "3", "4", "20.0649", "4"])
        #expect(lines[0].contains(#"method="GET",route="/x",le="0.001""#) && lines[11].contains(#"le="+Inf""#))
    }

    @Test("Readiness names the reasons, and a server that was asked to stop is not ready any more")
    func readiness() async throws {
        try await TestServer.run { server in
            let ready = try await server.raw(.get, "/readyz").expect(200)
            #expect(ready.json == ["ready": true, "reasons": []])
            server.services.stopping.begin()
            let stopping = try await server.raw(.get, "/readyz").expect(503)
            #expect(stopping.json["reasons"]?.array?.first?["code"] == "stopping")
            try await server.raw(.get, "/healthz").expect(200)
            #expect(await Monitoring(services: server.services).exposition().contains("\nkalends_ready 0\n"))
        }
    }
}

/// Carries a server's text out of its closure.
private final class Made: @unchecked Sendable {
    private(set) var text = ""
    func set(_ text: String) { self.text = text }
}
