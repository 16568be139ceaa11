// SPDX-License-Identifier: Apache-2.0

public import OfficeDays

/// What a phone keeps of a person's office days. It is on the phone, and nowhere else.
public struct PhoneOfficeState: Hashable, Sendable, Codable {
    /// An event that was written.
    public struct Placed: Hashable, Sendable, Codable {
        public var key: EventKey
        /// The event as the calendar has it: another one is a person's edit.
        public var unit: EventUnit
        /// The event as it was meant, before the calendar made its own of it.
        public var meant: EventUnit
        public var uid: String
        public var isBusy: Bool
        /// When it was first not found, in seconds since 1970.
        public var missingSince: Int?
    }

    public var log: OfficeLog
    /// The id of the calendar that the person chose; nil until they did.
    public var calendarID: String?
    public internal(set) var placed: [OfficeDate: Placed] = [:]
    /// Events in a calendar that was chosen before, which go when those in the new one are there.
    public internal(set) var leaving: [Placed] = []

    public init(log: OfficeLog, calendarID: String? = nil) {
        self.log = log
        self.calendarID = calendarID
    }
}

/// Where a phone's office days are kept.
public protocol PhoneOfficeMemory: Sendable {
    func load() async throws -> PhoneOfficeState?
    func save(_ state: PhoneOfficeState) async throws
}

/// What came of writing office days. It counts, and holds nothing of any event.
public struct PhoneOfficeReport: Hashable, Sendable {
    /// What keeps events from being written; a banner shows it.
    public var problem: OfficeProblem?
    public var created = 0
    public var updated = 0
    public var deleted = 0
    public var unchanged = 0
    public var failed = 0

    public init() {}

    public var writes: Int { created + updated + deleted }
}
