// SPDX-License-Identifier: Apache-2.0

/// The text of some components, written once and joined into a calendar each time one is read.
///
/// A class, so that thousands of pieces are passed on without copying their parts.
public final class CalendarPiece: Sendable {
    /// The components as strict iCalendar, from `BEGIN` to the line end after the last `END`.
    public let bytes: [UInt8]
    /// A hash that identifies the bytes, as the caller of `init` computed it; zero when it gave none.
    public let digest: SIMD2<UInt64>
    // The time that the calendar's VTIMEZONEs must cover for this piece; stored separately, so that joining compares
    // only numbers.
    let zones: [TimeZoneReference]
    let zonesHash: Int
    let earliest: Int
    let latest: Int

    /// - Parameters:
    ///   - events: the components; those of one UID have to be in one piece.
    ///   - hash: computes the digest of the bytes.
    public init(_ events: [Event], hash: ([UInt8]) -> SIMD2<UInt64> = { _ in .zero }) {
        var writer = ContentLineWriter(reserving: events.count * 640)
        var times = TimeZoneUse()
        for event in events.inKnownZones {
            event.write(to: &writer)
            times.add(event, seriesAreCovered: true)
        }
        bytes = writer.bytes.compact
        digest = hash(bytes)
        zones = times.zones
        zonesHash = times.zonesHash
        earliest = times.earliest
        latest = times.latest
    }
}

extension [UInt8] {
    /// The bytes without their unused capacity, if there is much of it: a long text that is kept in memory would take
    /// half as much again.
    var compact: [UInt8] {
        guard capacity - count > 4096 else { return self }
        var exact: [UInt8] = []
        exact.reserveCapacity(count)
        exact.append(contentsOf: self)
        return exact
    }
}

extension Event {
    /// The component as strict iCalendar.
    ///
    /// - Parameter inKnownZones: whether the event by itself, without its series or overrides, decides which of a file's
    ///   own zones are written as known ones; otherwise none is.
    package func serialized(inKnownZones: Bool) -> [UInt8] {
        var writer = ContentLineWriter(reserving: 640)
        for event in inKnownZones ? [self].inKnownZones : [self] { event.write(to: &writer) }
        return writer.bytes
    }
}

/// The text before the components of a calendar: its properties, and one VTIMEZONE for each zone used.
public struct CalendarHead: Sendable {
    private var times: TimeZoneUse

    /// - Parameter coverage: the time span in which occurrences of series have to be right.
    public init(coverage: ClosedRange<Instant>) { times = TimeZoneUse(covering: coverage) }

    /// Adds the zones and times of a piece.
    public mutating func cover(_ piece: CalendarPiece) { times.add(piece) }

    /// The text of the head, to be called after all pieces are added.
    public func bytes(of calendar: ICalendar) -> [UInt8] {
        var writer = ContentLineWriter(reserving: 4096)
        calendar.writeHead(to: &writer, times.definitions)
        return writer.bytes
    }
}

/// A calendar whose components are pieces of text.
public struct JoinedCalendar: Sendable {
    /// Everything before the components: the calendar's properties and one VTIMEZONE for each zone used.
    public let head: [UInt8]
    public let pieces: [CalendarPiece]
    /// The text after the components.
    public static let tail = Array("END:VCALENDAR\r\n".utf8)

    /// - Parameters:
    ///   - calendar: the calendar's properties; its own events are left out.
    ///   - coverage: the time span in which occurrences of series have to be right.
    public init(_ calendar: ICalendar, pieces: [CalendarPiece], coverage: ClosedRange<Instant>) {
        var head = CalendarHead(coverage: coverage)
        for piece in pieces { head.cover(piece) }
        self.head = head.bytes(of: calendar)
        self.pieces = pieces
    }

    /// The length of the whole calendar in bytes.
    public var count: Int { pieces.reduce(head.count + Self.tail.count) { $0 + $1.bytes.count } }

    /// Passes on the calendar part by part, for a buffer that is not an array.
    public func write(_ append: ([UInt8]) -> Void) {
        append(head)
        for piece in pieces { append(piece.bytes) }
        append(Self.tail)
    }

    /// The bytes of the whole calendar, equal to `ICalendar.serialized(coverage:)` of the same events.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        write { bytes.append(contentsOf: $0) }
        return bytes
    }
}
