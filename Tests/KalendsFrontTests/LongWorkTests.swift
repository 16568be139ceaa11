// SPDX-License-Identifier: Apache-2.0

import Base
import Synchronization
import Testing

@testable import KalendsFront

@Suite("Threads for long work")
struct LongWorkTests {
    private final class Scene: Sendable {
        let order = Mutex<[String]>([])
        let blocked = Atomic(0)
        let gate = Semaphore()

        func block() {
            blocked.add(1, ordering: .relaxed)
            gate.wait()
        }

        func note(_ name: String) { order.withLock { $0.append(name) } }
    }

    @Test("However much one person asks, another one has a thread")
    func share() async throws {
        let (threads, scene) = (LongWork(width: 2), Scene())
        let many = (0..<20).map { _ in Task { try await threads.run(for: "ann", isPerson: true) { scene.block() } } }
        while scene.blocked.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(10)) }
        try await threads.run(for: "ben", isPerson: true) { scene.note("ben") }
        #expect(scene.order.withLock { $0 } == ["ben"] && scene.blocked.load(ordering: .relaxed) == 1)
        for _ in many { scene.gate.signal() }
        for task in many { try await task.value }
        #expect(scene.blocked.load(ordering: .relaxed) == 20)
        // The threads take work again that comes after they had none.
        try await threads.run(for: "ann", isPerson: true) { scene.note("ann") }
        #expect(scene.order.withLock { $0 } == ["ben", "ann"])
    }

    @Test("Between two waits of one sender's work, everybody else has a turn")
    func turns() async throws {
        let (threads, scene) = (LongWork(width: 1), Scene())
        let first = Task { try await threads.run(for: "x", isPerson: false) { scene.block() } }
        while scene.blocked.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(10)) }
        var tasks: [Task<Void, any Error>] = []
        for (number, name) in ["a1", "a2", "a3", "b1", "c1"].enumerated() {
            tasks.append(
                Task {
                    try await threads.run(for: ByteString(String(name.prefix(1))), isPerson: true) { scene.note(name) }
                })
            while threads.waiting <= number { try await Task.sleep(for: .milliseconds(1)) }
        }
        scene.gate.signal()
        for task in tasks + [first] { try await task.value }
        #expect(scene.order.withLock { $0 } == ["a1", "b1", "c1", "a2", "a3"])
    }
}
