// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The meanings of the zone names of one calendar, shared by all threads that read its components.
///
/// A name's meaning depends only on the calendar, so it does not matter which thread asks first; where a name first
/// appears in the file is determined later from the marks in the logs.
final class ZoneTable: Sendable {
    /// The meaning of a name, and what is to be reported where it first appears.
    struct Entry: Sendable {
        var zone: ZoneResolver.Zone
        var resolution: TimeZoneResolution?
        var problems: [Problem]
    }

    /// The zone of times that name none, from X-WR-TIMEZONE.
    let floating: Entry

    private let resolver: ZoneResolver
    private let entries = Mutex<[ByteString: Entry]>([:])

    init(_ resolver: ZoneResolver) {
        self.resolver = resolver
        var one = resolver
        let zone = one.floatingZone()
        floating = Entry(zone: zone, resolution: one.resolutions.last, problems: [])
    }

    func entry(_ tzid: String) -> Entry {
        entries.withLock { entries in
            if let known = entries[tzid] { return known }
            // A fresh copy of the resolver reports about this name what it would report at the first use.
            var one = resolver
            var log = ProblemLog(limit: Int.max)
            let number = one.number(of: tzid, line: 0, log: &log)
            let entry = Entry(zone: one[number], resolution: one.resolutions.last, problems: log.problems)
            entries[tzid] = entry
            return entry
        }
    }
}

/// The zones that one thread has encountered, by the opaque numbers that libical sees.
struct MetZones {
    private let table: ZoneTable
    private var zones: [ZoneResolver.Zone] = []
    private var names: [String] = []
    private var numbers: [ByteString: Int] = [:]
    private var isFloatingMet = false

    init(_ table: ZoneTable) { self.table = table }

    subscript(number: Int) -> ZoneResolver.Zone {
        zones.indices.contains(number - 1) ? zones[number - 1] : .floating
    }

    /// The number of the zone with this TZID, from 1; the first use of a name adds a mark to the log.
    mutating func number(of tzid: String, line: Int, log: inout ProblemLog) -> Int {
        // Nearly every time in a file has one of its first zones.
        for index in names.indices.prefix(4) where names[index] == tzid { return index + 1 }
        if let known = numbers[tzid] { return known }
        log.mark(.zone(tzid, line: line))
        zones.append(table.entry(tzid).zone)
        names.append(tzid)
        numbers[tzid] = zones.count
        return zones.count
    }

    /// A zone that was used before; nil for any other.
    func known(_ tzid: Span<UInt8>) -> ZoneResolver.Zone? {
        for index in names.indices.prefix(4) where tzid.isSame(as: names[index].utf8Span.span) { return zones[index] }
        return numbers[DirectText.string(tzid, 0..<tzid.count)].map { zones[$0 - 1] }
    }

    /// The zone of times that name none, if such a time was read before; otherwise nil.
    var knownFloating: ZoneResolver.Zone? { isFloatingMet ? table.floating.zone : nil }

    /// The zone of times that name none: X-WR-TIMEZONE, as Google uses it; without it they stay floating.
    mutating func floatingZone(log: inout ProblemLog) -> ZoneResolver.Zone {
        if !isFloatingMet {
            isFloatingMet = true
            log.mark(.floatingZone)
        }
        return table.floating.zone
    }
}
