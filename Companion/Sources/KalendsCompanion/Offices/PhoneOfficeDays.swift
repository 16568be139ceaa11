// SPDX-License-Identifier: Apache-2.0

public import Calendar
public import OfficeDays

/// Keeps office days on the phone only: takes visits and the person's own statements, and writes events to the phone's
/// calendar. No data leaves the phone.
///
/// Each call changes the log and then updates the calendar, which is compared with what was written before: an event
/// that a person edited is not changed any more, and a deleted one is not made again.
public actor PhoneOfficeDays {
    let store: any CalendarStore
    private let memory: any PhoneOfficeMemory
    let zones: Zones
    /// Seconds since 1970.
    let clock: @Sendable () -> Int
    private let seed: String
    private let holidays: Set<CivilDate>
    /// How many seconds an event has to be missing before it counts as deleted.
    let patience: Int
    let batch: Int
    /// Calls run one after another, since each of them reads and writes the same memory.
    private var last: Task<Void, Never>?

    /// - Parameter seed: a random text that nobody else has, for a new log.
    public init(
        store: any CalendarStore, memory: any PhoneOfficeMemory, zones: Zones, seed: String,
        holidays: Set<CivilDate> = [], patience: Int = 300, batch: Int = 50, clock: @escaping @Sendable () -> Int
    ) {
        self.store = store
        self.memory = memory
        self.zones = zones
        self.seed = seed
        self.holidays = holidays
        self.patience = patience
        self.batch = max(1, batch)
        self.clock = clock
    }

    private var context: OfficeContext {
        OfficeContext(fallbackZone: zones.device(), holidays: holidays, clock: zones.clock)
    }

    // MARK: Input of the person and the phone

    /// Chooses the calendar: events of today or later move there, and earlier ones stay.
    @discardableResult
    public func choose(calendar: String) async throws -> PhoneOfficeReport {
        let now = clock()
        return try await act { state, context in
            guard state.calendarID != calendar else { return }
            state.calendarID = calendar
            let today = state.log.today(now, context)
            for date in state.placed.keys where date >= today {
                if let old = state.placed.removeValue(forKey: date) { state.leaving.append(old) }
            }
        }
    }

    @discardableResult
    public func change(_ settings: OfficeSettings) async throws -> PhoneOfficeReport {
        let now = clock()
        return try await act { state, context in
            var settings = settings
            settings.target = .device
            _ = state.log.change(to: settings, now: now, context)
        }
    }

    @discardableResult
    public func put(_ visit: Visit) async throws -> PhoneOfficeReport {
        let now = clock()
        return try await act { _ = $0.log.put(visit, now: now, $1) }
    }

    @discardableResult
    public func removeVisit(_ id: String) async throws -> PhoneOfficeReport {
        let now = clock()
        return try await act { _ = $0.log.removeVisit(id, now: now, $1) }
    }

    /// Records a person's own statement about a day; nil removes it.
    @discardableResult
    public func say(_ status: DayStatus?, on date: CivilDate) async throws -> PhoneOfficeReport {
        let now = clock()
        return try await act { _ = $0.log.say(status, on: date, now: now, $1) }
    }

    /// Decides the days that have ended, and updates the calendar.
    @discardableResult
    public func advance() async throws -> PhoneOfficeReport {
        let now = clock()
        return try await act { _ = $0.log.advance(to: now, $1) }
    }

    /// Removes every managed event; events that a person edited stay.
    @discardableResult
    public func cleanUp() async throws -> PhoneOfficeReport { try await act { state, _ in _ = state.log.cleanUp() } }

    /// Returns the next two weeks as they will be without further visits.
    public func preview() async throws -> [OfficeDay] { try await current().log.preview(now: clock(), context) }

    public func days(_ dates: ClosedRange<CivilDate>) async throws -> [OfficeDay] {
        let (state, context) = (try await current(), context)
        return dates.map { state.log.day($0, context) }
    }

    private func current() async throws -> PhoneOfficeState {
        if let state = try await memory.load() { return state }
        return PhoneOfficeState(log: OfficeLog(seed: seed))
    }

    private func act(
        _ body: @escaping @Sendable (inout PhoneOfficeState, OfficeContext) -> Void
    ) async throws -> PhoneOfficeReport {
        let before = last
        let turn = Task {
            await before?.value
            return try await self.work(body)
        }
        last = Task { _ = try? await turn.value }
        return try await turn.value
    }

    private func work(_ body: (inout PhoneOfficeState, OfficeContext) -> Void) async throws -> PhoneOfficeReport {
        var state = try await current()
        var report = PhoneOfficeReport()
        // Edits in the calendar are detected before anything is written over them.
        do throws(StoreFailure) { try await look(&state) } catch { report.problem = await problem(error) }
        body(&state, context)
        try await memory.save(state)
        guard report.problem == nil, state.calendarID != nil else { return report }
        do throws(StoreFailure) { try await write(&state, &report) } catch { report.problem = await problem(error) }
        try await memory.save(state)
        return report
    }

    private func problem(_ failure: StoreFailure) async -> OfficeProblem? {
        switch failure {
        case .notAuthorized: await store.switchedOff().isEmpty ? .permissionRevoked : .switchedOff
        case .calendarGone: .calendarGone
        case .readOnly: .calendarReadOnly
        default: nil
        }
    }
}
