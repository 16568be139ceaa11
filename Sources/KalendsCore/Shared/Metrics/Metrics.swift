// SPDX-License-Identifier: Apache-2.0

package import Storage
import Synchronization

/// Counts of what the server did, in Prometheus' text format, by route and never by path.
package final class Metrics: Sendable {
    private struct Series: Hashable {
        var method: String
        var route: String
        var status: Int
    }

    /// Counts how often an operation ran and how long it took, in total and as a histogram.
    package final class Counter: Sendable {
        /// The upper bounds in microseconds; a further bucket has none.
        static let bounds = [
            1000, 5000, 10_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000,
        ]

        private let taken = Atomic(0)
        private let counted = InlineArray<12, Atomic<Int>> { _ in Atomic(0) }

        var microseconds: Int { taken.load(ordering: .relaxed) }
        /// The number of durations between each bound and the one before.
        var counts: [Int] { counted.indices.map { counted[$0].load(ordering: .relaxed) } }
        var count: Int { counts.reduce(0, +) }

        package func add(_ microseconds: Int) {
            taken.add(microseconds, ordering: .relaxed)
            let index = Self.bounds.firstIndex { microseconds <= $0 } ?? Self.bounds.count
            counted[index].add(1, ordering: .relaxed)
        }
    }

    /// The durations of several tallies combined.
    fileprivate struct Histogram {
        var counts = [Int](repeating: 0, count: Counter.bounds.count + 1)
        var microseconds = 0

        mutating func add(_ counter: Counter) {
            microseconds += counter.microseconds
            for (index, count) in counter.counts.enumerated() { counts[index] += count }
        }

        /// - Parameter labels: without braces.
        func lines(_ name: String, _ labels: String) -> String {
            var (text, sum) = ("", 0)
            let (more, braced) = labels.isEmpty ? ("", "") : (labels + ",", "{\(labels)}")
            for (bound, count) in zip(Counter.bounds.map { "\(Double($0) / 1_000_000)" } + ["+Inf"], counts) {
                sum += count
                text += "\(name)_bucket{\(more)le=\"\(bound)\"} \(sum)\n"
            }
            text += "\(name)_sum\(braced) \(Double(microseconds) / 1_000_000)\n"
            return text + "\(name)_count\(braced) \(sum)\n"
        }
    }

    private let counters = Mutex<[Series: Counter]>([:])
    /// Feeds that were answered from memory, bypassing the router.
    package let fromMemory = Counter()
    let wholeRenderings = Counter()
    let changeRenderings = Counter()
    private let takenPushes = Atomic(0)
    private let failedPushes = Atomic(0)
    private let writes: WriteGauge
    /// Metrics that libraries, and a program that this one is part of, report through swift-metrics.
    package let libraries = LibraryMetrics()

    package init(writes: WriteGauge = WriteGauge()) { self.writes = writes }

    /// Returns the counter in which requests of a kind are counted; the caller may keep it.
    package func counter(method: String, route: String, status: Int) -> Counter {
        let series = Series(method: method, route: route, status: status)
        return counters.withLock { counters in
            if let known = counters[series] { return known }
            let new = Counter()
            counters[series] = new
            return new
        }
    }

    /// - Parameter isWhole: whether a whole circle was read, and not only what changed.
    func countRendering(isWhole: Bool, _ time: Duration) {
        (isWhole ? wholeRenderings : changeRenderings).add(Int(time / .microseconds(1)))
    }

    /// Counts a message to a push service.
    func countPush(isTaken: Bool) {
        if isTaken { takenPushes.add(1, ordering: .relaxed) } else { failedPushes.add(1, ordering: .relaxed) }
    }

    /// The metrics in the exposition format, version 0.0.4.
    var exposition: String {
        let rows = counters.withLock { $0 }.filter { $0.value.count > 0 }.sorted {
            ($0.key.route, $0.key.method, $0.key.status) < ($1.key.route, $1.key.method, $1.key.status)
        }
        var text = """
            # HELP kalends_requests_total Requests answered.
            # TYPE kalends_requests_total counter

            """
        for (series, counter) in rows { text += "kalends_requests_total\(labels(series)) \(counter.count)\n" }
        text += """
            # HELP kalends_request_duration_seconds Time between a request and its answer.
            # TYPE kalends_request_duration_seconds histogram

            """
        // The status is left out, because each combination of labels takes fourteen lines.
        var last: (labels: String, histogram: Histogram)?
        for (series, counter) in rows {
            let labels = #"method="\#(series.method)",route="\#(series.route)""#
            if let done = last, done.labels != labels {
                text += done.histogram.lines("kalends_request_duration_seconds", done.labels)
                last = nil
            }
            if last == nil { last = (labels, Histogram()) }
            last?.histogram.add(counter)
        }
        if let last { text += last.histogram.lines("kalends_request_duration_seconds", last.labels) }
        text += """
            # HELP kalends_feed_answers_from_memory_total Feeds answered without the router; they are requests too.
            # TYPE kalends_feed_answers_from_memory_total counter
            kalends_feed_answers_from_memory_total \(fromMemory.count)

            """
        text += """
            # HELP kalends_write_transactions_total Transactions that could change the database.
            # TYPE kalends_write_transactions_total counter
            kalends_write_transactions_total \(writes.count)
            # HELP kalends_write_transaction_seconds_total Time for which they, and folding SQLite's log, kept others from writing.
            # TYPE kalends_write_transaction_seconds_total counter
            kalends_write_transaction_seconds_total \(writes.total / .seconds(1))
            # HELP kalends_longest_write_transaction_seconds The longest of them, or of folding SQLite's log, since the start.
            # TYPE kalends_longest_write_transaction_seconds gauge
            kalends_longest_write_transaction_seconds \(writes.longestWait / .seconds(1))

            """
        text += """
            # HELP kalends_push_messages_total Messages to push services about changes, by outcome.
            # TYPE kalends_push_messages_total counter
            kalends_push_messages_total{result="sent"} \(takenPushes.load(ordering: .relaxed))
            kalends_push_messages_total{result="failed"} \(failedPushes.load(ordering: .relaxed))

            """
        let renderings = [("changes", changeRenderings), ("whole", wholeRenderings)].filter { $0.1.count > 0 }
        text += """
            # HELP kalends_feed_renderings_total Feeds made into text, from the whole circle or from its changes.
            # TYPE kalends_feed_renderings_total counter

            """
        for (kind, counter) in renderings {
            text += "kalends_feed_renderings_total{from=\"\(kind)\"} \(counter.count)\n"
        }
        text += """
            # HELP kalends_feed_rendering_seconds_total Time spent on it.
            # TYPE kalends_feed_rendering_seconds_total counter

            """
        for (kind, counter) in renderings {
            text +=
                "kalends_feed_rendering_seconds_total{from=\"\(kind)\"} \(Double(counter.microseconds) / 1_000_000)\n"
        }
        return text + libraries.exposition
    }

    private func labels(_ series: Series) -> String {
        #"{method="\#(series.method)",route="\#(series.route)",status="\#(series.status)"}"#
    }
}

extension Metrics.Counter {
    /// The lines of a histogram in seconds.
    ///
    /// - Parameter labels: without braces.
    func lines(_ name: String, _ labels: String) -> String {
        var histogram = Metrics.Histogram()
        histogram.add(self)
        return histogram.lines(name, labels)
    }
}
