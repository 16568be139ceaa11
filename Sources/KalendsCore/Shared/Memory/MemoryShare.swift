// SPDX-License-Identifier: Apache-2.0

package import Storage
import Synchronization

/// The part of a budget that one request holds; it is given back when the last reference to the share is released.
package final class MemoryShare: Sendable {
    /// The bytes that a request may hold without being counted.
    package static let free = 64 << 10

    private struct Usage {
        var network: ByteString?
        var count = 0
    }

    private let budget: MemoryBudget
    private let held: Mutex<Usage>
    private let part = Mutex<SharedAnswers.Part?>(nil)
    private let other = Mutex<MemoryShare?>(nil)

    init(_ budget: MemoryBudget, network: ByteString? = nil) {
        self.budget = budget
        held = Mutex(Usage(network: network))
    }

    deinit {
        let held = held.withLock { $0 }
        budget.give(held.count, of: held.network)
    }

    /// Another share of the same budget, for the same network.
    package func another() -> MemoryShare { MemoryShare(budget, network: held.withLock { $0.network }) }

    /// Counts the share for another network, once it is known who asks.
    package func belongs(to network: ByteString) {
        held.withLock { held in
            budget.move(held.count, of: held.network, to: network)
            held.network = network
        }
    }

    /// Makes the share at least this large, waiting for room if necessary; throws 503 if there is none in time.
    ///
    /// While it waits it keeps what it already holds. To rule out a deadlock, request all that is needed in one call,
    /// and only when nothing else remains to be waited for.
    package func hold(_ count: Int) async throws {
        let (missing, network) = held.withLock { (counted(count, $0) - $0.count, $0.network) }
        guard missing > 0 else { return }
        try await budget.take(missing, for: network)
        held.withLock { $0.count += missing }
    }

    /// Like `hold`, without waiting; returns false if there is no room.
    package func holdNow(_ count: Int) -> Bool { holdNow(count, budget.takeNow) }

    /// The room that a transaction needs and that is not free: it ends, waits for the room, and begins again.
    package struct Needed: Error {
        fileprivate let share: MemoryShare
        fileprivate let count: Int
    }

    /// Like `hold`, in a transaction, in which nobody can wait: throws `Needed` if there is no room.
    func need(_ count: Int) throws(Needed) { guard holdNow(count) else { throw Needed(share: self, count: count) } }

    /// Does work that needs room within a transaction, and starts it again each time that room becomes free; throws 503 if
    /// the wait for room takes too long.
    static func waiting<Value>(_ work: () async throws -> Value) async throws -> Value {
        while true {
            do { return try await work() } catch let needed as Needed { try await needed.share.hold(needed.count) }
        }
    }

    /// Like `holdNow`, and leaves something for others.
    package func growNow(to count: Int) -> Bool { holdNow(count, budget.takeLeaving) }

    private func holdNow(_ count: Int, _ take: (Int, ByteString?) -> Bool) -> Bool {
        held.withLock { held in
            let missing = counted(count, held) - held.count
            guard missing > 0 else { return true }
            guard take(missing, held.network) else { return false }
            held.count += missing
            return true
        }
    }

    /// Like `hold`, for bytes that others may read at the same time.
    ///
    /// - Parameters:
    ///   - name: what identifies the bytes.
    ///   - early: a share with what was held before the bytes were there; it counts if it belongs to the same budget.
    package func hold(
        _ count: Int, of shared: SharedAnswers, as name: ByteString, from early: MemoryShare? = nil
    ) async throws {
        guard part.withLock({ $0 == nil }), other.withLock({ $0 == nil }) else { return }
        var own = shared.join(name)
        if own == nil {
            let common = another()
            if let early, early.isOfBudget(of: self) { common.take(over: early) }
            try await common.hold(count)
            common.keep(count)
            own = shared.add(name, common)
        }
        part.withLock { $0 = own }
    }

    /// Whether both are parts of one budget.
    package func isOfBudget(of other: MemoryShare) -> Bool { budget === other.budget }

    /// Takes over what another share of the same budget holds, as far as this one's network may hold it.
    private func take(over other: MemoryShare) {
        let (count, network) = other.held.withLock { other in
            defer { other.count = 0 }
            return (other.count, other.network)
        }
        held.withLock { held in
            if budget.passOn(count, of: network, to: held.network) { held.count += count }
        }
    }

    /// Keeps a reference to another share, which already holds what this one needs.
    package func rely(on other: MemoryShare) { self.other.withLock { $0 = other } }

    /// Like `hold`, for bytes that can no longer be refused: it does not wait, and may exceed the budget.
    package func holdAnyway(_ count: Int) {
        held.withLock { held in
            let missing = max(0, counted(count, held) - held.count)
            held.count += missing
            budget.force(missing, for: held.network)
        }
    }

    /// Gives back what is held beyond this number of bytes.
    package func keep(_ count: Int) {
        held.withLock { held in
            let surplus = max(0, held.count - counted(count, held))
            held.count -= surplus
            budget.give(surplus, of: held.network)
        }
    }

    private func counted(_ count: Int, _ held: Usage) -> Int {
        count <= Self.free ? 0 : budget.counted(count, for: held.network)
    }
}

