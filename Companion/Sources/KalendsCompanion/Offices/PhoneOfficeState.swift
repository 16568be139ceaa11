// SPDX-License-Identifier: Apache-2.0

public import Calendar
public import OfficeDays

/// The data of a person's office days, which is stored only on the phone.
public struct PhoneOfficeState: Hashable, Sendable, Codable {
    /// An event that was written.
    public struct Placed: Hashable, Sendable, Codable {
        public var key: EventKey
        /// The event as the calendar has it; if the calendar's differs, a person edited it.
        public var unit: EventUnit
        /// The event as it was written, before the calendar changed its form.
        public var meant: EventUnit
        public var uid: String
        public var isBusy: Bool
        /// When the event was first not found, in seconds since 1970.
        public var missingSince: Int?
    }

    public var log: OfficeLog
    /// The id of the chosen calendar; nil until the person chooses one.
    public var calendarID: String?
    public internal(set) var placed: [CivilDate: Placed] = [:]
    /// Events in the former calendar, which are removed after those in the new one are written.
    public internal(set) var leaving: [Placed] = []

    public init(log: OfficeLog, calendarID: String? = nil) {
        self.log = log
        self.calendarID = calendarID
    }
}

/// Stores a phone's office days.
public protocol PhoneOfficeMemory: Sendable {
    func load() async throws -> PhoneOfficeState?
    func save(_ state: PhoneOfficeState) async throws
}

/// The result of writing office days; it holds counts and no data of any event.
public struct PhoneOfficeReport: Hashable, Sendable {
    /// What prevents events from being written; a banner shows it.
    public var problem: OfficeProblem?
    public var created = 0
    public var updated = 0
    public var deleted = 0
    public var unchanged = 0
    public var failed = 0

    public init() {}

    public var writes: Int { created + updated + deleted }
}
