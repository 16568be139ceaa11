// SPDX-License-Identifier: Apache-2.0

package import Base
import Synchronization

/// What one request holds of a budget; given back when nobody has the share any more.
package final class MemoryShare: Sendable {
    /// What a request may hold without being counted.
    package static let free = 64 << 10

    private let budget: MemoryBudget
    private let network: ByteString?
    private let held = Mutex(0)
    private let part = Mutex<SharedAnswers.Part?>(nil)
    private let other = Mutex<MemoryShare?>(nil)

    init(_ budget: MemoryBudget, network: ByteString? = nil) { (self.budget, self.network) = (budget, network) }

    deinit { budget.give(held.withLock { $0 }, of: network) }

    /// Makes the share at least this large, and waits for room if it has to; throws 503 when no room is left in time.
    package func hold(_ count: Int) async throws {
        let wanted = counted(count)
        let missing = wanted - held.withLock { $0 }
        guard missing > 0 else { return }
        try await budget.take(missing, for: network)
        held.withLock { $0 += missing }
    }

    /// Like `hold`, without waiting; false when there is no room.
    func holdNow(_ count: Int) -> Bool {
        held.withLock { held in
            let missing = counted(count) - held
            guard missing > 0 else { return true }
            guard budget.takeNow(missing, for: network) else { return false }
            held += missing
            return true
        }
    }

    /// As `hold`, for bytes that others may read at the same time.
    ///
    /// - Parameter name: what identifies the bytes.
    package func hold(_ count: Int, of shared: SharedAnswers, as name: ByteString) async throws {
        guard part.withLock({ $0 == nil }), other.withLock({ $0 == nil }) else { return }
        var own = shared.join(name)
        if own == nil {
            let common = MemoryShare(budget, network: network)
            try await common.hold(count)
            own = shared.add(name, common)
        }
        part.withLock { $0 = own }
    }

    /// Keeps another share that holds what is asked for already.
    package func rely(on other: MemoryShare) { self.other.withLock { $0 = other } }

    /// As `hold`, for what can be refused no more: nobody waits, and the budget may be exceeded.
    package func holdAnyway(_ count: Int) {
        let missing = held.withLock { held in
            let missing = max(0, counted(count) - held)
            held += missing
            return missing
        }
        budget.force(missing, for: network)
    }

    /// Gives back what is held beyond so many bytes.
    package func keep(_ count: Int) {
        let surplus = held.withLock { held in
            let surplus = max(0, held - counted(count))
            held -= surplus
            return surplus
        }
        budget.give(surplus, of: network)
    }

    private func counted(_ count: Int) -> Int { count <= Self.free ? 0 : budget.counted(count, for: network) }
}

/// The server's budgets.
package struct MemoryBudgets: Sendable {
    /// Bodies that are read.
    let bodies: MemoryBudget
    /// Documents made from bodies, until their request is handled.
    let documents: MemoryBudget
    /// Whole circles that something is made of: previews, exports, feeds in other forms.
    let circles: MemoryBudget
    /// Whole circles that connections are compared with, for as long as their provider takes: no reader waits for that.
    let runs: MemoryBudget
    /// Answers that are made, or that wait for their readers.
    let answers: MemoryBudget
    /// Feeds that their readers take: the bytes are there for all of them, and no list that waits keeps a feed waiting.
    package let feeds: MemoryBudget
    /// Texts of large circles, from before they are made until their readers have them: one after the other at worst.
    let texts: MemoryBudget
    /// Pages of lists, and whole circles, while they are made, so that others find a reader of the database free.
    let pages: MemoryBudget
    /// Answers that many readers take at once.
    package let shared = SharedAnswers()

    package init(_ limits: ConnectionLimits, width: Int) {
        pages = Self.pages(width)
        bodies = MemoryBudget(limit: limits.bodyMemory)
        documents = MemoryBudget(limit: limits.documentMemory)
        circles = MemoryBudget(limit: limits.circleMemory, patience: .seconds(10))
        runs = MemoryBudget(limit: limits.circleMemory, patience: .seconds(30))
        answers = MemoryBudget(limit: limits.answerMemory)
        feeds = MemoryBudget(limit: limits.feedMemory)
        texts = MemoryBudget(limit: limits.textMemory, patience: .seconds(10))
    }

    /// The most bytes of elements in one page of a list (contract: 4 MiB); a single element that is larger fills a page
    /// by itself.
    package static let mostPageBytes = 4 << 20

    private static func pages(_ width: Int) -> MemoryBudget {
        MemoryBudget(limit: width * mostPageBytes, patience: .seconds(10))
    }

    /// Whether so much is in use that slow readers have to hurry.
    package var isScarce: Bool { answers.isScarce || feeds.isScarce || texts.isAwaited }

    private init() {
        (bodies, documents) = (.unlimited, .unlimited)
        (circles, runs, answers, feeds) = (.unlimited, .unlimited, .unlimited, .unlimited)
        texts = .unlimited
        pages = Self.pages(2)
    }

    package static let unlimited = MemoryBudgets()
}

/// What a request holds: its body and document until it is handled, its answer until that is written.
package struct RequestMemory: Sendable {
    package let body: MemoryShare
    package let document: MemoryShare
    package let answer: MemoryShare
    package let feed: MemoryShare
    package let page: MemoryShare

    package init(_ budgets: MemoryBudgets, network: ByteString? = nil) {
        body = MemoryShare(budgets.bodies, network: network)
        document = MemoryShare(budgets.documents, network: network)
        answer = MemoryShare(budgets.answers, network: network)
        feed = MemoryShare(budgets.feeds, network: network)
        page = MemoryShare(budgets.pages)
    }
}
