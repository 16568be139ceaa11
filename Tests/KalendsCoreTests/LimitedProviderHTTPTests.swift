// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync
import Synchronization
import Testing

@testable import KalendsCore

/// A line that answers with bodies of a given length, which arrive in pieces.
private struct LongAnswers: ProviderLine {
    var length: Int
    /// Whether the end of the answer never comes.
    var hangs = false

    func send(
        _ request: ProviderRequest, admit: @escaping @Sendable (Int) async -> Bool
    ) async throws(TransportFailure) -> ProviderAnswer {
        for end in stride(from: 64 << 10, through: max(length, 64 << 10), by: 64 << 10) {
            guard await admit(min(end, length)) else { throw .tooLong }
        }
        while hangs, !Task.isCancelled { try? await Task.sleep(for: .seconds(600)) }
        guard !Task.isCancelled else { throw .unanswered("The host did not answer.") }
        return ProviderAnswer(status: 200, body: Array(repeating: 32, count: length))
    }
}

/// The order in which pieces of work are done, after one that is blocked until the gate opens.
private final class Scene: Sendable {
    let order = Mutex<[String]>([])
    let isBlocked = Atomic(false)
    let gate = Semaphore()

    func note(_ name: String) { order.withLock { $0.append(name) } }

    func block() {
        isBlocked.store(true, ordering: .sequentiallyConsistent)
        gate.wait()
    }
}

@Suite("What comes in from calendar servers")
struct LimitedProviderHTTPTests {
    private static let mib = 1 << 20
    private static let ann = Sender(user: "ann", host: "dav.example")

    private static func failure(
        _ door: LimitedProviderHTTP, _ method: String = "REPORT"
    ) async -> TransportFailure? {
        do throws(TransportFailure) {
            _ = try await door.send(ProviderRequest(method, "https://dav.example/"))
            return nil
        } catch {
            return error
        }
    }

    private static func kind(_ failure: TransportFailure?) -> ProviderFailure.Kind? {
        if case .ended(let reason)? = failure { reason.kind } else { nil }
    }

    @Test("One user's answers get a third of the room, another's what they need, and all of it is given back")
    func room() async throws {
        let answers = ForeignAnswers(limit: 48 * Self.mib, patience: .zero)
        func door(_ sender: Sender, _ length: Int) -> LimitedProviderHTTP {
            LimitedProviderHTTP(LongAnswers(length: length), answers, for: sender, time: .seconds(600))
        }
        do {
            // Four times its length is counted: the answer, and the values made from it.
            let first = try await door(Self.ann, 3 * Self.mib).send(ProviderRequest("GET", "https://dav.example/"))
            #expect(answers.memory.bytes == 12 * Self.mib && first.body.count == 3 * Self.mib)
            // What does not fit beside the user's own is too long, so that it is asked for in parts.
            for host: ByteString in ["dav.example", "b.example"] {
                #expect(await Self.failure(door(Sender(user: "ann", host: host), 3 * Self.mib)) == .tooLong)
            }
            // Another user of the same host is no way round. Nothing more is sent then.
            let second = door(Sender(user: "ben", host: "dav.example"), 3 * Self.mib)
            #expect(Self.kind(await Self.failure(second)) == .busy(retryAfter: 30))
            #expect(Self.kind(await Self.failure(second)) == .busy(retryAfter: 30) && second.count == 1)
            #expect(await Self.failure(door(Sender(user: "ben", host: "c.example"), 2 * Self.mib)) == nil)
            withExtendedLifetime(first) {}
        }
        #expect(answers.memory.bytes == 0 && answers.memory.slots == 0)
    }

