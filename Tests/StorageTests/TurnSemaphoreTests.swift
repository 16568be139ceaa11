// SPDX-License-Identifier: Apache-2.0

import Base
import Storage
import Synchronization
import Testing

@Suite("Turns at the database")
struct TurnSemaphoreTests {
    private final class Order: Sendable {
        private let names = Mutex<[String]>([])
        var all: [String] { names.withLock { $0 } }
        func add(_ name: String) { names.withLock { $0.append(name) } }
    }

    @Test(
        "Whoever asks once waits for one request of each other caller, however many these have",
        .timeLimit(.minutes(1)))
    func turns() async throws {
        let (semaphore, order, holder) = (TurnSemaphore(1), Order(), Order())
        let letGo = AsyncStream.makeStream(of: Void.self)
        func wait(until isSo: () -> Bool) async throws {
            while !isSo() { try await Task.sleep(for: .milliseconds(1)) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await semaphore.with {
                    holder.add("held")
                    for await _ in letGo.stream {}
                }
            }
            try await wait { !holder.all.isEmpty }
            for (number, name) in (Array(repeating: "greedy", count: 20) + ["other", "greedy"]).enumerated() {
                group.addTask {
                    await DatabaseCaller.$current.withValue(DatabaseCaller(ByteString(name))) {
                        await semaphore.with { order.add(name) }
                    }
                }
                try await wait { semaphore.waiting == number + 1 }
            }
            letGo.continuation.finish()
            try await group.waitForAll()
        }
        #expect(order.all.count == 22 && order.all.prefix(2) == ["greedy", "other"])
        // The place is free again.
        await semaphore.with {}
        #expect(semaphore.waiting == 0)
    }
}
