// SPDX-License-Identifier: Apache-2.0

/// How an event repeats: rules, extra times and exceptions (RFC 5545 sections 3.8.5.1 to 3.8.5.3).
public struct Recurrence: Hashable, Sendable, Codable {
    public var rules: [RecurrenceRule]
    public var additions: [Addition]
    /// EXDATE: starts of occurrences that do not take place.
    public var exclusions: [EventTime]
    /// EXRULE of RFC 2445: read from old files and written out again, but never created.
    public var exclusionRules: [RecurrenceRule]

    /// One RDATE: a start, and an end of its own when it is a period.
    public struct Addition: Hashable, Sendable, Codable {
        public var start: EventTime
        public var end: Event.End?

        public init(start: EventTime, end: Event.End? = nil) {
            self.start = start
            self.end = end
        }
    }

    public init(
        rules: [RecurrenceRule] = [], additions: [Addition] = [], exclusions: [EventTime] = [],
        exclusionRules: [RecurrenceRule] = []
    ) {
        self.rules = rules
        self.additions = additions
        self.exclusions = exclusions
        self.exclusionRules = exclusionRules
    }

    public var isEmpty: Bool {
        rules.isEmpty && additions.isEmpty && exclusions.isEmpty && exclusionRules.isEmpty
    }
}
