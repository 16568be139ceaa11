// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import FoundationEssentials
import Outbound
import Synchronization

/// What the answers of calendar servers may take of this one, all together: memory while they arrive and are used, and
/// processor time while they are read. A viewer may name any host, so both are shared out by user and host.
package final class ForeignAnswers: Sendable {
    /// Documents from outside are read here, by at most half of the processors: whoever polls feeds comes first.
    static let threads = TurnThreads(width: max(1, ProcessInfo.processInfo.activeProcessorCount / 2), comesLast: true)

    /// The bytes of an answer that are not counted.
    static let free = 16 << 10
    /// The bytes of a document that is read where it is: to pass it on would take longer.
    static let small = 4 << 10
    /// How many bytes are counted for one of an answer: the answer, and the values that are made from it.
    static let factor = 4
    /// The bytes by which room is taken.
    private static let step = 256 << 10
    private static let pause = Duration.milliseconds(50)

    let memory: FairPool
    /// Questions to servers that people wait for: accounts, calendars, previews.
    let questions: FairPool
    /// Processes that read calendar objects at the same moment.
    private let objects: FairPool
    /// The processor time that a user's documents take: five seconds at once, then a quarter of one processor.
    private let processor = RateLimit(burst: 20, span: 1_000)
    private static let portion = 4
    private let patience: Duration
    private let now: Clock

    /// - Parameters:
    ///   - limit: the bytes of all answers together.
    ///   - patience: how long an answer waits for room.
    package init(limit: Int, patience: Duration = .seconds(5), now: @escaping Clock = systemClock) {
        let busy = "Many calendar servers are answering at this moment; ask again soon."
        memory = FairPool(FairPool.Size(bytes: limit), busy: busy)
        questions = FairPool(
            FairPool.Size(bytes: 0, slots: 24, slotsPerPerson: 2), busy: busy, of: "questions to calendar servers")
        objects = FairPool(FairPool.Size(bytes: 0, slots: 8), busy: busy)
        self.patience = patience
        self.now = now
    }

    /// Reads what a caller sent in their turn; little is read where it is, since to pass it on would take longer.
    static func inTurn<Value: Sendable>(
        of caller: ByteString, bytes: Int, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard bytes > small else { return try work() }
        return try await threads.run(for: caller, work)
    }

    /// Takes a place for a question; a person who has two under way waits for a moment until one of them is answered.
    func ask(_ sender: Sender) async throws -> FairPool.Holding {
        let end = ContinuousClock.now + patience
        while true {
            do throws(Refusal) { return try questions.enter(sender) } catch {
                guard error.kind == .tooMany, ContinuousClock.now < end else { throw error }
            }
            try await Task.sleep(for: Self.pause)
        }
    }

    /// Takes more room, waiting for it for a moment; throws `busy` if others hold too much, and `refused` if the user
    /// does.
    func take(_ count: Int, for holding: FairPool.Holding) async throws(ProviderFailure) {
        let end = ContinuousClock.now + patience
        while true {
            do throws(Refusal) { return try holding.grow(by: count) } catch {
                let isTooLarge = memory.bytes(of: holding.sender) + count > memory.size.bytes / 3
                guard ContinuousClock.now < end, !Task.isCancelled else { throw isTooLarge ? .tooLarge : .noRoom }
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Returns the memory to reserve for an answer of this many bytes, with the values made from it.
    static func counted(_ bytes: Int) -> Int {
        bytes <= free ? 0 : (bytes * factor + step - 1) / step * step
    }

    /// Reads a document in its sender's turn. Whoever has used up their processor time waits before that.
    ///
    /// - Parameter most: the longest such wait; throws `busy` if it would be longer.
    func read<Value: Sendable>(
        for sender: Sender, most: Duration, _ work: @escaping @Sendable () throws(ProviderFailure) -> Value
    ) async throws(ProviderFailure) -> Value {
        let wait = processor.wait(sender.caller, now: now())
        guard Duration.milliseconds(wait) <= most else { throw .busy(after: wait / 1000 + 1) }
        if wait > 0 { try? await Task.sleep(for: .milliseconds(wait)) }
        let read = try? await Self.threads.run(for: sender.caller) {
            let began = SystemThread.processorTime
            let value = Result { () throws(ProviderFailure) in try work() }
            return (value, SystemThread.processorTime - began)
        }
        guard let (value, time) = read else { throw .noRoom }
        processor.charge(sender.caller, Int(time / .milliseconds(1)) * Self.portion, now: now())
        return try value.get()
    }

    /// How long work waits for its turn in another process.
    private static let longestTurn = Duration.seconds(60)

    /// A sender's turn in which another process reads; its time counts like that of reading here.
    struct Permit: ~Copyable {
        fileprivate let slot: FairPool.Holding
        fileprivate let answers: ForeignAnswers
        private let began = ContinuousClock.now

        fileprivate init(_ slot: FairPool.Holding, _ answers: ForeignAnswers) {
            (self.slot, self.answers) = (slot, answers)
        }

        deinit {
            let time = Int((ContinuousClock.now - began) / .milliseconds(1))
            answers.processor.charge(slot.sender.caller, time * ForeignAnswers.portion, now: answers.now())
        }
    }

    /// Waits for a sender's turn; throws `busy` if it takes too long.
    func turn(for sender: Sender) async throws(ProviderFailure) -> Permit {
        let wait = processor.wait(sender.caller, now: now())
        guard Duration.milliseconds(wait) <= Self.longestTurn else { throw .busy(after: wait / 1000 + 1) }
        if wait > 0 { try? await Task.sleep(for: .milliseconds(wait)) }
        let end = ContinuousClock.now + Self.longestTurn
        while true {
            do throws(Refusal) { return Permit(try objects.enter(sender), self) } catch {
                guard ContinuousClock.now < end, !Task.isCancelled else { throw .noRoom }
            }
            try? await Task.sleep(for: Self.pause)
        }
    }
}

extension ProviderFailure {
    fileprivate static let noRoom = busy(after: 30)
    fileprivate static let tooLarge = ProviderFailure(
        .refused, "The calendar is too large to be kept in step here.", code: "too-large")

    fileprivate static func busy(after seconds: Int) -> ProviderFailure {
        ProviderFailure(
            .busy(retryAfter: seconds), "This server is busy with the answers of other calendars.", code: "busy")
    }
}
