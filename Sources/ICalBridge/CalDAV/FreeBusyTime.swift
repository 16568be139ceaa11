// SPDX-License-Identifier: Apache-2.0

/// When somebody is busy in a span, from their calendar object resources (RFC 4791 section 7.10).
package struct FreeBusyTime {
    private enum Kind: String, CaseIterable {
        case busy = "BUSY"
        case unavailable = "BUSY-UNAVAILABLE"
        case tentative = "BUSY-TENTATIVE"
    }

    private let range: ReportRange
    /// The periods by kind, in seconds.
    private var periods: [Kind: [Range<Int>]] = [:]
    private var unsettled = 0

    private static let mostUnsettled = 10_000

    package init(in range: ReportRange) { self.range = range }

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
                for occurrence in found.occurrences {
                    add(
                        ReportRange(
                            start: occurrence.start.instant(floatingIn: zone),
                            end: occurrence.end.instant(floatingIn: zone)),
                        event.status == "TENTATIVE" ? .tentative : .busy)
                }
            case .freeBusy:
                for line in object.contents.parts[index].lines {
                    let type = line.property?[parameter: "FBTYPE"]?.uppercased() ?? "BUSY"
                    guard type != "FREE" else { continue }
                    for (_, period) in line.periods { add(period, Kind(rawValue: type) ?? .busy) }
                }
            case .event, .toDo, .journal: break
            }
        }
        if unsettled > Self.mostUnsettled { settle() }
    }

    private mutating func add(_ period: ReportRange, _ kind: Kind) {
        let (start, end) = (max(period.start, range.start), min(period.end, range.end))
        guard start < end else { return }
        periods[kind, default: []].append(start.seconds..<end.seconds)
        unsettled += 1
    }

    /// Unites periods that meet.
    private mutating func settle() {
        for kind in Kind.allCases {
            var united: [Range<Int>] = []
            for period in (periods[kind] ?? []).sorted(by: { $0.lowerBound < $1.lowerBound }) {
                if let last = united.last, last.upperBound >= period.lowerBound {
                    united[united.count - 1] = last.lowerBound..<max(last.upperBound, period.upperBound)
                } else {
                    united.append(period)
                }
            }
            periods[kind] = united
        }
        unsettled = 0
    }

    /// Returns the VFREEBUSY of the span.
    ///
    /// - Parameter stamp: when it was made.
    package mutating func text(stamp: Instant) -> [UInt8] {
        settle()
        var writer = ContentLineWriter()
        writer.line("BEGIN", "VCALENDAR")
        writer.line("VERSION", "2.0")
        writer.line("PRODID", ICalendar.kalendsProductID)
        writer.line("BEGIN", "VFREEBUSY")
        writer.line("UID", "busy-\(range.start.basic)-\(range.end.basic)")
        writer.line("DTSTAMP", stamp)
        writer.line("DTSTART", range.start)
        writer.line("DTEND", range.end)
        for kind in Kind.allCases {
            for period in periods[kind] ?? [] {
                let (start, end) = (Instant(seconds: period.lowerBound), Instant(seconds: period.upperBound))
                writer.line(
                    kind == .busy ? "FREEBUSY" : "FREEBUSY;FBTYPE=\(kind.rawValue)", "\(start.basic)/\(end.basic)")
            }
        }
        writer.line("END", "VFREEBUSY")
        writer.line("END", "VCALENDAR")
        return writer.bytes
    }
}
