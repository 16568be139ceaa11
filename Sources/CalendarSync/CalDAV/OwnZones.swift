// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge
internal import Synchronization

/// Zones that calendar objects define themselves.
enum OwnZones {
    private struct Key: Hashable {
        var definition: TimeZoneDefinition
        var days: Range<Int>
    }

    private static let day = 86_400
    /// The number of days of a series that are compared: for that long, a definition that we write is correct.
    private static let ofSeries = 5 * 365
    private static let found = Mutex(LeastRecentlyUsed<Key, Bool>(limit: 1 << 20))
    /// The maximum size in bytes of a definition that is compared; a longer one is not a zone of tzdata.
    private static let mostBytes = 8 << 10

    /// Returns the name of the zone in which an event begins; nil for a zone that tzdata does not have.
    ///
    /// A definition is the zone of its name when it has the same offsets for as long as the event lasts, or for five
    /// years of a series. Many programs, including ours, write today's rule as if it had always applied: where a rule
    /// has changed since 2007 (Sydney, Santiago, Jerusalem), such a definition as a whole matches no zone.
    static func name(of zone: TimeZoneReference, from start: Instant, isSeries: Bool) -> String? {
        guard let definition = zone.definition else { return SyncZone(zone.identifier).name }
        let size = definition.observances.reduce(0) { $0 + 200 + ($1.name?.utf8.count ?? 0) + 8 * $1.additions.count }
        guard size <= mostBytes, let known = TimeZoneReference(named: zone.identifier) else { return nil }
        // A start at midnight in one zone is on the day before in another.
        let first = start.seconds.floorDivided(by: day) - 1
        let key = Key(definition: definition, days: first..<first + (isSeries ? ofSeries : 4))
        let isSame =
            found.withLock { $0.find(key) }
            ?? {
                let isSame = same(zone.rules, known.rules, on: key.days)
                found.withLock { $0.keep(isSame, for: key, cost: size) }
                return isSame
            }()
        return isSame ? SyncZone(known.identifier).name : nil
    }

    /// Compares offsets day by day, and by quarters of an hour on the days on which a clock changes.
    private static func same(_ one: any TimeZoneRules, _ other: any TimeZoneRules, on days: Range<Int>) -> Bool {
        var previous: Int?
        for number in days {
            let now = Instant(seconds: number * day)
            let offset = one.offset(at: now)
            guard offset == other.offset(at: now) else { return false }
            if let previous, previous != offset {
                for step in 1..<96 {
                    let at = now.adding(seconds: -900 * step)
                    guard one.offset(at: at) == other.offset(at: at) else { return false }
                }
            }
            previous = offset
        }
        return true
    }
}
