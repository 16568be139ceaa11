// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ICalBridge

struct Expand: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Expand a thousand weekly rules over five years, compared with libical's iterator.")

    @Option(help: "How many runs; the median counts.") var runs = 7

    func run() throws {
        let rule = try RecurrenceRule("FREQ=WEEKLY;BYDAY=MO,WE,FR")
        guard let berlin = TimeZoneReference("Europe/Berlin") else { throw ValidationError("No tzdata.") }
        let from = Instant(seconds: 1_767_571_200)
        let to = from.adding(seconds: 5 * 365 * 86_400)
        print("1,000 rules FREQ=WEEKLY;BYDAY=MO,WE,FR over five years (at least 32 is wanted)")
        for (name, zone) in [("UTC", nil), ("Europe/Berlin", berlin)] {
            let starts = (0..<1000).map { from.adding(seconds: $0 * 60) }
            func time(_ start: Instant) -> EventTime {
                zone.map { .zoned($0.rules.civil(at: start), $0) } ?? .utc(start)
            }
            let limits = ExpansionLimits(maximumOccurrences: 100_000)
            func instants(_ start: Instant) -> Int {
                let clock: any TimeZoneRules = zone?.rules ?? FixedOffset.utc
                return rule.instants(
                    startingAt: time(start), floatingIn: clock, through: clock.civil(at: to), limits: limits
                ).instants.count
            }
            func occurrences(_ start: Instant) -> Int {
                var event = Event(uid: "x", start: time(start))
                event.recurrence.rules = [rule]
                return Series(master: event, overrides: [])
                    .occurrences(from: from, to: to, floatingIn: FixedOffset.utc).occurrences.count
            }
            func libicals(_ start: Instant) -> Int {
                LibicalRule.count(from: start.seconds, to: to.seconds, zone: zone?.identifier)
            }
            // The ways take turns, so that other work on the machine slows all of them alike.
            let ways = [
                ("libical's iterator", libicals), ("Kalends, instants", instants),
                ("Kalends, occurrences of events", occurrences),
            ]
            let clock = ContinuousClock()
            var times: [[Double]] = ways.map { _ in [] }
            for _ in 0..<runs {
                for (index, way) in ways.enumerated() {
                    times[index].append(clock.measure { keep(starts.map(way.1)) } / .milliseconds(1))
                }
            }
            let medians = times.map { $0.sorted()[runs / 2] }
            for (index, way) in ways.enumerated() {
                let ratios = zip(times[0], times[index]).map { $0 / $1 }
                row(
                    "\(name): \(way.0), \(starts.map(way.1).reduce(0, +))", medians[index],
                    "\(rounded(medians[0] / medians[index], 1)) times as fast "
                        + "(\(rounded(ratios.min() ?? 0, 1)) to \(rounded(ratios.max() ?? 0, 1)))")
            }
        }
    }
}
