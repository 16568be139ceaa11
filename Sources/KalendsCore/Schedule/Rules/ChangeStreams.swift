// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization

/// The streams of changes that this server has open, and what wakes them.
///
/// One question for all, a few times a second while any is open, asks the database which circles changed, on whichever
/// server; only their streams are woken, and each reads on from its own number. So a stream that misses a wake-up, or is
/// opened between two questions, misses no change, and one that is woken for nothing sends nothing.
package final class ChangeStreams: Sendable {
    private struct Subscriber {
        let bell: StreamBell
        /// Nil for the changes of all circles.
        let circle: ByteString?
        let owner: ByteString
    }

    /// The changes that streams read together: those with the same rights to the same circle that have sent the same.
    private struct Question: Hashable {
        let circle: ByteString?
        let identity: Identity
        let number: Int
    }

    private struct Page {
        let question: Question
        let moment: Int
        let found: CircleChanges.Found
    }

    private struct State {
        var subscribers: [Int: Subscriber] = [:]
        var circles: [ByteString: Set<Int>] = [:]
        /// The streams of all circles.
        var everywhere: Set<Int> = []
        var owners: [ByteString: Int] = [:]
        var last = 0
        var watch: Task<Void, Never>?
        var isStopped = false
    }

    private let store: any Store
    private let state = Mutex(State())
    /// The reads of so few streams at once, so that those of thousands leave the database to others.
    private let lanes = KeyedLock<Int>()
    private static let laneCount = 2
    /// The latest read in each lane.
    private let latest = Mutex<[Int: Page]>([:])
    /// Counts wakes and reads together, so that it is known which of them was earlier.
    fileprivate let moments = Atomic(0)

    private static let pause = Duration.milliseconds(50)
    /// The number of pauses after which the database is asked, although this server noted no write.
    private static let patience = 4
    /// The number of pauses in a second, and the number of seconds after which a silent stream says that it is still
    /// open.
    private static let second = 20
    private static let silence = 15
    /// How many streams are woken in each pause, so that those of a circle that thousands watch leave room for others.
    private static let most = 400
    /// How many changes are looked at together.
    private static let page = 1_000

    init(_ store: any Store) { self.store = store }

    /// How many streams are open.
    package var count: Int { state.withLock { $0.subscribers.count } }

    /// Opens a stream; throws 429 when its owner has too many, and 503 when there are too many in all or the server
    /// stops.
    ///
    /// - Parameters:
    ///   - circle: nil for the changes of all circles.
    ///   - isBehind: whether there may be changes to read at once, before any that wakes the stream.
    package func open(
        circle: String?, for caller: Caller, _ quotas: Quotas, isBehind: Bool
    ) throws -> ChangeStream {
        let (bell, owner) = (StreamBell(isRung: isBehind, nextMoment()), ByteString(caller.actor.text))
        let (most, mostInAll) = (quotas.clamped(to: caller.identity).streamsPerUser, quotas.streams)
        let number = try state.withLock { state throws(Refusal) in
            guard !state.isStopped, state.subscribers.count < mostInAll else { throw Refusal.noStream }
            guard state.owners[owner, default: 0] < most else { throw Refusal.tooManyStreams(most) }
            state.last += 1
            let subscriber = Subscriber(bell: bell, circle: circle.map { ByteString($0) }, owner: owner)
            state.subscribers[state.last] = subscriber
            state.owners[owner, default: 0] += 1
            if let circle = subscriber.circle {
                state.circles[circle, default: []].insert(state.last)
            } else {
                state.everywhere.insert(state.last)
            }
            if state.watch == nil { state.watch = Task { await self.watch() } }
            return state.last
        }
        return ChangeStream(bell, number, circle: circle, of: self)
    }

    private func nextMoment() -> Int { moments.add(1, ordering: .relaxed).newValue }

    /// Returns the changes after a number, when the reads of other streams have left room.
    ///
    /// - Parameter moment: when the stream was woken: a page that another stream of the same caller has read since then is
    ///   used.
    fileprivate func changes(
        in circle: String?, after number: Int, limit: Int, from changes: CircleChanges, for caller: Caller,
        since moment: Int
    ) async throws -> CircleChanges.Found {
        // One that looks for few circles among all may look for long, and would keep a lane for as long.
        if circle == nil, caller.identity.bound != nil {
            return try await changes.list(in: nil, after: number, limit: limit, for: caller)
        }
        let question = Question(circle: circle.map { ByteString($0) }, identity: caller.identity, number: number)
        let lane = Int(UInt(bitPattern: question.circle.hashValue) % UInt(Self.laneCount))
        return try await lanes.alone(lane) {
            if let known = latest.withLock({ $0[lane] }), known.question == question, known.moment > moment {
                return known.found
            }
            let now = nextMoment()
            // Whoever waits for the lane does not wait for what this caller asks the database besides.
            let found = try await DatabaseCaller.$current.withValue(DatabaseCaller("streams")) {
                try await changes.list(in: circle, after: number, limit: limit, for: caller)
            }
            latest.withLock { $0[lane] = Page(question: question, moment: now, found: found) }
            return found
        }
    }

    fileprivate func leave(_ number: Int) {
        state.withLock { state in
            guard let subscriber = state.subscribers.removeValue(forKey: number) else { return }
            let left = state.owners[subscriber.owner, default: 1] - 1
            state.owners[subscriber.owner] = left > 0 ? left : nil
            state.everywhere.remove(number)
            guard let circle = subscriber.circle else { return }
            state.circles[circle]?.remove(number)
            if state.circles[circle]?.isEmpty == true { state.circles[circle] = nil }
        }
    }

    /// Ends all streams, and opens no others.
    package func stop() {
        let bells = state.withLock { state in
            state.isStopped = true
            return state.subscribers.values.map(\.bell)
        }
        for bell in bells { bell.end() }
    }

    /// Ends all streams, and waits until the database is asked no more.
    package func close() async {
        stop()
        let watch = state.withLock { $0.watch }
        watch?.cancel()
        await watch?.value
    }

    private func watch() async {
        var (position, seen, rounds): (Int?, UInt64, Int) = (nil, 0, 0)
        // Those that wait longest come first, however many follow.
        var (isBehind, due, known): (Bool, [Int], Set<Int>) = (false, [], [])
        while (try? await Task.sleep(for: Self.pause)) != nil {
            guard goesOn() else { return }
            rounds += 1
            let time = store.clock.now
            // A question that fails is asked again, from the same place.
            if time != seen || rounds % Self.patience == 0 || isBehind, let found = try? await look(after: position) {
                due += numbers(in: found.circles).filter { known.insert($0).inserted }
                (position, isBehind, seen) = (found.position, found.isBehind, time)
            }
            let woken = Array(due.prefix(Self.most))
            due.removeFirst(woken.count)
            known.subtract(woken)
            let moment = nextMoment()
            for bell in bells(woken) { bell.ring(moment) }
            if rounds % Self.second == 0 { for bell in bells(nil) { bell.pass(Self.silence) } }
        }
    }

    /// Whether any stream is open; the watch ends with the last one.
    private func goesOn() -> Bool {
        state.withLock { state in
            if state.subscribers.isEmpty { state.watch = nil }
            return !state.subscribers.isEmpty
        }
    }

    /// Returns the circles that changed after a place among all changes; nil for all circles at the beginning, when it
    /// is not known what streams have read.
    private func look(
        after position: Int?
    ) async throws -> (circles: Set<ByteString>?, position: Int, isBehind: Bool) {
        let page = Self.page
        try await store.orderChanges()
        return try await store.read { transaction in
            guard let position else { return (nil, try transaction.latestChange(), false) }
            let changes = try transaction.changes(afterSequence: position, limit: page)
            let circles = Set(changes.map { ByteString($0.circleID) })
            return (circles, changes.last?.sequence ?? position, changes.count == page)
        }
    }

    /// Returns the streams that show any of these circles.
    private func numbers(in circles: Set<ByteString>?) -> Set<Int> {
        state.withLock { state in
            guard let circles else { return Set(state.subscribers.keys) }
            if circles.isEmpty { return [] }
            var found = state.everywhere
            for circle in circles { found.formUnion(state.circles[circle] ?? []) }
            return found
        }
    }

    /// - Parameter numbers: nil for all.
    private func bells(_ numbers: [Int]?) -> [StreamBell] {
        state.withLock { state in
            numbers.map { $0.compactMap { state.subscribers[$0]?.bell } } ?? state.subscribers.values.map(\.bell)
        }
    }
}

