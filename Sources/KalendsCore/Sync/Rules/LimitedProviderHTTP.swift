// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage
import Synchronization

/// The door through which everything comes that a provider answers to one run or one question.
///
/// Bytes take room as they arrive and give it back with the last value made from them, documents are read in turns, and
/// all of this is limited in time. Once room or time has run out, nothing more is sent.
final class LimitedProviderHTTP: ProviderHTTP {
    private struct State {
        var sent = 0
        /// How long answers have been slow, and when that was last looked at.
        var slow = Duration.zero
        var lookedAt = ContinuousClock.now
        var end: ProviderFailure?
    }

    /// How long a run may take; the next one continues it.
    static let timeOfRun = Duration.seconds(900)
    /// How long a question may take while a person waits for it.
    static let timeOfQuestion = Duration.seconds(90)
    /// After this time an answer is slow.
    private static let usual = Duration.milliseconds(500)
    /// How long answers may be slow while others wait.
    private let patience: Duration
    private static let pause = Duration.milliseconds(250)

    private let line: any ProviderLine
    private let answers: ForeignAnswers
    private let sender: Sender
    /// Holds what is kept until the account is closed.
    private let kept: FairPool.Holding
    private let end: ContinuousClock.Instant
    /// How many wait for what this run has taken; nil for a question.
    private let awaiting: (@Sendable () -> Int)?
    private let state = Mutex(State())

    init(
        _ line: any ProviderLine, _ answers: ForeignAnswers, for sender: Sender, time: Duration,
        patience: Duration = .seconds(4), awaiting: (@Sendable () -> Int)? = nil
    ) {
        (self.line, self.answers, self.sender, self.awaiting) = (line, answers, sender, awaiting)
        self.patience = patience
        kept = answers.memory.enterAlways(sender)
        end = .now + time
    }

    /// The number of requests sent.
    var count: Int { state.withLock { $0.sent } }

    func send(_ request: ProviderRequest) async throws(TransportFailure) -> ProviderAnswer {
        if let end = state.withLock({ $0.end }) { throw .ended(end) }
        guard ContinuousClock.now < end else { throw .ended(ended(.tooSlow)) }
        // Another server may do the run by now.
        do { try HeldLeases.check() } catch { throw .ended(ended(.leaseLost)) }
        state.withLock { $0.sent += 1 }
        let memory = ResponseMemory(answers.memory.enterAlways(sender), answers)
        var failure = TransportFailure.unanswered("The host did not answer in time.")
        switch await awaited({ [line] in
            await Self.result { () async throws(TransportFailure) in
                try await line.send(request) { await memory.admit($0) }
            }
        }) {
        case .success(var answer):
            answer.room = memory
            return answer
        case .failure(let other): failure = other
        case nil: memory.refuse(.givesWay)
        }
        guard let reason = memory.refusal else { throw failure }
        guard reason.isTransient else { throw .tooLong }
        // A request that changes something may have been carried out.
        throw request.isSafe ? .ended(ended(reason)) : failure == .tooLong ? .unanswered(reason.message) : failure
    }

    func work<Value: Sendable>(
        on bytes: Int?, _ work: @escaping @Sendable () throws(ProviderFailure) -> Value
    ) async throws(ProviderFailure) -> Value {
        guard let bytes else { return try await answers.read(for: sender, most: max(.zero, end - .now), work) }
        guard bytes > ForeignAnswers.small else { return try work() }
        let began = ContinuousClock.now
        let value = try await answers.read(for: sender, most: end - .now, work)
        state.withLock { $0.slow += max(.zero, .now - began - Self.usual) }
        if let awaiting, givesWay(to: awaiting()) { throw ended(.givesWay) }
        return value
    }

    func keep(_ bytes: Int) async throws(ProviderFailure) {
        guard bytes > 0 else { return }
        do throws(ProviderFailure) {
            try await answers.take(bytes, for: kept)
        } catch {
            throw ended(error)
        }
    }

