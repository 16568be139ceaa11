// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// The limits on imported events.
struct EventLimits: Sendable {
    /// Returns the limits that apply to a caller.
    func clamped(to caller: Identity, _ quotas: Quotas) -> EventLimits {
        var limits = self
        limits.circle = min(circle, quotas.clamped(to: caller).eventsPerCircle)
        return limits
    }

    /// Throws 409 if a circle's events have more bytes than they may, and there are more of them than before.
    func check(_ bytes: Int, added: Int) throws {
        guard added > 0, bytes > self.bytes else { return }
        throw Refusal.conflict(
            "The imported events of a circle may have at most \(self.bytes) bytes; with these they would have more.",
            code: .limitReached)
    }

    /// The maximum number of events in a circle, if that is less than the caller's quota, and in one calendar that it follows.
    var circle = Int.max
    var subscription = 200_000
    /// The maximum size in bytes of one event as it is stored, and of its UID.
    var event = 1 << 20
    static let uid = 2000
    /// The most changed occurrences of one series, and bytes of them: all are read, changed and removed together.
    var occurrences = Usage(count: 2000, bytes: Quotas.occurrenceBytesPerItem)
    /// The most bytes of all events of a circle as they are stored.
    var bytes = 256 << 20
}

/// Changes to a circle's imported events, written in many short transactions and published by one.
///
/// It must be used in the circle's turn (`CircleLock`). Nobody sees the changes until they are published; if the
/// process ends before that, they are discarded at the next start.
struct EventStaging: Sendable {
    typealias Piece = @Sendable (any WriteTransaction) throws -> Void

    /// The maximum number of rows and bytes that one statement writes.
    private static let most = (rows: 25, bytes: 256 << 10)

    let store: any Store
    /// The circle in the state on which the changes are based.
    let circle: Circle
    private var pieces: [Piece] = []
    private var bytes = 0
    private var writing: Task<Void, any Error>?
    private let writer = Writer()
    private var added: [ImportedEventRecord] = []
    private var addedBytes = 0
    private var ended: [ImportedEventRecord.Key] = []
    /// The to-dos that become tasks, in their stored form; nil for one that is no longer a task.
    private(set) var tasks: [(uid: String, content: String?)] = []
    private(set) var hasBegun = false
    /// The number of events by which each source grows.
    private(set) var growth: [EventSource: Int] = [:]
    /// The number of versions that begin or end.
    private(set) var count = 0

    init(_ circle: Circle, _ store: any Store) { (self.circle, self.store) = (circle, store) }

    /// Shows an event from the next epoch on, replacing the current version.
    mutating func put(_ event: ImportedEventRecord, replaces: Bool) {
        if replaces { end(event.key) }
        count += 1
        growth[event.source, default: 0] += 1
        if event.source == .tasks {
            if replaces { tasks.removeLast() }
            tasks.append((event.uid, event.content))
        }
        added.append(event)
        addedBytes += event.content.utf8.count + event.uid.utf8.count
        if added.count == Self.most.rows || addedBytes > Self.most.bytes { cutAdded() }
    }

    /// Stops showing an event from the next epoch on.
    mutating func end(_ key: ImportedEventRecord.Key) {
        count += 1
        growth[key.source, default: 0] -= 1
        if key.source == .tasks { tasks.append((key.uid.string, nil)) }
        ended.append(key)
        if ended.count == Self.most.rows { cutEnded() }
    }

    /// Adds something else to be written with the rest, which is not visible either.
    mutating func add(bytes count: Int, _ piece: @escaping Piece) {
        bytes += count
        pieces.append(piece)
    }

    private mutating func cutEnded() {
        let (keys, circle) = (ended, circle)
        guard !keys.isEmpty else { return }
        ended = []
        pieces.append { try $0.stageEnd(of: keys, in: circle) }
    }

