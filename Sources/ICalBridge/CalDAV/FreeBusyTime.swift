// SPDX-License-Identifier: Apache-2.0

/// When somebody is busy in a span, from their calendar object resources (RFC 4791 section 7.10) or their events.
package struct FreeBusyTime: Sendable {
    /// How somebody is busy; the raw values are those of FBTYPE (RFC 5545 section 3.2.9).
    package enum Kind: String, CaseIterable, Sendable {
        case busy = "BUSY"
        case unavailable = "BUSY-UNAVAILABLE"
        case tentative = "BUSY-TENTATIVE"
    }

    package let range: TimeRange
    /// The periods by kind, in seconds.
    private var periods: [Kind: [Range<Int>]] = [:]
    /// When somebody is available, in seconds; nil if that is not said.
    private var available: [Range<Int>]?
    private var unsettled = 0

    private static let mostUnsettled = 10_000

    package init(in range: TimeRange) { self.range = range }

    /// Adds what a resource takes of the span; one that cannot be read takes nothing.
    ///
    /// - Parameter zone: the clock of dates and floating times.
    /// - Throws: `tooMuch` if it has more occurrences in the span than are looked at.
    package mutating func add(_ text: [UInt8], floatingIn zone: any TimeZoneRules) throws(CalendarReportFault) {
        guard let object = ReportedObject(text, floatingIn: zone) else { return }
        for (index, event) in object.contents.events.enumerated() {
            switch event.kind {
            case .event where event.isTransparent != true && !event.isCancelled:
                let found = object.occurrences(ofPart: index, in: range)
                guard found.isComplete else { throw .tooMuch }
                for occurrence in found.occurrences { add(occurrence, floatingIn: zone) }
            case .freeBusy:
                for line in object.contents.parts[index].lines {
                    let type = line.property?[parameter: "FBTYPE"]?.uppercased() ?? "BUSY"
                    guard type != "FREE" else { continue }
                    for (_, period) in line.periods { add(period, Kind(rawValue: type) ?? .busy) }
                }
            case .event, .toDo, .journal: break
            }
        }
    }

    /// Adds what an event takes of the span: nothing if it is transparent or cancelled, or a to-do.
    ///
    /// - Parameter zone: the clock of dates and floating times.
    package mutating func add(_ occurrence: Occurrence, floatingIn zone: any TimeZoneRules) {
        let event = occurrence.event
        guard event.kind == .event, event.isTransparent != true, !event.isCancelled else { return }
        add(occurrence.range(floatingIn: zone), event.status == "TENTATIVE" ? .tentative : .busy)
    }

    /// Has the text say when somebody is available, even if that is at no time of the span.
    package mutating func saysAvailability() {
        if available == nil { available = [] }
    }

    /// Adds when somebody is available (RFC 7953): while an event lasts that is not cancelled.
    ///
    /// - Parameter zone: the clock of dates and floating times.
    package mutating func addAvailable(_ occurrence: Occurrence, floatingIn zone: any TimeZoneRules) {
        guard !occurrence.isCancelled else { return }
        saysAvailability()
        if let part = part(occurrence.range(floatingIn: zone)) { available?.append(part) }
        noteOne()
    }

    private mutating func add(_ period: TimeRange, _ kind: Kind) {
        guard let part = part(period) else { return }
        periods[kind, default: []].append(part)
        noteOne()
    }

    /// The part of a period that is in the span.
    private func part(_ period: TimeRange) -> Range<Int>? {
        let (start, end) = (max(period.from, range.from), min(period.to, range.to))
        return start < end ? start.seconds..<end.seconds : nil
    }

    private mutating func noteOne() {
        unsettled += 1
        if unsettled > Self.mostUnsettled { settle() }
    }

    private mutating func settle() {
        periods = periods.mapValues(Self.united)
        available = available.map(Self.united)
        unsettled = 0
    }

    /// Unites periods that meet.
    private static func united(_ periods: [Range<Int>]) -> [Range<Int>] {
        var united: [Range<Int>] = []
        for period in periods.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = united.last, last.upperBound >= period.lowerBound {
                united[united.count - 1] = last.lowerBound..<max(last.upperBound, period.upperBound)
            } else {
                united.append(period)
            }
        }
        return united
    }

    /// Returns the periods in order of time; those of different kinds may overlap.
    package mutating func settled() -> [(kind: Kind, range: TimeRange)] {
        settle()
        return Kind.allCases.flatMap { kind in (periods[kind] ?? []).map { (kind, TimeRange(seconds: $0)) } }
            .sorted { $0.range.from < $1.range.from }
    }

    /// Returns the VFREEBUSY of the span, and a VAVAILABILITY if it says when somebody is available: one without any time
    /// says that they are not in the whole span.
    ///
    /// - Parameter stamp: when it was made.
    package mutating func text(stamp: Instant) -> [UInt8] {
        settle()
        var writer = ContentLineWriter()
        writer.line("BEGIN", "VCALENDAR")
        writer.line("VERSION", "2.0")
        writer.line("PRODID", ICalendar.kalendsProductID)
        writer.line("BEGIN", "VFREEBUSY")
        writer.head("busy", range, stamp)
        for kind in Kind.allCases {
            for period in (periods[kind] ?? []).map(TimeRange.init(seconds:)) {
                writer.line(
                    kind == .busy ? "FREEBUSY" : "FREEBUSY;FBTYPE=\(kind.rawValue)",
                    "\(period.from.basic)/\(period.to.basic)")
            }
        }
        writer.line("END", "VFREEBUSY")
        if let available {
            writer.line("BEGIN", "VAVAILABILITY")
            writer.head("availability", range, stamp)
            for period in available.map(TimeRange.init(seconds:)) {
                writer.line("BEGIN", "AVAILABLE")
                writer.head("available", period, stamp)
                writer.line("END", "AVAILABLE")
            }
            writer.line("END", "VAVAILABILITY")
        }
        writer.line("END", "VCALENDAR")
        return writer.bytes
    }
}

extension ContentLineWriter {
    /// Writes which component it is, and its span.
    fileprivate mutating func head(_ name: String, _ range: TimeRange, _ stamp: Instant) {
        line("UID", "\(name)-\(range.from.basic)-\(range.to.basic)")
        line("DTSTAMP", stamp)
        line("DTSTART", range.from)
        line("DTEND", range.to)
    }
}

extension Occurrence {
    fileprivate func range(floatingIn zone: any TimeZoneRules) -> TimeRange {
        TimeRange(from: start.instant(floatingIn: zone), to: end.instant(floatingIn: zone))
    }
}
