// SPDX-License-Identifier: Apache-2.0

import Base
import Synchronization
import Testing

@testable import KalendsCore

@Suite("What requests hold together")
struct MemoryBudgetTests {
    private static func refused(_ body: () async throws -> Void) async -> Bool {
        do {
            try await body()
            return false
        } catch let refusal as Refusal {
            return refusal.kind == .unavailable && refusal.retryAfter != nil
        } catch {
            return false
        }
    }

    @Test("Room that is given back goes to those who wait, in order, and those who wait in vain are refused")
    func waiting() async throws {
        let budget = MemoryBudget(limit: 1000, patience: .milliseconds(200))
        try await budget.take(900, for: nil)
        #expect(await Self.refused { try await budget.take(200, for: nil) })
        #expect(budget.used == 900)
        let patient = MemoryBudget(limit: 1000, patience: .seconds(600))
        try await patient.take(900, for: nil)
        let first = Task { try await patient.take(800, for: nil) }
        while !patient.isScarce { try await Task.sleep(for: .milliseconds(1)) }
        try await Task.sleep(for: .milliseconds(50))
        // There is room for this one, but not before those that came earlier.
        #expect(!patient.takeNow(50, for: nil))
        patient.give(900, of: nil)
        try await first.value
        #expect(patient.used == 800)
        patient.give(800, of: nil)
        #expect(patient.used == 0 && !patient.isScarce)
    }

    @Test("One network has half of it, and keeps no other one waiting")
    func networks() async throws {
        let budget = MemoryBudget(limit: 1000, patience: .seconds(600))
        #expect(budget.takeNow(500, for: "a"))
        let more = Task { try await budget.take(100, for: "a") }
        while !budget.isScarce { try await Task.sleep(for: .milliseconds(1)) }
        try await budget.take(400, for: "b")
        #expect(budget.used == 900)
        more.cancel()
        await #expect(throws: CancellationError.self) { try await more.value }
        budget.give(500, of: "a")
        budget.give(400, of: "b")
        #expect(budget.used == 0)
    }

    @Test("One that waits for what its own network holds keeps nobody else waiting, however little is free")
    func ownFault() async throws {
        let budget = MemoryBudget(limit: 1000, patience: .seconds(600))
        #expect(budget.takeNow(500, for: "a") && budget.takeNow(100, for: "b"))
        // Less is free than it waits for.
        let more = Task { try await budget.take(500, for: "a") }
        while budget.waiting < 1 { try await Task.sleep(for: .milliseconds(1)) }
        try await budget.take(100, for: "c")
        #expect(budget.takeNow(100, for: "d"))
        #expect(budget.used == 800)
        budget.give(500, of: "a")
        try await more.value
        // Now others are in the way, so nobody passes.
        let last = Task { try await budget.take(400, for: "e") }
        while budget.waiting < 1 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(!budget.takeNow(50, for: "f"))
        budget.give(500, of: "a")
        try await last.value
        #expect(budget.used == 700)
    }

    @Test(
        "Networks take turns: one that asks often keeps another waiting for one turn, and only so many of its own wait")
    func turns() async throws {
        let budget = MemoryBudget(limit: 1000, ofOne: 1000, patience: .seconds(600))
        try await budget.take(1000, for: nil)
        let order = Order()
        var tasks: [Task<Void, any Error>] = []
        for network in Array(repeating: "much" as ByteString, count: 64) + ["little"] {
            if network == "little" {
                #expect(await Self.refused { try await budget.take(1000, for: "much") })
            }
            let waiting = budget.waiting
            tasks.append(
                Task {
                    try await budget.take(1000, for: network)
                    order.networks.withLock { $0.append(network) }
                    budget.give(1000, of: network)
                })
            while budget.waiting == waiting { try await Task.sleep(for: .milliseconds(1)) }
        }
        budget.give(1000, of: nil)
        for task in tasks { try await task.value }
        #expect(order.networks.withLock { $0.firstIndex(of: "little") } ?? 64 <= 2)
        #expect(budget.used == 0)
    }

    private final class Order: Sendable { let networks = Mutex<[ByteString]>([]) }

    @Test("What grows takes only a part of what is free, so that there is always something for the next")
    func growing() async throws {
        let budget = MemoryBudget(limit: 16 << 20)
        var shares: [MemoryShare] = []
        for number in 0..<5 {
            let share = MemoryShare(budget, network: ByteString("\(number)"))
            var size = MemoryShare.free
            while share.growNow(to: size + 4096) { size += 4096 }
            // The first gets a third, and each later one a third of what is left.
            #expect(size > 1 << 20)
            shares.append(share)
        }
        #expect(budget.used < 15 << 20)
        let share = shares[0]
        share.belongs(to: "other")
        #expect(!MemoryShare(budget, network: "other").growNow(to: 1 << 20))
        shares.removeAll()
        withExtendedLifetime(share) {}
    }

    @Test("A share gives back what it holds when nobody has it any more; what is small is not counted")
    func shares() async throws {
        let budget = MemoryBudget(limit: 4 << 20, patience: .milliseconds(100))
        do {
            let share = MemoryShare(budget, network: "a")
            try await share.hold(MemoryShare.free)
            #expect(budget.used == 0)
            try await share.hold(1 << 20)
            try await share.hold(1 << 19)
            #expect(budget.used == 1 << 20)
            share.keep(1 << 19)
            #expect(budget.used == 1 << 19)
            share.holdAnyway(3 << 20)
            // One may have half at most, and is counted with that: larger things would wait for ever.
            #expect(budget.used == 2 << 20)
            #expect(!MemoryShare(budget, network: "a").holdNow(1 << 20))
        }
        #expect(budget.used == 0)
    }

    @Test("Bytes that many read at a time are counted once, until the last has them")
    func shared() async throws {
        let (budget, shared) = (MemoryBudget(limit: 4 << 20), SharedAnswers())
        #expect(shared.join("tag") == nil)
        var parts: [SharedAnswers.Part] = []
        for _ in 0..<2 {
            let share = MemoryShare(budget)
            try await share.hold(1 << 20)
            // Two began at the same time.
            parts.append(shared.add("tag", share))
        }
        #expect(budget.used == 1 << 20)
        for _ in 0..<50 { parts.append(try #require(shared.join("tag"))) }
        #expect(budget.used == 1 << 20)
        parts.removeLast(51)
        #expect(budget.used == 1 << 20)
        parts.removeAll()
        #expect(budget.used == 0 && shared.join("tag") == nil)
    }

    @Test("Ten thousand takers at once leave nothing behind")
    func many() async throws {
        let budget = MemoryBudget(limit: 1 << 20, patience: .seconds(600))
        let peak = await withTaskGroup(of: Int.self) { group in
            for index in 0..<10_000 {
                group.addTask {
                    let network = ByteString("n\(index % 7)")
                    guard (try? await budget.take(1 << 16, for: network)) != nil else { return 0 }
                    let used = budget.used
                    await Task.yield()
                    budget.give(1 << 16, of: network)
                    return used
                }
            }
            return await group.reduce(0) { max($0, $1) }
        }
        #expect(peak <= 1 << 20 && peak > 0)
        #expect(budget.used == 0)
    }
}