    private mutating func cutAdded() {
        // A version ends before its successor is written, so that the two are never confused.
        cutEnded()
        let (events, circle) = (added, circle)
        guard !events.isEmpty else { return }
        bytes += addedBytes
        (added, addedBytes) = ([], 0)
        pieces.append { try $0.stage(events, in: circle) }
    }

    /// Whether there is enough to write: a little if nothing is being written, and otherwise as much as may wait.
    ///
    /// The more is written together, the fewer times a page of an index is written; but what waits when everything is decided is
    /// written while nothing else is left to do.
    var isFull: Bool {
        let few = pieces.count < 64 && bytes < 1 << 20
        return !few && (!writer.isBusy || pieces.count >= 256 || bytes >= 4 << 20)
    }

    /// Whether a task is writing.
    private final class Writer: Sendable {
        private let state = Atomic(false)

        var isBusy: Bool {
            get { state.load(ordering: .relaxed) }
            set { state.store(newValue, ordering: .relaxed) }
        }
    }

    /// Begins writing the gathered changes after earlier ones have been written; throws if writing those failed.
    mutating func write() async throws {
        cutAdded()
        cutEnded()
        guard !pieces.isEmpty else { return }
        var wanted = pieces
        (pieces, bytes) = ([], 0)
        if !hasBegun, count > 0 {
            hasBegun = true
            let circle = circle
            wanted.insert({ try $0.beginStaging(in: circle) }, at: 0)
        }
        try await writing?.value
        let (store, ready, writer) = (store, wanted, writer)
        writer.isBusy = true
        // The next events are decided while these are written.
        writing = Task {
            defer { writer.isBusy = false }
            try await store.stageInSteps(ready)
        }
    }

    /// Writes the rest, and waits until it is written.
    mutating func finish() async throws {
        try await write()
        try await writing?.value
    }

    /// Waits until no writing is under way.
    func settle() async { _ = await writing?.result }

    /// Discards what was written in the circle and not published, after any writing has succeeded or failed.
    func discard() async throws {
        await settle()
        try await Self.discard(in: circle.id, store)
    }

    /// Throws 409 if the circle, or a calendar that it follows, would exceed its limit of events.
    func check(_ sources: [EventSource: EventSourceState], _ limits: EventLimits) throws {
        var counts = sources.mapValues(\.events)
        for (source, change) in growth { counts[source, default: 0] += change }
        guard growth.values.contains(where: { $0 > 0 }) else { return }
        if counts.values.reduce(0, +) > limits.circle {
            throw Refusal.conflict(
                "A circle has at most \(limits.circle) imported events; with these it would have more.",
                code: .limitReached)
        }
        if growth.contains(where: {
            $0.key.isSubscription && $0.value > 0 && (counts[$0.key] ?? 0) > limits.subscription
        }) {
            throw Refusal.conflict(
                "A calendar that a circle follows has at most \(limits.subscription) events; this one has more.",
                code: .limitReached)
        }
    }

    /// Publishes everything at once, in the transaction that records the reason, and with it the tasks made from to-dos.
    ///
    /// - Parameters:
    ///   - limits: the circle may have no more bytes than these allow, if it gets more; nil for what was there before.
    ///   - writer: makes what writes the tasks, if there are any.
    func publish(
        in transaction: any WriteTransaction, within limits: EventLimits?, now: Int,
        tasks writer: () throws -> ScheduleWriter? = { nil }
    ) throws {
        guard hasBegun else { return }
        let (added, bytes) = try transaction.publishEvents(in: circle, growth, now: now)
        try limits?.check(bytes, added: added)
        guard !tasks.isEmpty, var writer = try writer() else { return }
        try writer.putTasks(of: tasks)
    }

    /// Discards what was written in a circle and not published.
    static func discard(in circle: String, _ store: any Store) async throws {
        guard try await store.read({ try $0.hasStagedEvents(in: circle) }) else { return }
        try await store.recordRepeatedly { transaction, size in
            try transaction.discardStaged(in: circle, limit: size)
        }
    }
}
