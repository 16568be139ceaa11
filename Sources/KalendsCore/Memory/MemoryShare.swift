// SPDX-License-Identifier: Apache-2.0

package import Base
import Synchronization

/// The part of a budget that one request holds; it is given back when the last reference to the share is released.
package final class MemoryShare: Sendable {
    /// The bytes that a request may hold without being counted.
    package static let free = 64 << 10

    private let budget: MemoryBudget
    private let network: ByteString?
    private let held = Mutex(0)
    private let part = Mutex<SharedAnswers.Part?>(nil)
    private let other = Mutex<MemoryShare?>(nil)

    init(_ budget: MemoryBudget, network: ByteString? = nil) { (self.budget, self.network) = (budget, network) }

    deinit { budget.give(held.withLock { $0 }, of: network) }

    /// Makes the share at least this large, waiting for room if necessary; throws 503 if there is none in time.
    package func hold(_ count: Int) async throws {
        let wanted = counted(count)
        let missing = wanted - held.withLock { $0 }
        guard missing > 0 else { return }
        try await budget.take(missing, for: network)
        held.withLock { $0 += missing }
    }

    /// Like `hold`, without waiting; returns false if there is no room.
    package func holdNow(_ count: Int) -> Bool {
        held.withLock { held in
            let missing = counted(count) - held
            guard missing > 0 else { return true }
            guard budget.takeNow(missing, for: network) else { return false }
            held += missing
            return true
        }
    }

    /// Like `hold`, for bytes that others may read at the same time.
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

    /// Keeps a reference to another share, which already holds what this one needs.
    package func rely(on other: MemoryShare) { self.other.withLock { $0 = other } }

    /// Like `hold`, for bytes that can no longer be refused: it does not wait, and may exceed the budget.
    package func holdAnyway(_ count: Int) {
        let missing = held.withLock { held in
            let missing = max(0, counted(count) - held)
            held += missing
            return missing
        }
        budget.force(missing, for: network)
    }

    /// Gives back what is held beyond this number of bytes.
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
    /// Request bodies that are being read.
    let bodies: MemoryBudget
    /// Documents made from bodies, until their request is handled.
    let documents: MemoryBudget
    /// Whole circles that previews, exports and feeds in other formats are made from.
    let circles: MemoryBudget
    /// Whole circles that connections are compared with, held as long as the provider takes; no reader waits for this
    /// budget.
    let runs: MemoryBudget
    /// Answers that are being made or wait for their readers.
    let answers: MemoryBudget
    /// Feeds that are being sent: all readers share their bytes, and no list that waits holds up a feed.
    package let feeds: MemoryBudget
    /// Texts of large circles, from before they are made until their readers have them; at worst one at a time.
    let texts: MemoryBudget
    /// Pages of lists and whole circles while they are read, so that a reader of the database remains free for others.
    let pages: MemoryBudget
    /// Answers that many readers receive at once.
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

    /// The most bytes of elements on one page of a list (contract: 4 MiB); a larger element gets a page of its own.
    package static let mostPageBytes = 4 << 20

    private static func pages(_ width: Int) -> MemoryBudget {
        MemoryBudget(limit: width * mostPageBytes, patience: .seconds(10))
    }

    /// Whether so much is in use that slow readers must read faster.
    package var isScarce: Bool { answers.isScarce || feeds.isScarce || texts.isAwaited }

    private init() {
        (bodies, documents) = (.unlimited, .unlimited)
        (circles, runs, answers, feeds) = (.unlimited, .unlimited, .unlimited, .unlimited)
        texts = .unlimited
        pages = Self.pages(2)
    }

    package static let unlimited = MemoryBudgets()
}

/// The memory a request holds: its body and document until it is handled, its answer until that is written.
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
