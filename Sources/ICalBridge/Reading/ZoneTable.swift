// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What the zone names of one calendar mean, for every thread that reads its components.
///
/// What a name means depends only on the calendar, so it does not matter who asks first; where it came first in the
/// order of the file is worked out later from the marks in the logs.
final class ZoneTable: Sendable {
    /// The meaning of a name, and what is to be reported where it is first found.
    struct Entry: Sendable {
        var zone: ZoneResolver.Zone
        var resolution: TimeZoneResolution?
        var problems: [Problem]
    }

    /// The zone of times that name none, by X-WR-TIMEZONE.
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
            // A resolver that has met nothing yet says of the name what the first one would.
            var one = resolver
            var log = ProblemLog(limit: Int.max)
            let number = one.number(of: tzid, line: 0, log: &log)
            let entry = Entry(zone: one[number], resolution: one.resolutions.last, problems: log.problems)
            entries[tzid] = entry
            return entry
        }
    }
}

/// The zones that one thread has met, by the opaque numbers that libical sees.
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

    /// The number of the zone with this TZID, from 1; a name met for the first time leaves its mark in the log.
    mutating func number(of tzid: String, line: Int, log: inout ProblemLog) -> Int {
        // Nearly every time of a file names one of its first zones.
        for index in names.indices.prefix(4) where names[index] == tzid { return index + 1 }
        if let known = numbers[tzid] { return known }
        log.mark(.zone(tzid, line: line))
        zones.append(table.entry(tzid).zone)
        names.append(tzid)
        numbers[tzid] = zones.count
        return zones.count
    }

    /// A zone that was met before, else nil.
    func known(_ tzid: Span<UInt8>) -> ZoneResolver.Zone? {
        for index in names.indices.prefix(4) where tzid.isSame(as: names[index].utf8Span.span) { return zones[index] }
        return numbers[DirectText.string(tzid, 0..<tzid.count)].map { zones[$0 - 1] }
    }

    /// The zone of times that name none, when such a time was met before.
    var knownFloating: ZoneResolver.Zone? { isFloatingMet ? table.floating.zone : nil }

    /// The zone of times that name none: X-WR-TIMEZONE, as Google means it, else they stay floating.
    mutating func floatingZone(log: inout ProblemLog) -> ZoneResolver.Zone {
        if !isFloatingMet {
            isFloatingMet = true
            log.mark(.floatingZone)
        }
        return table.floating.zone
    }
}
