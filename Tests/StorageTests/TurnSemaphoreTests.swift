// SPDX-License-Identifier: Apache-2.0

import Base
import Storage
import Synchronization
import Testing

@testable import StoragePostgreSQL

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
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await semaphore.with {
                    holder.add("held")
                    for await _ in letGo.stream {}
                }
            }
            try await Self.wait { !holder.all.isEmpty }
            for (number, name) in (Array(repeating: "greedy", count: 20) + ["other", "greedy"]).enumerated() {
                group.addTask {
                    await DatabaseCaller.$current.withValue(DatabaseCaller(ByteString(name))) {
                        await semaphore.with { order.add(name) }
                    }
                }
                try await Self.wait { semaphore.waiting == number + 1 }
            }
            letGo.continuation.finish()
            try await group.waitForAll()
        }
        #expect(order.all.count == 22 && order.all.prefix(2) == ["greedy", "other"])
        // The place is free again.
        await semaphore.with {}
        #expect(semaphore.waiting == 0)
    }

    private static func wait(until isSo: () -> Bool) async throws {
        while !isSo() { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test(
        "One more than a caller may have waits though places are free; others, and the server itself, take them",
        .timeLimit(.minutes(1)))
    func most() async throws {
        let (semaphore, order) = (TurnSemaphore(4, most: 2), Order())
        let ends = (0..<6).map { _ in AsyncStream.makeStream(of: Void.self) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, name) in ["ann", "ann", "ann", "ben", "", ""].enumerated() {
                let before = (order.all.count, semaphore.waiting)
                group.addTask {
                    await DatabaseCaller.$current.withValue(DatabaseCaller(ByteString(name))) {
                        await semaphore.with {
                            order.add("\(name)\(number)")
                            for await _ in ends[number].stream {}
                        }
                    }
                }
                try await Self.wait { (order.all.count, semaphore.waiting) != before }
            }
            #expect(order.all == ["ann0", "ann1", "ben3", "4"] && semaphore.waiting == 2)
            // The first who waits may not begin, and does not keep the next one from it.
            ends[3].continuation.finish()
            try await Self.wait { order.all.count == 5 }
            #expect(order.all.last == "5" && semaphore.waiting == 1)
            ends[0].continuation.finish()
            try await Self.wait { order.all.count == 6 }
            #expect(order.all.last == "ann2" && semaphore.waiting == 0)
            for end in ends { end.continuation.finish() }
            try await group.waitForAll()
        }
    }

    @Test("Of those who write to one circle of several servers each has a turn", .timeLimit(.minutes(1)))
    func circle() async throws {
        let (queue, order) = (CircleQueue(), Order())
        await queue.enter("c")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, name) in ["greedy", "greedy", "greedy", "other"].enumerated() {
                group.addTask {
                    await DatabaseCaller.$current.withValue(DatabaseCaller(ByteString(name))) {
                        await queue.enter("c")
                        order.add(name)
                        queue.leave("c")
                    }
                }
                try await Self.wait { queue.count(waitingFor: "c") == number + 1 }
            }
            // Another circle is free.
            await queue.enter("d")
            queue.leave("d")
            queue.leave("c")
            try await group.waitForAll()
        }
        #expect(order.all == ["greedy", "other", "greedy", "greedy"])
        await queue.enter("c")
        queue.leave("c")
    }
}