    /// Remembers why nothing more is sent.
    private func ended(_ reason: ProviderFailure) -> ProviderFailure {
        state.withLock { state in
            state.end = state.end ?? reason
            return state.end ?? reason
        }
    }

    // MARK: Giving way

    private enum WaitOutcome: Sendable {
        case answered(Result<ProviderAnswer, TransportFailure>)
        case givesWay, cancelled
    }

    /// Waits for an answer; returns nil if it is slow while others wait.
    private func awaited(
        _ send: @escaping @Sendable () async -> Result<ProviderAnswer, TransportFailure>
    ) async -> Result<ProviderAnswer, TransportFailure>? {
        guard let awaiting else { return await send() }
        return await withTaskGroup(of: WaitOutcome.self) { group in
            group.addTask { .answered(await send()) }
            group.addTask { await self.watch(awaiting) }
            defer { group.cancelAll() }
            for await turn in group {
                switch turn {
                case .answered(let result): return result
                case .givesWay: return nil
                case .cancelled: continue
                }
            }
            return nil
        }
    }

    /// Whether a slow run ends because `others` runs wait for its slot; the more wait, the sooner it ends.
    private func givesWay(to others: Int) -> Bool {
        others > 0 && state.withLock(\.slow) > patience / (1 + others / 4)
    }

    private func watch(_ awaiting: @Sendable () -> Int) async -> WaitOutcome {
        let began = ContinuousClock.now
        while (try? await Task.sleep(for: Self.pause)) != nil {
            let now = ContinuousClock.now
            state.withLock { state in
                // Several answers that are slow at once are slow once.
                if now - began > Self.usual { state.slow += min(now - state.lookedAt, Self.pause * 2) }
                state.lookedAt = now
            }
            if givesWay(to: awaiting()) { return .givesWay }
        }
        return .cancelled
    }

    private static func result(
        _ work: () async throws(TransportFailure) -> ProviderAnswer
    ) async -> Result<ProviderAnswer, TransportFailure> {
        do throws(TransportFailure) { return .success(try await work()) } catch { return .failure(error) }
    }
}

/// The room of one answer: taken as its bytes arrive, given back with the last value that is made from it.
private final class ResponseMemory: Sendable {
    private let holding: FairPool.Holding
    private let answers: ForeignAnswers
    private let state = Mutex<(held: Int, refusal: ProviderFailure?)>((0, nil))

    init(_ holding: FairPool.Holding, _ answers: ForeignAnswers) { (self.holding, self.answers) = (holding, answers) }

    var refusal: ProviderFailure? { state.withLock { $0.refusal } }

    func refuse(_ reason: ProviderFailure) { state.withLock { $0.refusal = reason } }

    /// Reserves memory for that many bytes of the answer; returns false if too little is left.
    func admit(_ bytes: Int) async -> Bool {
        let (wanted, held) = (ForeignAnswers.counted(bytes), state.withLock { $0.held })
        guard wanted > held else { return true }
        do throws(ProviderFailure) {
            try await answers.take(wanted - held, for: holding)
            state.withLock { $0.held = wanted }
            return true
        } catch {
            refuse(error)
            return false
        }
    }
}

extension ProviderRequest {
    /// Whether it changes nothing at the provider (RFC 9110 section 9.2.1, RFC 4918 section 9.1, RFC 3253 section 3.6).
    var isSafe: Bool {
        ["GET", "HEAD", "OPTIONS", "PROPFIND", "REPORT"].contains { method.isSameText(as: $0) }
    }
}

extension ProviderFailure {
    fileprivate static let tooSlow = ProviderFailure(
        .unavailable(retryAfter: nil), "The provider is too slow: this took longer than it may.", code: "too-slow")
    fileprivate static let leaseLost = ProviderFailure(
        .busy(retryAfter: 5), "The server was cut off from its database; the next run continues this one.",
        code: "lease-lost")
    fileprivate static let givesWay = ProviderFailure(
        .busy(retryAfter: 30), "The provider is slow, and other calendars were waiting.", code: "gave-way")
}
