// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import KalendsCompanion

@Suite("Companion: how long it waits") struct WaitingTests {
    @Test("The wait after failures doubles up to four hours, and at least half of it is certain")
    func doubles() {
        let policy = RetryPolicy()
        func wait(_ attempts: Int, _ share: Double) -> Int? {
            policy.wait(after: .offline, attempts: attempts, share: share)
        }
        #expect((1...4).map { wait($0, 1) } == [30, 60, 120, 240])
        #expect((1...4).map { wait($0, 0) } == [15, 30, 60, 120])
        #expect(wait(10, 1) == 4 * 3600 && wait(10, 0) == 2 * 3600)
        // Numbers that nobody should come with.
        #expect(wait(.max, 1) == 4 * 3600 && wait(0, 1) == 30 && wait(.min, 1) == 30)
        #expect(wait(3, 7) == 120 && wait(3, -7) == 60)
    }

    @Test("A server that asks for more time gets it, up to four hours; one that asks for less gets no earlier attempt")
    func asked() {
        let policy = RetryPolicy()
        #expect(policy.wait(after: .tooManyRequests(retryAfter: 900), attempts: 1, share: 0) == 900)
        #expect(policy.wait(after: .server(status: 503, retryAfter: 900), attempts: 1, share: 0) == 900)
        #expect(policy.wait(after: .server(status: 503, retryAfter: 1), attempts: 3, share: 1) == 120)
        #expect(policy.wait(after: .tooManyRequests(retryAfter: .max), attempts: 1, share: 0) == 4 * 3600)
        #expect(policy.wait(after: .tooManyRequests(retryAfter: -5), attempts: 1, share: 0) == 15)
    }

    @Test("What only a person can mend is not tried again, and everything else is")
    func person() {
        let policy = RetryPolicy()
        let mended: [CompanionFailure] = [.unauthorized, .forbidden, .refused(status: 422, code: "x")]
        for failure in mended { #expect(policy.wait(after: failure, attempts: 1, share: 0) == nil) }
        let passing: [CompanionFailure] = [
            .offline, .timedOut, .badAnswer, .cancelled, .server(status: 500, retryAfter: nil),
            .tooManyRequests(retryAfter: nil),
        ]
        for failure in passing { #expect(policy.wait(after: failure, attempts: 1, share: 0) == 15) }
    }
}

@Suite("Companion: many notices, one run") struct DebouncerTests {
    /// Waits that end when a test wants, and the number of runs.
    private actor Desk {
        private var waits: [Int: CheckedContinuation<Void, any Error>] = [:] { didSet { look() } }
        private var cancelled: Set<Int> = []
        private var next = 0
        private var gates: [CheckedContinuation<Void, Never>] = []
        private var watchers: [(isSo: @Sendable (isolated Desk) -> Bool, watcher: CheckedContinuation<Void, Never>)] =
            []
        var holdsRuns = false
        private(set) var runs = 0 { didSet { look() } }
        private(set) var asked: [Duration] = [] { didSet { look() } }

        func wait(_ duration: Duration) async throws {
            let number = next
            next += 1
            asked.append(duration)
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                    if cancelled.contains(number) {
                        continuation.resume(throwing: CancellationError())
                    } else {
                        waits[number] = continuation
                    }
                }
            } onCancel: {
                Task { await self.cancel(number) }
            }
        }

        private func cancel(_ number: Int) {
            cancelled.insert(number)
            waits.removeValue(forKey: number)?.resume(throwing: CancellationError())
        }

        func run() async {
            runs += 1
            guard holdsRuns else { return }
            await withCheckedContinuation { (gate: CheckedContinuation<Void, Never>) in gates.append(gate) }
        }

        func hold(_ holds: Bool) {
            holdsRuns = holds
            guard !holds else { return }
            for gate in gates { gate.resume() }
            gates = []
        }

        var waiting: Int { waits.count }

        /// Ends the quiet time; returns whether anybody waited for it.
        func pass() {
            for (_, continuation) in waits { continuation.resume() }
            waits = [:]
        }

        /// Returns once the condition holds.
        func until(_ isSo: @escaping @Sendable (isolated Desk) -> Bool) async {
            guard !isSo(self) else { return }
            await withCheckedContinuation { watchers.append((isSo, $0)) }
        }

        private func look() {
            let seen = watchers.filter { $0.isSo(self) }
            watchers.removeAll { $0.isSo(self) }
            for one in seen { one.watcher.resume() }
        }
    }

    private static func pair() -> (Desk, ChangeDebouncer) {
        let desk = Desk()
        return (desk, ChangeDebouncer(quiet: .seconds(2), wait: { try await desk.wait($0) }, run: { await desk.run() }))
    }

    @Test("A burst of notices is one run, after the quiet that follows the last of them")
    func burst() async {
        let (desk, debouncer) = Self.pair()
        for number in 1...20 {
            await debouncer.notice()
            await desk.until { $0.asked.count == number && $0.waiting == 1 }
        }
        #expect(await desk.runs == 0)
        await desk.pass()
        await desk.until { $0.runs == 1 }
        #expect(await desk.asked == Array(repeating: .seconds(2), count: 20))
        #expect(await desk.waiting == 0)
    }

    @Test("Notices during a run lead to one more run after it, never to two at once")
    func during() async {
        let (desk, debouncer) = Self.pair()
        await desk.hold(true)
        await debouncer.notice()
        await desk.until { $0.waiting == 1 }
        await desk.pass()
        await desk.until { $0.runs == 1 }
        for _ in 0..<3 {
            let before = await desk.asked.count
            await debouncer.notice()
            await desk.until { $0.asked.count == before + 1 && $0.waiting == 1 }
            await desk.pass()
            await desk.until { $0.waiting == 0 }
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(await desk.runs == 1)
        await desk.hold(false)
        await desk.until { $0.runs == 2 }
        for _ in 0..<100 { await Task.yield() }
        #expect(await desk.runs == 2)
    }

    @Test("It follows a stream of notices to its end")
    func follows() async {
        let (desk, debouncer) = Self.pair()
        let (notices, feed) = AsyncStream<Void>.makeStream()
        let following = Task { await debouncer.follow(notices) }
        for _ in 0..<3 { feed.yield() }
        await desk.until { $0.asked.count == 3 && $0.waiting == 1 }
        await desk.pass()
        await desk.until { $0.runs == 1 }
        feed.finish()
        await following.value
        #expect(await desk.runs == 1)
    }
}
