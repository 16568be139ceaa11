// SPDX-License-Identifier: Apache-2.0

import KalendsCompanion

/// A store that records each call; a test sets its permission.
actor SpyStore: CalendarStore {
    private(set) var calls: [String] = []
    private(set) var questions = 0
    var permission: CalendarAuthorization
    /// The person's answer when asked.
    var answer: CalendarAuthorization
    /// An action that runs in the middle of a read.
    var amidRead: (@Sendable () async -> Void)?

    init(_ permission: CalendarAuthorization, answer: CalendarAuthorization = .fullAccess) {
        self.permission = permission
        self.answer = answer
    }

    func set(_ permission: CalendarAuthorization) { self.permission = permission }
    func amidRead(_ body: @escaping @Sendable () async -> Void) { amidRead = body }
    func forget() { calls = [] }

    func authorization() -> CalendarAuthorization { permission }

    func requestAccess() -> CalendarAuthorization {
        questions += 1
        permission = answer
        return permission
    }

    func calendars() -> [StoreCalendar] {
        calls.append("calendars")
        return [StoreCalendar(id: "home", title: "Home", isDefault: true)]
    }

    func makeCalendar(titled title: String) -> StoreCalendar {
        calls.append("makeCalendar")
        return StoreCalendar(id: "new", title: title)
    }

    func events(in window: TimeRange, calendars: [String]) async -> [StoreEvent] {
        calls.append("events")
        await amidRead?()
        return []
    }

    func occurrences(in window: TimeRange, calendars: [String]) -> [StoreOccurrence] {
        calls.append("occurrences")
        return []
    }

    func events(externalID: String) -> [StoreEvent] {
        calls.append("externalID")
        return []
    }

    func event(localID: String) -> StoreEvent? {
        calls.append("localID")
        return nil
    }

    func save(_ draft: EventDraft) -> SaveTicket {
        calls.append("save")
        return SaveTicket(1)
    }

    func remove(_ key: EventKey) { calls.append("remove") }

    func commit() -> [SaveTicket: Result<StoreEvent, StoreFailure>] {
        calls.append("commit")
        return [:]
    }

    func rollback() { calls.append("rollback") }

    func changeNotices() -> AsyncStream<Void> {
        calls.append("changeNotices")
        return AsyncStream { $0.yield() }
    }
}

/// A connector's memory that a test can inspect.
actor SpyMemory: ConnectorMemory {
    private(set) var record: ConnectorRecord?
    init(_ record: ConnectorRecord? = nil) { self.record = record }
    func load() -> ConnectorRecord? { record }
    func save(_ record: ConnectorRecord?) { self.record = record }
}

/// Counts how often something happened.
actor Counter {
    private(set) var count = 0
    private(set) var notes: [String] = []
    func add() { count += 1 }
    func note(_ text: String) { notes.append(text) }
}