/// The server's budgets.
package struct MemoryBudgets: Sendable {
    /// Bodies, once they have arrived, with the documents made from them, until these are handled.
    let documents: MemoryBudget
    /// The same of bodies that are larger than those of most routes, so that others need not wait for them; at worst
    /// one at a time.
    let large: MemoryBudget
    /// Whole circles that previews, exports and feeds in other formats are made from.
    let circles: MemoryBudget
    /// Whole circles that connections are compared with, held as long as the provider takes; no reader waits for this
    /// budget.
    let runs: MemoryBudget
    /// Answers that are being made or wait for their readers.
    let answers: MemoryBudget
    /// Feeds that are being sent: all readers share their bytes, and no list that waits holds up a feed.
    package let feeds: MemoryBudget
    /// Texts of large circles while something is made from them; at worst one at a time.
    let texts: MemoryBudget
    /// Large resources that calendar apps change; one user's have three quarters of it.
    let edits: MemoryBudget
    /// Imports and followed calendars that are compared with what is stored; each lets others go first between its parts.
    let imports: MemoryBudget
    /// Large feeds in spools, from before they are made until their readers have them.
    let spooled: MemoryBudget
    /// Pages of lists and whole circles while they are read, so that a reader of the database remains free for others.
    /// Whoever has room here waits for nobody, so it is taken last.
    let pages: MemoryBudget
    /// Whole circles that are made into feeds, in turns of their own, so that a feed waits for no list.
    let renderings: MemoryBudget
    /// Answers that many readers receive at once.
    package let shared = SharedAnswers()

    package init(_ limits: ConnectionLimits, width: Int) {
        pages = Self.pages(width)
        renderings = Self.renderings(width)
        documents = MemoryBudget(limit: limits.documentMemory, patience: .seconds(30))
        large = MemoryBudget(limit: limits.largeMemory, ofOne: limits.largeMemory, patience: .seconds(300))
        circles = MemoryBudget(limit: limits.circleMemory, ofOne: limits.circleMemory, patience: .seconds(10))
        runs = MemoryBudget(limit: limits.circleMemory, patience: .seconds(30))
        answers = MemoryBudget(limit: limits.answerMemory)
        feeds = MemoryBudget(limit: limits.feedMemory)
        texts = MemoryBudget(limit: limits.textMemory, patience: .seconds(10))
        spooled = MemoryBudget(
            limit: limits.spooledFeeds, ofOne: limits.spooledFeeds / 4, patience: .seconds(10))
        edits = MemoryBudget(limit: limits.editMemory, ofOne: limits.editMemory / 4 * 3, patience: .seconds(10))
        imports = MemoryBudget(limit: limits.importMemory, ofOne: limits.importMemory, patience: .seconds(600))
    }

    /// The maximum number of bytes of elements on one page of a list (4 MiB); a larger element gets a page of its own.
    package static let mostPageBytes = 4 << 20

    /// What one import takes while it is compared with what is stored (16 MiB).
    static let mostOfImport = 16 << 20

    private static func pages(_ width: Int) -> MemoryBudget {
        MemoryBudget(
            limit: width * mostPageBytes, ofOne: max(1, width - 1) * mostPageBytes, patience: .seconds(10))
    }

    /// Returns a share for a large text: what is longer than one user's half is made one at a time.
    func text(of size: Int, for payer: String) -> MemoryShare {
        let payer = ByteString(payer)
        return MemoryShare(texts, network: texts.counted(size, for: payer) == size ? payer : nil)
    }

    private static func renderings(_ width: Int) -> MemoryBudget {
        MemoryBudget(limit: max(2, width - 1) * mostPageBytes, patience: .seconds(10))
    }

    /// Bytes in use, by purpose.
    var used: [(purpose: String, bytes: Int)] {
        [
            ("documents", documents), ("large", large), ("circles", circles), ("runs", runs), ("answers", answers),
            ("feeds", feeds), ("texts", texts), ("edits", edits), ("pages", pages), ("renderings", renderings),
            ("imports", imports), ("spooled", spooled),
        ].map { ($0.0, $0.1.used) }
    }

    /// Whether so much is in use that slow readers must read faster.
    package var isScarce: Bool { answers.isScarce || feeds.isScarce || texts.isAwaited || spooled.isAwaited }

    private init() {
        (documents, large) = (.unlimited, .unlimited)
        (circles, runs, answers, feeds) = (.unlimited, .unlimited, .unlimited, .unlimited)
        (texts, spooled, edits, imports) = (.unlimited, .unlimited, .unlimited, .unlimited)
        pages = Self.pages(2)
        renderings = Self.renderings(2)
    }

    package static let unlimited = MemoryBudgets()
}

/// The memory a request holds: its body's document until that is handled, its answer until that is written.
package struct RequestMemory: Sendable {
    package let document: MemoryShare
    package let large: MemoryShare
    package let answer: MemoryShare
    package let feed: MemoryShare
    /// What a change reads from a large resource.
    package let edit: MemoryShare
    /// The party that takes turns at the database for it.
    package let caller: DatabaseCaller

    package init(_ budgets: MemoryBudgets, network: ByteString? = nil) {
        document = MemoryShare(budgets.documents, network: network)
        large = MemoryShare(budgets.large, network: network)
        answer = MemoryShare(budgets.answers, network: network)
        feed = MemoryShare(budgets.feeds, network: network)
        edit = MemoryShare(budgets.edits, network: network)
        caller = DatabaseCaller(network ?? "")
    }

    /// Counts the request for its sender, once that is known.
    package func belongs(to sender: Sender) {
        for share in [document, large, answer, feed, edit] { share.belongs(to: sender.network) }
        caller.name = sender.caller
    }

    /// Gives everything back.
    package func letGo() { for share in [document, large, answer, feed, edit] { share.keep(0) } }

    /// Gives back what is held for the body.
    package func letGoOfBody() { for share in [document, large] { share.keep(0) } }
}
