// SPDX-License-Identifier: Apache-2.0

extension TimeZoneDefinition {
    /// Whether another zone has the same offsets during the time that this definition covers.
    ///
    /// Compared from 2007 to 2037, because apps write today's rule as if it had always applied, and the last large
    /// change (North America's) was in 2007; a definition made of single changes covers the time from its first change
    /// to its last.
    package func agrees(with other: any TimeZoneRules) -> Bool {
        samples().allSatisfy { other.offset(at: $0.at) == $0.offset }
    }

    /// The offsets over the compared span: every few weeks of some years, and around the changes themselves, since a
    /// rule that differs by a week or an hour means another zone.
    private func samples() -> [(at: Instant, offset: Int)] {
        let span = comparedSpan
        let (firstYear, lastYear) = (Self.year(span.lowerBound), Self.year(span.upperBound))
        let years = Set([2007, 2009, 2012, 2015, 2018, 2020, 2024, 2026, 2030, 2036])
            .union(firstYear...min(lastYear, firstYear + 8))
        let changes = changes(in: years)
        var instants = changes.flatMap { [$0.at - 1, $0.at] }
        for year in years {
            let start = CivilDateTime(startOf: CivilDate(uncheckedYear: year, month: 1, day: 4)).wallSeconds
            instants += stride(from: start, to: start + 364 * 86_400, by: 20 * 86_400)
        }
        instants.append(span.lowerBound)
        let wanted = instants.filter { span.contains($0) && years.contains(Self.year($0)) }.sorted()
        var found: [(Instant, Int)] = []
        var index = 0
        var offset = observances.min { $0.start < $1.start }?.offsetFrom ?? 0
        for instant in wanted {
            while index < changes.count, changes[index].at <= instant {
                offset = changes[index].offset
                index += 1
            }
            found.append((Instant(seconds: instant), offset))
        }
        return found
    }

    private static func year(_ seconds: Int) -> Int { CivilDateTime(wallSeconds: seconds).date.year }

    /// All changes that determine the offset within some years, found in one pass over the rules; asking for each
    /// offset separately would check every rule each time.
    private func changes(in years: Set<Int>) -> [(at: Int, offset: Int)] {
        var found: [(at: Int, offset: Int)] = []
        let base = years.union(years.map { $0 - 1 })
        for observance in observances {
            let first = observance.start.wallSeconds - observance.offsetFrom
            for wall in [observance.start] + observance.additions {
                found.append((wall.wallSeconds - observance.offsetFrom, observance.offsetTo))
            }
            guard let rule = observance.rule else { continue }
            let startYear = observance.start.date.year
            // A rule that has ended still determines the offset after its end.
            var wanted = base
            if let end = rule.lastYear(from: startYear) { wanted.formUnion([end, end - 1]) }
            for year in wanted where year >= startYear && (year - startYear) % rule.interval == 0 {
                for wall in rule.yearlyOnsets(in: year, like: observance.start) {
                    let onset = wall.wallSeconds - observance.offsetFrom
                    if onset > first, rule.admits(onset: onset, wall: wall, start: observance.start, in: year) {
                        found.append((onset, observance.offsetTo))
                    }
                }
            }
        }
        return found.sorted { $0.at < $1.at }
    }

    /// Whether the definition describes the zone that the file names.
    ///
    /// Besides today's rules, those from 2000 to 2006 count: the file may be that old, and the zone's rules may have
    /// changed since. A single offset that the zone has in winter or summer counts too, because that is what apps leave
    /// of a zone when they trim it to one event.
    package func describes(_ other: any TimeZoneRules) -> Bool {
        if agrees(with: other) { return true }
        let summer = Instant(seconds: 1_720_000_000)
        let winter = Instant(seconds: 1_705_000_000)
        if observances.count == 1, observances[0].rule == nil || observances[0].offsetFrom != observances[0].offsetTo {
            return [other.offset(at: summer), other.offset(at: winter)].contains(observances[0].offsetTo)
        }
        guard observances.contains(where: { $0.rule != nil }) else { return false }
        let own = DefinedTimeZone(self)
        return stride(from: 946_684_800, to: 1_167_609_600, by: 5 * 86_400).allSatisfy {
            own.offset(at: Instant(seconds: $0)) == other.offset(at: Instant(seconds: $0))
        }
    }

    /// The span of time, in POSIX seconds, for which the definition is trusted.
    private var comparedSpan: ClosedRange<Int> {
        let from = Instant(utc: CivilDateTime(startOf: CivilDate(uncheckedYear: 2007, month: 4, day: 10))).seconds
        let to = Instant(utc: CivilDateTime(startOf: CivilDate(uncheckedYear: 2037, month: 12, day: 30))).seconds
        let isOpen = observances.contains { $0.rule.map { $0.until == nil && $0.count == nil } ?? false }
        // A part that changes nothing says what was before the others, as ours do of the time before what they cover.
        let changing = observances.filter { $0.offsetFrom != $0.offsetTo }
        let explicit = (changing.isEmpty ? observances : changing).flatMap { observance in
            ([observance.start] + observance.additions).map { $0.wallSeconds - observance.offsetFrom }
        }
        guard let first = explicit.min(), let last = explicit.max() else { return from...to }
        if isOpen || Set(observances.map(\.offsetTo)).count == 1 { return min(max(from, first), to)...to }
        // Single changes, which some apps write for the time span of their events.
        let begin = first > from ? first : min(from, last)
        return begin...max(begin, min(to, last + 40 * 86_400))
    }

    /// An IANA zone with the same offsets, for a definition whose name is not recognized.
    ///
    /// Only the zones that CLDR names for Windows are tried, one for each set of rules in use.
    package func findIdentical() -> TimeZoneReference? {
        let offsets = Set(observances.map(\.offsetTo))
        if offsets.count == 1, let only = offsets.first, only % 3600 == 0 {
            return ZoneNames.fixed(seconds: only, name: identifier)
        }
        // A few changes long ago match many zones; only rules that continue identify one.
        guard observances.contains(where: { $0.rule.map { $0.until == nil && $0.count == nil } ?? false }) else {
            return nil
        }
        let samples = samples()
        // A rule that no longer changes anything leaves no more than a number of hours, whatever came before.
        guard offsets.count == 1 || samples.contains(where: { $0.offset != samples[0].offset }) else { return nil }
        for identifier in WindowsZones.identifiers {
            guard let zone = TimeZoneReference(identifier) else { continue }
            if samples.allSatisfy({ zone.rules.offset(at: $0.at) == $0.offset }) { return zone }
        }
        return nil
    }
}

extension RecurrenceRule {
    /// The year in which UNTIL or COUNT ends a yearly rule; nil when it continues.
    fileprivate func lastYear(from start: Int) -> Int? {
        switch until {
        case .date(let date): return date.year
        case .floating(let wall): return wall.date.year
        case .utc(let instant): return instant.utc.date.year
        case nil: return count.map { min(start + $0 * interval, 9998) }
        }
    }
}
