// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage
import Synchronization

@testable import CalendarSync
@testable import KalendsCore

/// A person's calendar in memory that behaves like a provider: etags, cursors, identities that stay taken.
final class MemoryCalendar: CalendarProvider {
    struct Stored: Sendable {
        var mark: EventMark?
        var entry: Entry
        /// The number of its last change; its etag follows from it.
        var change: Int
        var updatedAt: Instant
        var isLive = true
    }

    struct State: Sendable {
        var events: [ByteString: Stored] = [:]
        var change = 0
        var requests = 0
        var writes = 0
        /// The failures that the next requests meet, in order; nil for none.
        var failures: [ProviderFailure?] = []
        /// How many creates and updates are carried out although their answers are lost.
        var lostAnswers = 0
        var listsNothing = false
        var list = [RemoteCalendar(id: "cal", name: "cal")]
        var channels: [(id: String, address: String, secret: String)] = []
        var ended: [String] = []
    }

    let state = Mutex(State())
    private let clock: TestClock
    /// How many milliseconds a request takes.
    let slowness = Mutex(0)
    /// What it cannot keep of an entry.
    let limits = Mutex<@Sendable (Entry) -> [Limitation]>({ _ in [] })

    init(_ clock: TestClock) { self.clock = clock }

    private var now: Instant { Instant(milliseconds: clock.now) }

    // MARK: What a person does there, and sees

    var live: [ByteString: Stored] { state.withLock { $0.events.filter(\.value.isLive) } }
    var titles: [String] { live.values.map(\.entry.title).sorted() }
    var requests: Int { state.withLock { $0.requests } }
    var writes: Int { state.withLock { $0.writes } }

    /// The event of an item.
    func event(of item: String) -> Stored? { live.values.first { $0.mark?.item.id.isSameText(as: item) == true } }

    func add(_ entry: Entry) {
        state.withLock { state in
            state.change += 1
            state.events[ByteString("own-\(state.change)")] = Stored(
                mark: nil, entry: entry, change: state.change, updatedAt: now)
        }
    }

    func edit(_ item: String, _ body: (inout Entry) -> Void) {
        state.withLock { state in
            for (id, var stored) in state.events
            where stored.isLive && stored.mark?.item.id.isSameText(as: item) == true {
                body(&stored.entry)
                state.change += 1
                (stored.change, stored.updatedAt) = (state.change, now)
                state.events[id] = stored
            }
        }
    }

    func delete(_ items: some Sequence<String>) {
        state.withLock { state in
            let items = Set(items)
            for (id, var stored) in state.events where stored.mark.map({ items.contains($0.item.id) }) ?? false {
                stored.isLive = false
                state.change += 1
                (stored.change, stored.updatedAt) = (state.change, now)
                state.events[id] = stored
            }
        }
    }

    /// Takes the event of an item out of the bin.
    func restore(_ item: String) {
        state.withLock { state in
            for (id, var stored) in state.events where stored.mark?.item.id.isSameText(as: item) == true {
                stored.isLive = true
                state.change += 1
                (stored.change, stored.updatedAt) = (state.change, now)
                state.events[id] = stored
            }
        }
    }

    func fail(_ failures: ProviderFailure?...) { state.withLock { $0.failures = failures } }

    // MARK: CalendarProvider

    private func enter() async throws(ProviderFailure) {
        let time = slowness.withLock { $0 }
        if time > 0 { try? await Task.sleep(for: .milliseconds(time)) }
        let failure = state.withLock { state -> ProviderFailure? in
            state.requests += 1
            return state.failures.isEmpty ? nil : state.failures.removeFirst()
        }
        if let failure { throw failure }
    }

    private static func remote(_ id: ByteString, _ stored: Stored) -> RemoteEvent {
        RemoteEvent(
            id: id.string, etag: "\(stored.change)", mark: stored.mark, content: .entry(stored.entry),
            updatedAt: stored.updatedAt)
    }

    func calendars() async throws(ProviderFailure) -> [RemoteCalendar] {
        try await enter()
        return state.withLock { $0.list }
    }

    func createCalendar(named name: String, timeZone: String) async throws(ProviderFailure) -> RemoteCalendar {
        try await enter()
        return RemoteCalendar(id: "cal", name: name, isOurs: true)
    }

    func expressible(_ entry: Entry) -> (entry: Entry, limitations: [Limitation]) {
        (entry, limits.withLock { $0 }(entry))
    }

    func changes(
        in calendar: String, since cursor: String?, window: TimeRange, known: [ByteString: String]
    ) async throws(ProviderFailure) -> ChangeSet {
        try await enter()
        return state.withLock { state in
            let end = "\(state.change)"
            if let since = cursor.flatMap({ Int($0) }) {
                let changed = state.events.filter { $0.value.change > since }
                return ChangeSet(
                    changes: changed.map { $1.isLive ? .event(Self.remote($0, $1)) : .removed(id: $0.string) },
                    isFull: false, cursor: end)
            }
            let live = state.listsNothing ? [:] : state.events.filter(\.value.isLive)
            return ChangeSet(changes: live.map { .event(Self.remote($0, $1)) }, isFull: true, cursor: end)
        }
    }

