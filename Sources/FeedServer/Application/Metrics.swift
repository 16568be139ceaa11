// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts of what the server did, in Prometheus' text format; routes, never paths.
final class Metrics: Sendable {
    private struct Series: Hashable {
        var method: String
        var route: String
        var status: Int
    }

    private struct Tally {
        var requests = 0
        var microseconds = 0

        mutating func add(_ microseconds: Int) {
            requests += 1
            self.microseconds += microseconds
        }
    }

    private let tallies = Mutex<[Series: Tally]>([:])
    private let renderings = Mutex<[String: Tally]>([:])

    func count(method: String, route: String, status: Int, microseconds: Int) {
        let series = Series(method: method, route: route, status: status)
        tallies.withLock { $0[series, default: Tally()].add(microseconds) }
    }

    /// - Parameter isWhole: whether all of a circle was read, and not only what changed.
    func countRendering(isWhole: Bool, _ time: Duration) {
        let microseconds = Int(time / .microseconds(1))
        renderings.withLock { $0[isWhole ? "whole" : "changes", default: Tally()].add(microseconds) }
    }

    /// The exposition format, version 0.0.4.
    var exposition: String {
        let rows = tallies.withLock { $0 }.sorted {
            ($0.key.route, $0.key.method, $0.key.status) < ($1.key.route, $1.key.method, $1.key.status)
        }
        var text = """
            # HELP kalends_requests_total Requests answered.
            # TYPE kalends_requests_total counter

            """
        for (series, tally) in rows { text += "kalends_requests_total\(labels(series)) \(tally.requests)\n" }
        text += """
            # HELP kalends_request_seconds_total Time spent answering.
            # TYPE kalends_request_seconds_total counter

            """
        for (series, tally) in rows {
            text += "kalends_request_seconds_total\(labels(series)) \(Double(tally.microseconds) / 1_000_000)\n"
        }
        let renderings = renderings.withLock { $0 }.sorted { $0.key < $1.key }
        text += """
            # HELP kalends_feed_renderings_total Feeds made into text, from the whole circle or from its changes.
            # TYPE kalends_feed_renderings_total counter

            """
        for (kind, tally) in renderings {
            text += "kalends_feed_renderings_total{from=\"\(kind)\"} \(tally.requests)\n"
        }
        text += """
            # HELP kalends_feed_rendering_seconds_total Time spent on it.
            # TYPE kalends_feed_rendering_seconds_total counter

            """
        for (kind, tally) in renderings {
            text += "kalends_feed_rendering_seconds_total{from=\"\(kind)\"} \(Double(tally.microseconds) / 1_000_000)\n"
        }
        return text
    }

    private func labels(_ series: Series) -> String {
        #"{method="\#(series.method)",route="\#(series.route)",status="\#(series.status)"}"#
    }
}
