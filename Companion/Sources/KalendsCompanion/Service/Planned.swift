// SPDX-License-Identifier: Apache-2.0

/// The body of `planned_upsert`: titles, times and calendar names in a range, and nothing else.
public struct PlannedBody: Hashable, Sendable, Codable {
    public struct Event: Hashable, Sendable, Codable {
        public var externalID: String
        public var title: String
        /// RFC 3339, with the offset of the device's zone.
        public var startAt: String
        public var endAt: String
        public var isAllDay: Bool
        public var sourceCalendarName: String

        private enum CodingKeys: String, CodingKey {
            case externalID = "external_id"
            case title
            case startAt = "start_at"
            case endAt = "end_at"
            case isAllDay = "is_all_day"
            case sourceCalendarName = "source_calendar_name"
        }

        public init(
            externalID: String, title: String, startAt: String, endAt: String, isAllDay: Bool,
            sourceCalendarName: String
        ) {
            self.externalID = externalID
            self.title = title
            self.startAt = startAt
            self.endAt = endAt
            self.isAllDay = isAllDay
            self.sourceCalendarName = sourceCalendarName
        }
    }

    /// RFC 3339.
    public var rangeStart: String
    public var rangeEnd: String
    public var events: [Event]

    private enum CodingKeys: String, CodingKey {
        case rangeStart = "range_start"
        case rangeEnd = "range_end"
        case events
    }

    public init(rangeStart: String, rangeEnd: String, events: [Event]) {
        self.rangeStart = rangeStart
        self.rangeEnd = rangeEnd
        self.events = events
    }
}

public struct PlannedAnswer: Hashable, Sendable, Codable {
    public struct Failed: Hashable, Sendable, Codable {
        public var index: Int

        public init(index: Int) { self.index = index }
    }

    public var ok: Bool
    public var deleted: Int
    public var upserted: Int
    public var unchanged: Int
    public var failed: [Failed]

    public init(ok: Bool = true, deleted: Int, upserted: Int, unchanged: Int, failed: [Failed] = []) {
        self.ok = ok
        self.deleted = deleted
        self.upserted = upserted
        self.unchanged = unchanged
        self.failed = failed
    }
}
