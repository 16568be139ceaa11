// SPDX-License-Identifier: Apache-2.0

/// A reminder of an event (RFC 5545 section 3.6.6, VALARM).
public struct Alarm: Hashable, Sendable, Codable {
    public enum Trigger: Hashable, Sendable, Codable {
        /// Relative to the start of the event; negative means before it.
        case relativeToStart(ICalDuration)
        /// Relative to the end of the event; negative means before it.
        case relativeToEnd(ICalDuration)
        case absolute(Instant)
    }

    public var trigger: Trigger
    /// `DISPLAY`, `AUDIO`, `EMAIL` or an extension, in upper case.
    public var action: String
    public var description: String?
    /// Properties that have no field here: REPEAT, DURATION, ATTACH, UID, ACKNOWLEDGED…
    public var otherProperties: [ContentLine]

    public init(
        trigger: Trigger, action: String = "DISPLAY", description: String? = nil, otherProperties: [ContentLine] = []
    ) {
        self.trigger = trigger
        self.action = action
        self.description = description
        self.otherProperties = otherProperties
    }

    /// The text with which it is written in an event with a title.
    ///
    /// A reminder that is shown or mailed needs one (RFC 5545 section 3.6.6), and Home Assistant refuses a whole
    /// calendar over one without; others may have none.
    public func text(for title: String?) -> String? {
        guard description == nil, action == "DISPLAY" || action == "EMAIL" else { return description }
        return title.flatMap { $0.isEmpty ? nil : $0 } ?? "Reminder"
    }
}
