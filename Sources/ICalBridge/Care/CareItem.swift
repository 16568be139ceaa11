// SPDX-License-Identifier: Apache-2.0

/// What a calendar shows of an item that a host application schedules, whatever its kind.
public struct CareItem: Hashable, Sendable {
    public enum Span: Hashable, Sendable {
        case timed(start: Instant, end: Instant)
        /// Whole days, the last one included.
        case days(first: CivilDate, last: CivilDate)
    }

    public enum Status: Hashable, Sendable {
        case planned, tentative, completed, cancelled
    }

    /// Who is busy while the item lasts.
    public enum Availability: Hashable, Sendable {
        case free, busy
        /// Whoever does it is busy, and nobody else.
        case busyForOwner
    }

    /// The category of its events (RFC 5545 section 3.8.1.2).
    public var category: String
    /// Stands between the prefix of every title and the colon: `Shift` in "CK Shift: …"; nil for nothing.
    public var label: String?
    /// Joined by dashes.
    public var title: [String]
    public var span: Span
    public var status = Status.planned
    public var availability: Availability
    /// Whether a program with task lists shows it as a to-do, due at its start.
    public var isToDo = false
    /// Minutes before the start; nobody is reminded of what is completed or cancelled.
    public var reminders: [Int] = []
    public var notes: String?
    public var location: String?
    /// On the clock of the item's own zone.
    public var recurrence = Recurrence()
    /// The original start that this replaces in its series, nil for the whole.
    public var recurrenceID: EventTime?

    public init(category: String, label: String?, title: [String], span: Span, availability: Availability) {
        self.category = category
        self.label = label
        self.title = title
        self.span = span
        self.availability = availability
    }
}

extension CareItem {
    /// What stands before its title in a calendar: "CK Shift: ".
    public func titleBeginning(_ style: CareStyle) -> String {
        "\(style.titlePrefix)\(label.map { " \($0)" } ?? ""): "
    }
}
