// SPDX-License-Identifier: Apache-2.0

/// The text of some components, made once and joined into calendars as often as they are read.
///
/// A class, so that thousands of pieces are passed on without a copy of their parts.
public final class CalendarPiece: Sendable {
    /// The components as strict iCalendar, from `BEGIN` to the line end after the last `END`.
    public let bytes: [UInt8]
    /// What the calendar's VTIMEZONEs must cover for it.
    let times: TimeZoneUse

    public init(_ events: [Event]) {
        var writer = ContentLineWriter(reserving: events.count * 640)
        var times = TimeZoneUse()
        for event in events {
            event.write(to: &writer)
            times.add(event, seriesAreCovered: true)
        }
        bytes = writer.bytes
        self.times = times
    }
}

/// A calendar whose components are pieces of text.
public struct JoinedCalendar: Sendable {
    /// Everything before the components: the calendar's properties and one VTIMEZONE for each zone used.
    public let head: [UInt8]
    public let pieces: [CalendarPiece]
    static let tail = Array("END:VCALENDAR\r\n".utf8)

    /// - Parameters:
    ///   - calendar: the calendar's properties; its own events are left out.
    ///   - coverage: the time in which occurrences of series are to be right.
    public init(_ calendar: ICalendar, pieces: [CalendarPiece], coverage: ClosedRange<Instant>) {
        var times = TimeZoneUse(covering: coverage)
        for piece in pieces { times.add(piece.times) }
        var writer = ContentLineWriter(reserving: 4096)
        calendar.writeHead(to: &writer, times.definitions)
        head = writer.bytes
        self.pieces = pieces
    }

    /// The whole calendar, equal to what `ICalendar.serialized(coverage:)` makes of the same events.
    public var bytes: [UInt8] {
        var size = head.count + Self.tail.count
        for piece in pieces { size += piece.bytes.count }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        bytes.append(contentsOf: head)
        for piece in pieces { bytes.append(contentsOf: piece.bytes) }
        bytes.append(contentsOf: Self.tail)
        return bytes
    }
}