    func look(at ids: [String], in calendar: String) async throws(ProviderFailure) -> [(id: String, look: RemoteLookup)]
    {
        try await enter()
        return state.withLock { state in
            ids.map { id in
                guard let stored = state.events[id], stored.isLive else { return (id, .gone) }
                return (id, .present(Self.remote(ByteString(id), stored)))
            }
        }
    }

    func find(_ marks: [EventMark], in calendar: String) async throws(ProviderFailure) -> [RemoteEvent] {
        try await enter()
        return state.withLock { state in
            state.events.filter { $0.value.isLive && $0.value.mark.map(marks.contains) ?? false }.map(Self.remote)
        }
    }

    func write(_ requests: [WriteRequest], in calendar: String) async -> [WriteAnswer] {
        do throws(ProviderFailure) {
            try await enter()
        } catch {
            return requests.map { _ in .failed(error) }
        }
        let now = now
        return state.withLock { state in
            requests.map { request in
                let answer = Self.carryOut(request, &state, now)
                guard state.lostAnswers > 0 else { return answer }
                state.lostAnswers -= 1
                return .failed(ProviderFailure(.unanswered, "No answer came."))
            }
        }
    }

    private static func carryOut(_ request: WriteRequest, _ state: inout State, _ now: Instant) -> WriteAnswer {
        func put(_ id: ByteString, _ mark: EventMark?, _ entry: Entry) -> WriteAnswer {
            state.change += 1
            state.writes += 1
            let stored = Stored(mark: mark, entry: entry, change: state.change, updatedAt: now)
            state.events[id] = stored
            return .written(remote(id, stored))
        }
        switch request.kind {
        case .create(let entry):
            let mark = request.mark
            let id = ByteString(
                "\(mark.connection)-\(mark.item.collection.rawValue)-\(mark.item.id)-\(mark.generation)")
            if let old = state.events[id] { return .taken(old.isLive ? remote(id, old) : nil) }
            return put(id, mark, entry)
        case .update(let id, let etag, _, let to):
            guard let stored = state.events[id], stored.isLive else { return .gone }
            guard etag.map({ $0.isSameText(as: "\(stored.change)") }) ?? true else { return .mismatch }
            return put(ByteString(id), stored.mark, to)
        case .delete(let id, let etag):
            guard var stored = state.events[id], stored.isLive else { return .deleted }
            guard etag.map({ $0.isSameText(as: "\(stored.change)") }) ?? true else { return .mismatch }
            stored.isLive = false
            state.change += 1
            state.writes += 1
            stored.change = state.change
            state.events[ByteString(id)] = stored
            return .deleted
        }
    }

    func watch(_ calendar: String, address: String, secret: String) async throws(ProviderFailure) -> WatchChannel? {
        try await enter()
        return state.withLock { state in
            let id = "channel-\(state.channels.count)"
            state.channels.append((id, address, secret))
            return WatchChannel(id: id, resourceID: "resource", expiresAt: now.adding(seconds: 86_400))
        }
    }

    func unwatch(_ channel: WatchChannel) async throws(ProviderFailure) {
        state.withLock { $0.ended.append(channel.id) }
    }
}

/// Opens calendars in memory in place of accounts: one for each connection, unless two share one.
final class MemoryCalendars: CalendarProviding {
    private let clock: TestClock
    private let known = Mutex<(all: [ByteString: MemoryCalendar], shared: MemoryCalendar?, dead: ProviderFailure?)>(
        ([:], nil, nil))
    let released = Mutex<[String]>([])

    init(_ clock: TestClock) { self.clock = clock }

    subscript(_ connection: String) -> MemoryCalendar {
        known.withLock { known in
            if let shared = known.shared { return shared }
            if let found = known.all[connection] { return found }
            let new = MemoryCalendar(clock)
            known.all[ByteString(connection)] = new
            return new
        }
    }

    /// Makes all connections use this one calendar from now on.
    func share(_ calendar: MemoryCalendar) { known.withLock { $0.shared = calendar } }

    /// Refuses to open any account from now on; nil ends that.
    func refuse(_ failure: ProviderFailure?) { known.withLock { $0.dead = failure } }

    func open(_ connection: Connection, isQuestion: Bool) async throws -> OpenedCalendar {
        if let dead = known.withLock({ $0.dead }) { throw dead }
        let calendar = self[connection.id]
        let before = calendar.requests
        return OpenedCalendar(provider: calendar) { calendar.requests - before }
    }

    func release(_ connection: Connection) async { released.withLock { $0.append(connection.id) } }
}
