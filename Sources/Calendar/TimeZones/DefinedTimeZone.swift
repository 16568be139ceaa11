// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The rules of a VTIMEZONE prepared for frequent use: a definition may be long, and each of its file's times needs it.
///
/// It returns what `TimeZoneDefinition.offset(at:)` returns. Single changes are sorted once; those of the rules are
/// computed year by year, when a time of that year first occurs.
package final class DefinedTimeZone: TimeZoneRules {
    /// An offset and when it begins, in POSIX seconds; of onsets at the same time, the one later in the definition
    /// counts.
    private struct Onset {
        var at: Int
        var part: Int
        var offset: Int

        func isBefore(_ other: Onset) -> Bool { (at, part) < (other.at, other.part) }
    }

    /// A part of the definition with a rule, which gives further onsets after its first one.
    private struct Rule {
        var part: Int
        var observance: TimeZoneDefinition.Observance
        var rule: RecurrenceRule
        var first: Int
        var days: DayFilter
    }

    private struct Known {
        var isReady = false
        var single: [Onset] = []
        var rules: [Rule] = []
        /// The offset before the first onset.
        var before = 0
        var years: [Int: [Onset]] = [:]
        var onsetsOfYears = 0
        var writtenIdentifier: String?
    }

    /// The maximum number of years, and the maximum number of onsets in them, that are kept in memory; the times of a
    /// calendar are within a few years.
    private static let (manyYears, manyOnsets) = (4000, 40_000)
    /// How many years back a rule's last onset is searched for.
    private static let yearsBack = 8
    /// The second day of 1970, and the last of 2040, after which the rules just go on.
    private static let (firstCompared, lastChange) = (86_400, 2_240_524_800)
    /// The year 2600, up to which the system's zones follow their rules.
    private static let endOfRules = 19_880_899_200
    /// More changes than any zone has in those years.
    private static let manyChanges = 1000

    let definition: TimeZoneDefinition
    private let known = Mutex(Known())

    init(_ definition: TimeZoneDefinition) { self.definition = definition }

    /// The TZID under which the definition is written, computed once: each time in the zone is written with it.
    func writtenIdentifier(_ name: (TimeZoneDefinition) -> String) -> String {
        known.withLock { known in
            if let name = known.writtenIdentifier { return name }
            let name = name(definition)
            known.writtenIdentifier = name
            return name
        }
    }

    package func offset(at instant: Instant) -> Int {
        known.withLock { known in
            if !known.isReady { prepare(&known) }
            let limit = instant.seconds
            let next = known.single.firstFitting { $0.at > limit }
            var latest = next > 0 ? known.single[next - 1] : nil
            if !known.rules.isEmpty, let onset = Self.latest(notAfter: limit, &known),
                latest.map({ $0.isBefore(onset) }) ?? true
            {
                latest = onset
            }
            return latest?.offset ?? known.before
        }
    }

    /// Whether a zone of the system has the same offsets, to the minute, during a span in POSIX seconds.
    ///
    /// Offsets are written in whole minutes, so the same change may be some seconds apart in two definitions. Times
    /// before 1970 are not compared, because most definitions begin there.
    package func agrees(with other: SystemTimeZone, during span: ClosedRange<Int>) -> Bool {
        let slack = 61
        let (first, last) = (max(span.lowerBound, Self.firstCompared), min(span.upperBound, Self.lastChange))
        var instants = [span.lowerBound, span.upperBound]
        if first <= last {
            guard let own = changes(during: first...last) else { return false }
            let theirs = other.transitions(from: Instant(seconds: first), to: Instant(seconds: last))
            instants += (own + theirs.map(\.at.seconds)).flatMap { [$0 - slack, $0 + slack] }
        }
        return instants.allSatisfy {
            guard span.contains($0), $0 >= Self.firstCompared, $0 < Self.endOfRules else { return true }
            let instant = Instant(seconds: $0)
            return abs(offset(at: instant) - other.offset(at: instant)) < 60
        }
    }

    /// The changes during a span; nil if there are more than a zone of the system has.
    private func changes(during span: ClosedRange<Int>) -> [Int]? {
        known.withLock { known in
            if !known.isReady { prepare(&known) }
            let first = known.single.firstFitting { $0.at >= span.lowerBound }
            var changes = known.single[first...].prefix(Self.manyChanges + 1).map(\.at).filter { span.contains($0) }
            let years = [span.lowerBound, span.upperBound].map { CivilDateTime(wallSeconds: $0).date.year }
            for year in known.rules.isEmpty ? [] : Array(years[0]...years[1]) {
                changes += Self.onsets(in: year, &known).lazy.map(\.at).filter { span.contains($0) }
                if changes.count > Self.manyChanges { break }
            }
            return changes.count > Self.manyChanges ? nil : changes
        }
    }

    private func prepare(_ known: inout Known) {
        known.isReady = true
        for (part, observance) in definition.observances.enumerated() {
            let first = observance.start.wallSeconds - observance.offsetFrom
            known.single.append(Onset(at: first, part: part, offset: observance.offsetTo))
            for addition in observance.additions {
                let onset = addition.wallSeconds - observance.offsetFrom
                if onset > first { known.single.append(Onset(at: onset, part: part, offset: observance.offsetTo)) }
            }
            if let rule = observance.rule {
                let days = DayFilter(rule.onsetDays(like: observance.start), start: observance.start.date)
                known.rules.append(Rule(part: part, observance: observance, rule: rule, first: first, days: days))
            }
        }
        known.single.sort { $0.isBefore($1) }
        known.before = definition.offsetBeforeAll
    }

    /// The last onset of any rule at or before a time.
    private static func latest(notAfter limit: Int, _ known: inout Known) -> Onset? {
        let year = CivilDateTime(wallSeconds: limit).date.year
        var latest: Onset?
        // A wall clock may show the year before or after UTC's, so the neighbouring years are checked too.
        var looks = yearsBack + 2
        var candidate = year + 1
        while looks > 0 {
            let onsets = onsets(in: candidate, &known)
            let next = onsets.firstFitting { $0.at > limit }
            looks = next > 0 && latest == nil ? 1 : looks - 1
            if next > 0, latest.map({ $0.isBefore(onsets[next - 1]) }) ?? true { latest = onsets[next - 1] }
            candidate -= 1
        }
        return latest
    }

    private static func onsets(in year: Int, _ known: inout Known) -> [Onset] {
        if let onsets = known.years[year] { return onsets }
        var onsets: [Onset] = []
        let shape = YearShape(year)
        for index in known.rules.indices {
            let (rule, observance) = (known.rules[index].rule, known.rules[index].observance)
            let start = observance.start
            guard year >= start.date.year, (year - start.date.year) % max(rule.interval, 1) == 0 else { continue }
            let time = start.wallSeconds - floorDivide(start.wallSeconds, by: 86_400) * 86_400
            let (part, first) = (known.rules[index].part, known.rules[index].first)
            for day in rule.onsetDays(in: shape, &known.rules[index].days) {
                let wall = day * 86_400 + time
                let onset = wall - observance.offsetFrom
                if onset >= first,
                    rule.admits(onset: onset, wall: CivilDateTime(wallSeconds: wall), start: start, in: year)
                {
                    onsets.append(Onset(at: onset, part: part, offset: observance.offsetTo))
                }
            }
        }
        onsets.sort { $0.isBefore($1) }
        // As many years are kept as one look needs, however many onsets they have.
        let areMany = known.years.count > 2 * yearsBack && known.onsetsOfYears + onsets.count > manyOnsets
        if areMany || known.years.count >= manyYears { (known.years, known.onsetsOfYears) = ([:], 0) }
        known.years[year] = onsets
        known.onsetsOfYears += onsets.count
        return onsets
    }
}