    @Test("A write whose answer finds no room may have been carried out, and one answer that never fits is too long")
    func kinds() async throws {
        let answers = ForeignAnswers(limit: 48 * Self.mib, patience: .zero)
        let door = LimitedProviderHTTP(LongAnswers(length: Self.mib), answers, for: Self.ann, time: .seconds(600))
        do {
            let full = answers.memory.enterAlways(Sender(user: "ben", host: "dav.example"))
            try full.grow(by: 15 * Self.mib)
            guard case .unanswered? = await Self.failure(door, "PUT") else {
                Issue.record("The write counts as not done.")
                return
            }
            withExtendedLifetime(full) {}
        }
        let long = LimitedProviderHTTP(LongAnswers(length: 5 * Self.mib), answers, for: Self.ann, time: .seconds(600))
        #expect(await Self.failure(long) == .tooLong)
    }

    @Test("What is kept over several answers is counted until the account is closed")
    func kept() async throws {
        let answers = ForeignAnswers(limit: 48 * Self.mib, patience: .zero)
        do {
            let door = LimitedProviderHTTP(LongAnswers(length: 0), answers, for: Self.ann, time: .seconds(600))
            for _ in 0..<15 { try await door.keep(Self.mib) }
            #expect(answers.memory.bytes == 15 * Self.mib)
            let failure = await #expect(throws: ProviderFailure.self) { try await door.keep(2 * Self.mib) }
            #expect(failure?.code == "too-large")
        }
        #expect(answers.memory.bytes == 0)
    }

    @Test("A run with a slow provider gives way to others that wait, and to nobody else")
    func givingWay() async throws {
        let answers = ForeignAnswers(limit: 48 * Self.mib)
        let isAwaited = Atomic(false)
        let door = LimitedProviderHTTP(
            LongAnswers(length: 0, hangs: true), answers, for: Self.ann, time: .seconds(600), patience: .zero
        ) { isAwaited.load(ordering: .relaxed) ? 1 : 0 }
        let run = Task { await Self.failure(door) }
        try await Task.sleep(for: .seconds(2))
        #expect(door.count == 1 && answers.memory.slots > 1)
        isAwaited.store(true, ordering: .relaxed)
        #expect(Self.kind(await run.value) == .busy(retryAfter: 30))
        let late = LimitedProviderHTTP(LongAnswers(length: 0), answers, for: Self.ann, time: .zero)
        #expect(Self.kind(await Self.failure(late)) == .unavailable(retryAfter: nil) && late.count == 0)
    }

    @Test("Whoever has many documents to read waits after each of them for one of everybody else's")
    func turns() async throws {
        let (threads, scene) = (TurnThreads(width: 1), Scene())
        let blocked = Task { try await threads.run(for: "x") { scene.block() } }
        while !scene.isBlocked.load(ordering: .sequentiallyConsistent) { await Task.yield() }
        var tasks: [Task<Void, any Error>] = []
        for (number, name) in ["a1", "a2", "a3", "b1", "c1"].enumerated() {
            tasks.append(Task { try await threads.run(for: ByteString(String(name.prefix(1)))) { scene.note(name) } })
            while threads.waitingCount <= number { await Task.yield() }
        }
        scene.gate.signal()
        for task in tasks + [blocked] { try await task.value }
        #expect(scene.order.withLock { $0 } == ["a1", "b1", "c1", "a2", "a3"])
    }

    @Test("Processor time that is used up comes back with time, and a third question at once is refused")
    func processorTime() throws {
        let limit = RateLimit(burst: 20, span: 1_000)
        limit.charge("ann", 30_000, now: 0)
        #expect(limit.wait("ann", now: 0) == 11_000 && limit.wait("ann", now: 10_999) == 1)
        #expect(limit.wait("ann", now: 11_000) == 0 && limit.wait("ben", now: 0) == 0)
        let answers = ForeignAnswers(limit: Self.mib)
        let slots = try (0..<2).map { _ in try answers.questions.enter(Self.ann) }
        let refusal = #expect(throws: Refusal.self) { try answers.questions.enter(Self.ann) }
        #expect(refusal?.kind == .tooMany && refusal?.retryAfter != nil)
        #expect(throws: Never.self) { try answers.questions.enter(Sender(user: "ben", host: "dav.example")) }
        withExtendedLifetime(slots) {}
    }
}
