// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// Controls access to a device's calendars: a person opens it, and all reads and writes go through it.
///
/// Only the connector holds the store, so every read and write is checked here. Only `connect()` and
/// `connectToAddEvent()` request the permission, and both follow a person's tap.
public actor CalendarConnector {
    private let store: any CalendarStore
    private let memory: any ConnectorMemory
    private let installation: String
    private let counts: UsageCounts
    private let clear: @Sendable () async throws -> Void
    /// Whether the connection has ended here even though its record could not be removed.
    private var isEnded = false
    /// Increases when the connection ends, so that a read in progress returns nothing.
    private var turn = 0

    /// - Parameters:
    ///   - installation: the id of this installation of the app, stored where neither a backup nor a new installation
    ///     finds it.
    ///   - clear: removes all cached data of the calendars.
    public init(
        opening store: any CalendarStore, memory: any ConnectorMemory, installation: String,
        counts: UsageCounts = UsageCounts(), clear: @escaping @Sendable () async throws -> Void
    ) {
        self.store = store
        self.memory = memory
        self.installation = installation
        self.counts = counts
        self.clear = clear
    }

    /// The calendars, as far as the person allows access to them.
    public nonisolated var calendars: GuardedCalendarStore { GuardedCalendarStore(connector: self) }

    /// Returns the system's permission, whether connected or not.
    public func permission() async -> CalendarAuthorization { await store.authorization() }

    /// Returns the current status. If the permission was withdrawn, the connection ends.
    public func status() async -> ConnectorStatus {
        guard await record() != nil else { return .notConnected }
        guard await store.authorization() == .fullAccess else {
            try? await end()
            return .notConnected
        }
        // The connection may have ended since, even through another program.
        guard let record = await record() else { return .notConnected }
        return .connected(read: record.read, write: record.write)
    }

    /// Counts that the person opened the connector.
    public func opened() async { await counts.count(.connectorOpened) }

    /// Connects when the person taps “Connect Apple Calendar”.
    ///
    /// - Returns: the status, which is `notConnected` when the permission is missing.
    /// - Throws: when the connection could not be stored; then there is no connection.
    public func connect() async throws -> ConnectorStatus {
        await counts.count(.connectTapped)
        return try await connected(read: true, write: true)
    }

    /// Prepares for an event that the person adds. Without a connection, this requests the permission and connects for
    /// adding events.
    public func connectToAddEvent() async throws -> ConnectorStatus {
        let status = await status()
        return status.isConnected ? status : try await connected(read: false, write: true)
    }

    /// Applies a toggle that the person moved; does nothing without a connection.
    public func use(read: Bool? = nil, write: Bool? = nil) async throws -> ConnectorStatus {
        guard case .connected(let reads, let writes) = await status() else { return .notConnected }
        let (read, write) = (read ?? reads, write ?? writes)
        if reads && !read || writes && !write { turn += 1 }
        try await memory.save(ConnectorRecord(installation: installation, read: read, write: write))
        return await status()
    }

    /// Disconnects when the person taps “Disconnect Apple Calendar”. Reads and writes stop and cached data is removed,
    /// but the system's permission stays, since no app can give it back.
    ///
    /// - Throws: when something could not be removed; even then, reads and writes have stopped.
    public func disconnect() async throws {
        await counts.count(.disconnectTapped)
        var failure: (any Error)?
        do { try await end() } catch { failure = error }
        try await clear()
        if let failure { throw failure }
    }
}

extension CalendarConnector {
    /// Reads the record of this installation. It is read each time, because another program may have ended the
    /// connection; a record that cannot be read does not count as consent.
    private func record() async -> ConnectorRecord? {
        guard !isEnded, let found = try? await memory.load(), found.installation == installation else { return nil }
        return isEnded ? nil : found
    }

    private func connected(read: Bool, write: Bool) async throws -> ConnectorStatus {
        var permission = await store.authorization()
        // After a denial or restriction, another request would only be refused again.
        if permission == .notDetermined || permission == .writeOnly {
            permission = await store.requestAccess()
        }
        guard permission == .fullAccess else {
            await counts.count(.permissionDenied)
            return .notConnected
        }
        await counts.count(.permissionGranted)
        try await memory.save(ConnectorRecord(installation: installation, read: read, write: write))
        isEnded = false
        return await status()
    }

