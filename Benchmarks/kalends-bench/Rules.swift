// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ICalBridge

struct Rules: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Expand random rules as a feed, a list and a store do; fail when one takes too long.")

    @Option(help: "How many rules.") var count = 50_000
    @Option(help: "The same seed gives the same rules.") var seed: UInt64 = 1
    @Option(help: "The longest time that one may take, in milliseconds.") var bar = 50.0

    func run() throws {
        var maker = RandomRules(seed: seed)
        let windows = (from: Instant(seconds: 1_767_225_600), to: Instant(seconds: 1_830_297_600))
        let kinds = ["two years of occurrences", "the first 10,000 times", "where it ends"]
        var times = [[(time: Duration, rule: String)]](repeating: [], count: kinds.count)
        for _ in 0..<count {
            let (rule, text, start) = maker.next()
            var event = Event(uid: "x", start: start)
            event.recurrence.rules = [rule]
            let series = Series(master: event, overrides: [])
            let work = [
                effort {
                    keep(series.occurrences(from: windows.from, to: windows.to, floatingIn: FixedOffset.utc))
                },
                effort { keep(rule.times(startingAt: start)) },
                effort { keep(series.end(floatingIn: FixedOffset.utc)) },
            ]
            for (index, time) in work.enumerated() { times[index].append((time, "DTSTART \(start.civil), \(text)")) }
        }
        print("\(count) random rules of seed \(seed): worst, and the 99.9th percentile")
        var isOver = false
        for (kind, all) in zip(kinds, times) {
            let sorted = all.sorted { $0.time < $1.time }
            guard let worst = sorted.last else { continue }
            let usual = sorted[min(sorted.count - 1, sorted.count * 999 / 1000)].time
            row(kind, worst.time / .milliseconds(1), "99.9 %: \(rounded(usual / .milliseconds(1), 3)) ms")
            print("    \(worst.rule.prefix(300))")
            isOver = isOver || worst.time > .milliseconds(1) * bar
        }
        guard !isOver else {
            print("One took more than \(bar) ms.")
            throw ExitCode.failure
        }
    }
}

/// Rules of every frequency with any of the parts that RFC 5545 allows; extreme values are more frequent than by
/// chance.
private struct RandomRules {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// Returns a rule, its text and where it starts.
    mutating func next() -> (RecurrenceRule, String, EventTime) {
        while true {
            let text = text()
            // Combinations that the RFC forbids are refused and not measured.
            guard let rule = try? RecurrenceRule(text) else { continue }
            let start = Instant(seconds: number(-2_208_988_800...4_102_444_800))
            return (rule, text, .utc(start))
        }
    }

    private mutating func text() -> String {
        let frequency = one(of: ["SECONDLY", "MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"])
        var parts = ["FREQ=\(frequency)"]
        if chance(2) { parts.append("INTERVAL=\(one(of: [1, 2, 7, 60, 61, 1440, 86_399, number(1...100_000)]))") }
        switch number(0...3) {
        case 0: parts.append("COUNT=\(one(of: [1, 2, number(3...10_000), 10_000_000]))")
        case 1: parts.append("UNTIL=\(number(1970...2100))\(one(of: ["0229T000000Z", "1231T235959Z", "0101T000000Z"]))")
        default: break
        }
        if chance(4) { parts.append("BYSECOND=" + list(0...59)) }
        if chance(4) { parts.append("BYMINUTE=" + list(0...59)) }
        if chance(4) { parts.append("BYHOUR=" + list(0...23)) }
        if chance(2) { parts.append("BYDAY=" + days(frequency)) }
        if chance(3) { parts.append("BYMONTHDAY=" + list(1...31, isSigned: true)) }
        if chance(5) { parts.append("BYYEARDAY=" + list(1...366, isSigned: true)) }
        if chance(5) { parts.append("BYWEEKNO=" + list(1...53, isSigned: true)) }
        if chance(3) { parts.append("BYMONTH=" + list(1...12)) }
        if chance(4) { parts.append("BYSETPOS=" + list(1...366, isSigned: true)) }
        if chance(4) { parts.append("WKST=" + one(of: Self.names)) }
        return parts.joined(separator: ";")
    }

    private static let names = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]

    private mutating func days(_ frequency: String) -> String {
        let isNumbered = frequency == "MONTHLY" || frequency == "YEARLY"
        return (0..<number(1...7)).map { _ in
            let ordinal = isNumbered && chance(2) ? String(number(1...(frequency == "YEARLY" ? 53 : 6))) : ""
            return (ordinal.isEmpty || chance(2) ? "" : "-") + ordinal + one(of: Self.names)
        }.joined(separator: ",")
    }

    /// Returns one number, some numbers, or all of them.
    private mutating func list(_ range: ClosedRange<Int>, isSigned: Bool = false) -> String {
        let chosen = chance(8) ? Array(range) : (0..<one(of: [1, 1, 2, 5])).map { _ in number(range) }
        return chosen.map { isSigned && chance(3) ? "-\($0)" : "\($0)" }.joined(separator: ",")
    }

    private mutating func chance(_ of: Int) -> Bool { number(1...of) == 1 }

    private mutating func one<Value>(of values: [Value]) -> Value { values[number(0...values.count - 1)] }

    /// SplitMix64 (Steele, Lea, Flood, 2014).
    private mutating func number(_ range: ClosedRange<Int>) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        word ^= word >> 31
        return range.lowerBound + Int(word % UInt64(range.count))
    }
}
