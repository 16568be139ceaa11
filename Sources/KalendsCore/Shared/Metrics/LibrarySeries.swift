// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Synchronization

/// One metric with its labels that a library reports through swift-metrics.
final class LibrarySeries: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler {
    /// The types of the exposition format.
    enum Kind: String {
        case counter, gauge, summary, histogram

        /// The ending that Prometheus' conventions append to a name that lacks it.
        func ending(after name: String) -> String {
            switch self {
            case .counter where !name.hasSuffix("_total"): "_total"
            case .histogram where !name.hasSuffix("_seconds"): "_seconds"
            default: ""
            }
        }
    }

    private struct Values {
        var value = 0.0
        var count = 0
    }

    private let kind: Kind
    /// Only for a timer.
    private let counter = Metrics.Counter()
    /// For everything else.
    private let values = Mutex(Values())

    init(_ kind: Kind) { self.kind = kind }

    func increment(by amount: Int64) { add(Double(amount)) }
    func increment(by amount: Double) { if kind == .gauge || amount >= 0 { add(amount) } }
    func decrement(by amount: Double) { add(-amount) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { values.withLock { $0.value = value } }
    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) { if kind == .gauge { set(value) } else { add(value) } }
    func recordNanoseconds(_ duration: Int64) { counter.add(Int(duration / 1000)) }
    func reset() { values.withLock { $0 = Values() } }

    private func add(_ amount: Double) {
        values.withLock { values in
            values.value += amount
            values.count += 1
        }
    }

    /// The lines of the exposition format.
    ///
    /// - Parameter labels: without braces.
    func lines(_ name: String, _ labels: String) -> String {
        let braced = labels.isEmpty ? "" : "{\(labels)}"
        let values = values.withLock { $0 }
        switch kind {
        case .histogram: return counter.lines(name, labels)
        case .summary: return "\(name)_sum\(braced) \(values.value)\n\(name)_count\(braced) \(values.count)\n"
        case .counter, .gauge: return "\(name)\(braced) \(values.value)\n"
        }
    }
}