/// A stream of changes that is open until this is gone.
package final class ChangeStream: Sendable {
    /// The event that a stream waits for.
    package enum Event: Sendable {
        /// There may be changes after its number.
        case changes
        /// Nothing was sent for 15 seconds.
        case silence
        /// The client has gone, or the server stops.
        case end
    }

    private let bell: StreamBell
    private let number: Int
    private let circle: String?
    private let streams: ChangeStreams

    fileprivate init(_ bell: StreamBell, _ number: Int, circle: String?, of streams: ChangeStreams) {
        (self.bell, self.number, self.circle, self.streams) = (bell, number, circle, streams)
    }

    deinit { streams.leave(number) }

    /// Waits for the next event.
    package func next() async -> Event { await bell.next() }

    /// Returns the changes after a number, with the caller's rights, when the reads of other streams have left room.
    package func changes(
        after number: Int, limit: Int, from changes: CircleChanges, for caller: Caller
    ) async throws -> CircleChanges.Found {
        try await streams.changes(
            in: circle, after: number, limit: limit, from: changes, for: caller, since: bell.moment)
    }

    /// Notes that something was sent: a stream is silent from then on.
    package func sent() { bell.sent() }

    /// Whether the stream has ended, so that nothing more is sent.
    package var hasEnded: Bool { bell.hasEnded }

    /// Ends the stream, because its client has gone.
    package func end() { bell.end() }
}

