// SPDX-License-Identifier: Apache-2.0

/// What a calendar shows of an item that a host application schedules, whatever its kind.
public struct CareItem: Hashable, Sendable {
    public enum Status: Hashable, Sendable {
        case planned, tentative, completed, cancelled
    }

    /// Who is busy while the item lasts.
    public enum Availability: Hashable, Sendable {
        case free, busy
        /// Whoever does the item is busy, and nobody else.
        case busyForOwner
    }

    /// The category of its events (RFC 5545 section 3.8.1.2).
    public var category: String
    /// The text between the prefix of every title and the colon: `Shift` in "CK Shift: …", or nil.
    public var label: String?
    /// The parts of the title, joined by dashes.
    public var title: [String]
    /// Nil for something to do, whenever that is.
    public var span: TimeSpan?
    public var status = Status.planned
    public var availability: Availability
    /// Whether a program with task lists shows it as a to-do, due at its start.
    public var isToDo = false
    /// Whether a calendar app, which keeps to-dos apart from events, shows it as a to-do as well.
    public var isHandoff = false
    /// Minutes before the start; completed or cancelled items have no reminders.
    public var reminders: [Int] = []
    public var notes: String?
    public var location: String?
    /// Rules and times on the clock of the item's own zone.
    public var recurrence = Recurrence()
    /// The original start of the occurrence that this item replaces; nil for a whole series or a single item.
    public var recurrenceID: EventTime?

    public init(category: String, label: String?, title: [String], span: TimeSpan?, availability: Availability) {
        self.category = category
        self.label = label
        self.title = title
        self.span = span
        self.availability = availability
    }

    /// The prefix of the item's title in a calendar: "CK Shift: ".
    public func titleBeginning(_ style: CareStyle) -> String {
        "\(style.titlePrefix)\(label.map { " \($0)" } ?? ""): "
    }
}
