// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// An event of an office day or a remote day, as it should be in a calendar.
public struct OfficeEvent: Hashable, Sendable, Codable {
    public enum State: String, Hashable, Sendable, Codable, CaseIterable {
        /// The engine writes it and keeps it up to date.
        case managed
        /// A person edited it in the calendar, so it is never written again.
        case unmanaged
        /// A person deleted it in the calendar, so it is not created again.
        case removed
    }

    public enum Span: Hashable, Sendable, Codable {
        case allDay(CivilDate)
        /// Start and end in seconds since 1970, and the zone whose clock shows the hours.
        case timed(start: Int, end: Int, zone: String)
    }

    /// `iod-YYYY-MM-DD-<inOffice|remote>-<hash>`, which makes writing idempotent.
    public var uid: String
    /// The event's identifier in a calendar file: a day's event keeps it when its UID changes.
    public var identity: String
    public var date: CivilDate
    public var title: String
    public var span: Span
    public var availability: OfficeSettings.Availability
    public var location: String?
    public var notes: String
    public var state = State.managed
    public var target: OfficeSettings.Target
    /// Rises with each write of this date's event, starting at 1.
    public var revision = 1
    /// When it was last changed, in seconds since 1970.
    public var changedAt = 0

    public var isAllDay: Bool { if case .allDay = span { true } else { false } }

    /// Whether both events look the same in a calendar.
    public func looksLike(_ other: OfficeEvent) -> Bool {
        uid == other.uid && title == other.title && span == other.span && availability == other.availability
            && location == other.location && notes == other.notes
    }
}

extension OfficeEvent {
    /// The event of a decided day; nil for a day without a status.
    init?(
        _ day: DecidedDay, on date: CivilDate, officeDays: Int, clock: some OfficeClock, identity: String,
        target: OfficeSettings.Target
    ) {
        let isOffice = day.status == .inOffice
        guard isOffice || day.status == .remote else { return nil }
        let look = day.look
        uid = Self.uid(date: date, status: day.status, hours: look.hours)
        self.identity = identity
        self.date = date
        title = isOffice ? look.officeTitle : look.remoteTitle
        if let hours = look.hours {
            let start = clock.second(of: date, minute: hours.start)
            let end = clock.second(of: date, minute: hours.end)
            // Hours that fall into a gap of the clock keep their length.
            span = .timed(
                start: start, end: end > start ? end : start + (hours.end - hours.start) * 60, zone: day.zone)
        } else {
            span = .allDay(date)
        }
        availability = look.availability
        location = isOffice ? look.address : nil
        var lines = ["Status: \(isOffice ? "In Office" : "Remote")"]
        if let hours = look.hours { lines.append("\(isOffice ? "Office" : "Work") Hours: \(hours.shown)") }
        lines.append("Total Office Days This Month: \(officeDays)/\(look.goal)")
        lines.append("UID: \(uid)")
        notes = lines.joined(separator: "\n")
        self.target = target
    }

    /// `iod-2026-01-21-inOffice-` followed by the first 8 hexadecimal digits of SHA-256 of the hours, or of `allDay`.
    public static func uid(date: CivilDate, status: DayStatus, hours: OfficeHours?) -> String {
        let hash = Hexadecimal.text(NameDigest.of(hours?.spelled ?? "allDay").prefix(4))
        return "iod-\(date)-\(status.rawValue)-\(hash)"
    }

    /// The UID in an event's notes, so that events can be found again when the list of them is lost; nil when the notes
    /// are not those of an office day.
    public static func uid(inNotes notes: String) -> String? {
        for line in notes.split(whereSeparator: \.isNewline) {
            guard line.isTextPrefixed(by: "UID: iod-") else { continue }
            let uid = line.dropFirst(5).prefix { !$0.isWhitespace }
            let parts = uid.split(separator: "-", omittingEmptySubsequences: false)
            guard parts.count == 6, CivilDate(iso: uid.dropFirst(4).prefix(10)) != nil,
                parts[4] == "inOffice" || parts[4] == "remote", parts[5].utf8.count == 8
            else { continue }
            return String(uid)
        }
        return nil
    }
}

extension Substring {
    fileprivate func isTextPrefixed(by text: String) -> Bool { utf8.starts(with: text.utf8) }
}