/// Wakes one stream.
private final class StreamBell: Sendable {
    private struct State {
        var isRung: Bool
        /// When it was rung.
        var moment: Int
        var isSilent = false
        var hasEnded = false
        /// The seconds since the stream last sent something.
        var seconds = 0
    }

    private let state: Mutex<State>
    private let (wakes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    init(isRung: Bool, _ moment: Int) { state = Mutex(State(isRung: isRung, moment: moment)) }

    var hasEnded: Bool { state.withLock(\.hasEnded) }
    var moment: Int { state.withLock(\.moment) }

    func ring(_ moment: Int) {
        state.withLock { ($0.isRung, $0.moment) = (true, moment) }
        continuation.yield()
    }

    /// Notes that a second has passed; after `most` seconds without a message the stream counts as silent.
    func pass(_ most: Int) {
        let isSilent = state.withLock { state in
            state.seconds += 1
            guard state.seconds >= most else { return false }
            (state.seconds, state.isSilent) = (0, true)
            return true
        }
        if isSilent { continuation.yield() }
    }

    func sent() { state.withLock { $0.seconds = 0 } }

    func end() {
        state.withLock { $0.hasEnded = true }
        continuation.finish()
    }

    func next() async -> ChangeStream.Event {
        while true {
            let event: ChangeStream.Event? = state.withLock { state in
                if state.hasEnded { return .end }
                // First, since a stream may be rung for changes that are not for it again and again.
                if state.isSilent {
                    state.isSilent = false
                    return .silence
                }
                defer { state.isRung = false }
                return state.isRung ? .changes : nil
            }
            if let event { return event }
            var wake = wakes.makeAsyncIterator()
            guard await wake.next() != nil else { return .end }
        }
    }
}

extension Refusal {
    fileprivate static let noStream = Refusal(
        .unavailable, code: .busy, detail: "The server can open no more streams now.", retryAfter: 5)

    fileprivate static func tooManyStreams(_ most: Int) -> Refusal {
        Refusal(
            .tooMany, detail: "You have \(most) streams open, which is the maximum. Close one.", retryAfter: 5)
    }
}
