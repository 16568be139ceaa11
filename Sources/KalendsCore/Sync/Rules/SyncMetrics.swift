// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage
import Synchronization

/// Counts of connections and their runs in Prometheus' text format, by provider and never by person.
final class SyncMetrics: Sendable {
    private struct Counts {
        /// The number of runs that ended, by outcome.
        var outcomes: [ByteString: Int] = [:]
        /// The number of writes by direction: to the calendars, and to the items.
        var out = 0
        var into = 0
        var failedWrites = 0
        var requests = 0
        var waits = 0
        /// The number of starts by lateness, in the order of `bounds`; the last bucket has no bound.
        var late = [Int](repeating: 0, count: bounds.count + 1)
        var lateMilliseconds = 0
    }

    /// The upper bounds of the histogram, in seconds.
    private static let bounds = [1, 5, 15, 60, 300, 900, 3600]

    private let totals = Mutex<[Connection.Provider: Counts]>([:])

    /// - Parameter late: milliseconds between the time at which a run was due and its start.
    func countStart(_ provider: Connection.Provider, late: Int) {
        let late = max(0, late)
        let index = Self.bounds.firstIndex { late <= $0 * 1000 } ?? Self.bounds.count
        totals.withLock { totals in
            totals[provider, default: Counts()].late[index] += 1
            totals[provider, default: Counts()].lateMilliseconds += late
        }
    }

    /// Counts a run that ended, or that is held.
    func count(_ run: RunRecord, _ provider: Connection.Provider) {
        let outcome = ByteString(run.state == .held ? "held" : run.status?.rawValue ?? run.state.rawValue)
        let counts = run.counts
        totals.withLock { totals in
            totals[provider, default: Counts()].outcomes[outcome, default: 0] += 1
            totals[provider, default: Counts()].out += counts.created + counts.updated + counts.deleted
            totals[provider, default: Counts()].into += counts.pulled
            totals[provider, default: Counts()].failedWrites += counts.failed
            totals[provider, default: Counts()].requests += run.requests
        }
    }

    /// Counts a provider's request to wait.
    func countWait(_ provider: Connection.Provider) {
        totals.withLock { $0[provider, default: Counts()].waits += 1 }
    }

    /// Returns the metrics in the exposition format, version 0.0.4.
    func exposition(
        _ gauges: [Connection.Provider: SyncGauges], running: [Connection.Provider: Int],
        requests: [(labels: String, value: Int)], days: [RequestForecast]
    ) -> String {
        let totals = totals.withLock { $0 }.sorted { $0.key.rawValue < $1.key.rawValue }
        let now = gauges.sorted { $0.key.rawValue < $1.key.rawValue }
        var text = ""
        func add(_ name: String, _ type: String, _ help: String, _ lines: [String]) {
            text += "# HELP kalends_\(name) \(help)\n# TYPE kalends_\(name) \(type)\n"
            for line in lines { text += "kalends_\(line)\n" }
        }
        func label(_ provider: Connection.Provider, _ rest: String = "") -> String {
            "{provider=\"\(provider.rawValue)\"\(rest)}"
        }
        add(
            "connections", "gauge", "Connections by state; needsReconnect waits for its person to sign in again.",
            now.flatMap { provider, own in
                Connection.State.allCases.map {
                    "connections\(label(provider, ",state=\"\($0.rawValue)\"")) \(own.states[$0] ?? 0)"
                }
            })
        add(
            "sync_conflicts_open", "gauge", "Conflicts that wait for a person.",
            now.map { "sync_conflicts_open\(label($0)) \($1.openConflicts)" })
        add(
            "sync_runs_held", "gauge", "Runs that wait for a person.",
            now.map { "sync_runs_held\(label($0)) \($1.heldRuns)" })
        add(
            "sync_runs_under_way", "gauge", "Runs that are under way.",
            running.sorted { $0.key.rawValue < $1.key.rawValue }.map { "sync_runs_under_way\(label($0)) \($1)" })
        add(
            "sync_runs_total", "counter", "Runs that ended, or were held, by outcome.",
            totals.flatMap { provider, own in
                own.outcomes.sorted { $0.key < $1.key }.map {
                    "sync_runs_total\(label(provider, ",outcome=\"\($0.key.string)\"")) \($0.value)"
                }
            })
        add(
            "sync_writes_total", "counter", "Writes to calendars (out) and to items (in).",
            totals.flatMap { provider, own in
                [
                    "sync_writes_total\(label(provider, ",direction=\"in\"")) \(own.into)",
                    "sync_writes_total\(label(provider, ",direction=\"out\"")) \(own.out)",
                ]
            })
        add(
            "sync_write_failures_total", "counter", "Writes that a provider or this server refused.",
            totals.map { "sync_write_failures_total\(label($0)) \($1.failedWrites)" })
        add(
            "sync_requests_total", "counter", "Requests that runs sent to providers.",
            totals.map { "sync_requests_total\(label($0)) \($1.requests)" })
        add(
            "sync_waits_total", "counter", "Runs that a provider asked to wait.",
            totals.map { "sync_waits_total\(label($0)) \($1.waits)" })
        add(
            "provider_requests_total", "counter",
            "Requests to providers as these count: each one of a batch, and a PATCH at Google as three.",
            requests.map { "provider_requests_total\($0.labels) \($0.value)" })
        add(
            "provider_requests_today", "gauge", "The same for the day in UTC, over all servers.",
            days.map { "provider_requests_today\(label($0.provider)) \($0.day.today.requests)" })
        add(
            "provider_successes_today", "gauge", "An upper bound for how many of these were successful.",
            days.map { "provider_successes_today\(label($0.provider)) \($0.day.today.successes)" })
        add(
            "provider_requests_forecast", "gauge", "The same for the whole day, if intervals are not made longer.",
            days.map { "provider_requests_forecast\(label($0.provider)) \($0.total)" })
        add(
            "provider_requests_limit", "gauge", "What googleRequestsPerDay allows.",
            days.compactMap { day in day.limit.map { "provider_requests_limit\(label(day.provider)) \($0)" } })
        add(
            "sync_interval_factor", "gauge", "How many times as long the intervals between looks are.",
            days.map { "sync_interval_factor\(label($0.provider)) \($0.stretch)" })
        add(
            "connections_pushed", "gauge", "Connections whose provider announces changes.",
            days.map { "connections_pushed\(label($0.provider)) \($0.day.pushed)" })
        add(
            "sync_lateness_seconds", "histogram", "Time between when a run was due and its start.",
            totals.flatMap { provider, own in
                var sum = 0
                var lines = zip(Self.bounds.map(String.init) + ["+Inf"], own.late).map { bound, count in
                    sum += count
                    return "sync_lateness_seconds_bucket\(label(provider, ",le=\"\(bound)\"")) \(sum)"
                }
                lines.append("sync_lateness_seconds_sum\(label(provider)) \(Double(own.lateMilliseconds) / 1000)")
                lines.append("sync_lateness_seconds_count\(label(provider)) \(sum)")
                return lines
            })
        return text
    }
}
