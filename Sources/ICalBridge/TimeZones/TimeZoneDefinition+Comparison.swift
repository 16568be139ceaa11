// SPDX-License-Identifier: Apache-2.0

extension TimeZoneDefinition {
    /// Whether another zone keeps the same offsets wherever this definition speaks.
    ///
    /// From 2007 to 2037, because apps write today's rule as if it had always held and 2007 is when the last large
    /// change (North America's) came; a definition made of single changes speaks from its first one to its last.
    func agrees(with other: any TimeZoneRules) -> Bool {
        let span = comparedSpan
        for instant in stride(from: span.lowerBound, through: span.upperBound, by: 9 * 86_400) {
            let at = Instant(seconds: instant)
            if offset(at: at) != other.offset(at: at) { return false }
        }
        // The changes themselves: a rule that is a week or an hour off is another zone.
        for onset in onsets(in: span) {
            for delta in [-1, 0] {
                let at = Instant(seconds: onset + delta)
                if offset(at: at) != other.offset(at: at) { return false }
            }
        }
        return true
    }

    /// Whether a zone that the file names is the one it describes.
    ///
    /// Beside today's rules those that held from 2000 to 2006 count: the file is as old, and the zone has gone on. So
    /// does a single offset that the zone has in winter or summer, which is what apps leave of a zone when they trim
    /// it to one event.
    func describes(_ other: any TimeZoneRules) -> Bool {
        if agrees(with: other) { return true }
        let summer = Instant(seconds: 1_720_000_000), winter = Instant(seconds: 1_705_000_000)
        if observances.count == 1, observances[0].rule == nil || observances[0].offsetFrom != observances[0].offsetTo {
            return [other.offset(at: summer), other.offset(at: winter)].contains(observances[0].offsetTo)
        }
        guard observances.contains(where: { $0.rule != nil }) else { return false }
        return stride(from: 946_684_800, to: 1_167_609_600, by: 5 * 86_400).allSatisfy {
            offset(at: Instant(seconds: $0)) == other.offset(at: Instant(seconds: $0))
        }
    }

    /// Seconds of the time line over which the definition is taken at its word.
    private var comparedSpan: ClosedRange<Int> {
        let from = Instant(utc: CivilDateTime(startOf: CivilDate(uncheckedYear: 2007, month: 4, day: 10))).seconds
        let to = Instant(utc: CivilDateTime(startOf: CivilDate(uncheckedYear: 2037, month: 12, day: 30))).seconds
        let isOpen = observances.contains { $0.rule.map { $0.until == nil && $0.count == nil } ?? false }
        let explicit = observances.flatMap { observance in
            ([observance.start] + observance.additions).map { $0.wallSeconds - observance.offsetFrom }
        }
        guard let first = explicit.min(), let last = explicit.max() else { return from...to }
        if isOpen || Set(observances.map(\.offsetTo)).count == 1 { return min(max(from, first), to)...to }
        // Single changes, as some apps write them for the time their events span.
        let begin = first > from ? first : min(from, last)
        return begin...max(begin, min(to, last + 40 * 86_400))
    }

    /// The onsets of the rules within a span.
    private func onsets(in span: ClosedRange<Int>) -> [Int] {
        var found: [Int] = []
        for observance in observances {
            for wall in [observance.start] + observance.additions {
                let onset = wall.wallSeconds - observance.offsetFrom
                if span.contains(onset) { found.append(onset) }
            }
            guard let rule = observance.rule else { continue }
            for year in [2008, 2011, 2016, 2020, 2024, 2025, 2030, 2036] {
                for wall in rule.yearlyOnsets(in: year, like: observance.start) {
                    let onset = wall.wallSeconds - observance.offsetFrom
                    if span.contains(onset) { found.append(onset) }
                }
            }
        }
        return found
    }

    /// An IANA zone with the same offsets, for a definition whose name says nothing.
    ///
    /// Only the zones that CLDR names for Windows are tried, one for each set of rules in use.
    func findIdentical() -> TimeZoneReference? {
        let offsets = Set(observances.map(\.offsetTo))
        if offsets.count == 1, let only = offsets.first, only % 3600 == 0 {
            return ZoneNames.fixed(seconds: only, name: identifier)
        }
        for identifier in WindowsZones.identifiers {
            if let zone = TimeZoneReference(identifier), zone.rules.offset(at: .init(seconds: 1_720_000_000))
                == offset(at: .init(seconds: 1_720_000_000)), agrees(with: zone.rules)
            {
                return zone
            }
        }
        return nil
    }
}