    private func end() async throws {
        turn += 1
        isEnded = true
        await store.rollback()
        try await memory.save(nil)
    }

    /// Opens the store for one use; the number is passed to `isStill`.
    fileprivate func admit(_ uses: Set<CalendarUse>) async throws(StoreFailure) -> (store: any CalendarStore, turn: Int)
    {
        let status = await status()
        guard uses.contains(where: status.allows) else { throw .notAuthorized }
        return (store, turn)
    }

    fileprivate func isStill(_ turn: Int) -> Bool { self.turn == turn }

    fileprivate func permissionInUse() async -> CalendarAuthorization {
        let status = await status()
        guard status.isConnected else { return .denied }
        return await store.authorization()
    }

    /// Returns the uses that the system permits and the person does not; all of them without a connection.
    fileprivate func switchedOff() async -> Set<CalendarUse> {
        let status = await status()
        guard await store.authorization() == .fullAccess else { return [] }
        return Set(CalendarUse.allCases.filter { !status.allows($0) })
    }

    /// Drops uncommitted changes, which is allowed at any time.
    fileprivate func rollback() async { await store.rollback() }

    fileprivate func notices() async -> AsyncStream<Void>? {
        await status().isConnected ? await store.changeNotices() : nil
    }
}

/// A store that checks with the connector before each read and write, and again before it returns what it read.
public struct GuardedCalendarStore: CalendarStore {
    fileprivate let connector: CalendarConnector

    /// Returns `denied` without a connection, whatever the system's permission is.
    public func authorization() async -> CalendarAuthorization { await connector.permissionInUse() }

    /// Never asks the person, since only a tap on the connector may do that.
    public func requestAccess() async -> CalendarAuthorization { await authorization() }

    public func switchedOff() async -> Set<CalendarUse> { await connector.switchedOff() }

    public func calendars() async throws(StoreFailure) -> [StoreCalendar] {
        try await perform([.read, .write]) { store throws(StoreFailure) in try await store.calendars() }
    }

    public func makeCalendar(titled title: String) async throws(StoreFailure) -> StoreCalendar {
        try await perform([.write]) { store throws(StoreFailure) in try await store.makeCalendar(titled: title) }
    }

    public func events(in window: TimeRange, calendars: [String]) async throws(StoreFailure) -> [StoreEvent] {
        try await perform([.read]) { store throws(StoreFailure) in
            try await store.events(in: window, calendars: calendars)
        }
    }

    public func occurrences(
        in window: TimeRange, calendars: [String]
    ) async throws(StoreFailure) -> [StoreOccurrence] {
        try await perform([.read]) { store throws(StoreFailure) in
            try await store.occurrences(in: window, calendars: calendars)
        }
    }

    public func events(externalID: String) async throws(StoreFailure) -> [StoreEvent] {
        try await perform([.read]) { store throws(StoreFailure) in try await store.events(externalID: externalID) }
    }

    public func event(localID: String) async throws(StoreFailure) -> StoreEvent? {
        try await perform([.read]) { store throws(StoreFailure) in try await store.event(localID: localID) }
    }

    public func save(_ draft: EventDraft) async throws(StoreFailure) -> SaveTicket {
        try await perform([.write]) { store throws(StoreFailure) in try await store.save(draft) }
    }

    public func remove(_ key: EventKey) async throws(StoreFailure) {
        try await perform([.write]) { store throws(StoreFailure) in try await store.remove(key) }
    }

    public func commit() async throws(StoreFailure) -> [SaveTicket: Result<StoreEvent, StoreFailure>] {
        try await perform([.write]) { store throws(StoreFailure) in try await store.commit() }
    }

    public func rollback() async { await connector.rollback() }

    /// Without a connection there are no notices, and the stream ends at once.
    public func changeNotices() async -> AsyncStream<Void> {
        await connector.notices() ?? AsyncStream { $0.finish() }
    }

    private func perform<Value: Sendable>(
        _ uses: Set<CalendarUse>, _ body: @Sendable (any CalendarStore) async throws(StoreFailure) -> Value
    ) async throws(StoreFailure) -> Value {
        let (store, turn) = try await connector.admit(uses)
        let value = try await body(store)
        guard await connector.isStill(turn) else { throw .notAuthorized }
        return value
    }
}
