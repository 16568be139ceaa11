// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Storage
import Synchronization
import Testing

/// A signal from one task to another.
private final class Flag: Sendable {
    private let state = Atomic(false)

    var isUp: Bool { state.load(ordering: .acquiring) }
    func raise() { state.store(true, ordering: .releasing) }
}

extension StoreConformance {
    static let concurrency: [StoreCheck] = [
        StoreCheck("A hundred writes at once take effect one after the other") { home async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await home.store.write { transaction in
                            let count = Int(try transaction.setting("count") ?? "0") ?? 0
                            try transaction.set("count", to: "\(count + 1)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await home.store.read { try $0.setting("count") } == "100")
        },
        StoreCheck("Two servers that write at once take effect one after the other") { home async throws in
            let stores = [home.store, try home.opened()]
            defer { try? stores[1].close() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        try await stores[number % 2].write { transaction in
                            let count = Int(try transaction.setting("count") ?? "0") ?? 0
                            try transaction.set("count", to: "\(count + 1)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            for store in stores { #expect(try await store.read { try $0.setting("count") } == "40") }
        },
        StoreCheck("Of several who use up one code at the same time, at two servers, one does") { home async throws in
            let stores = [home.store, try home.opened()]
            defer { try? stores[1].close() }
            let hash = String(repeating: "a", count: 64)
            try await home.store.write { transaction in
                _ = try transaction.beginSecondFactor(of: "ann", sealed: "s", now: 1)
                _ = try transaction.confirmSecondFactor(of: "ann", step: 1, now: 2)
                try transaction.putRecoveryCodes([hash], of: "ann")
            }
            func uses(_ use: @escaping @Sendable (any WriteTransaction) throws -> Bool) async throws -> Int {
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<6 { group.addTask { try await stores[number % 2].write(use) } }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
            }
            for step in 2..<8 { #expect(try await uses { try $0.useStep(step, ofSecondFactorOf: "ann") } == 1) }
            #expect(try await uses { try $0.useRecoveryCode(hash: hash, of: "ann") } == 1)
            #expect(try await uses { try $0.useStep(7, ofSecondFactorOf: "ann") } == 0)
        },
        StoreCheck("Of two who each look whether the other is there, one sees the other") { home async throws in
            // Write skew: with snapshots that are not serialized both would find nobody.
            let stores = [home.store, try home.opened()]
            defer { try? stores[1].close() }
            for round in 0..<10 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (index, store) in stores.enumerated() {
                        group.addTask {
                            let (own, other) = ("\(round)-\(index)", "\(round)-\(1 - index)")
                            try await store.write { transaction in
                                if try transaction.setting(other) == nil { try transaction.set(own, to: "here") }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                let here = try await home.store.read { transaction in
                    try [0, 1].filter { try transaction.setting("\(round)-\($0)") != nil }
                }
                #expect(here.count == 1, "round \(round)")
            }
        },
        StoreCheck("A read sees one moment, whatever is committed while it runs, and the next sees all of it") {
            home async throws in
            try await home.store.write { try $0.set("name", to: "before") }
            let (started, starting) = AsyncStream.makeStream(of: Void.self)
            let committed = DispatchSemaphore(value: 0)
            async let reading = home.store.read { transaction in
                defer { starting.finish() }
                let first = try transaction.setting("name")
                starting.finish()
                committed.wait()
                // For a run that comes again.
                committed.signal()
                return [first, try transaction.setting("name")]
            }
            for await _ in started {}
            do {
                defer { committed.signal() }
                try await home.store.write { try $0.set("name", to: "after") }
                #expect(try await home.store.read { try $0.setting("name") } == "after")
            }
            let seen = try await reading
            #expect(seen[0] == seen[1])
        },
        StoreCheck("Nobody sees half of a write") { home async throws in
            let done = Flag()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 1...30 {
                        try await home.store.write { transaction in
                            try transaction.set("left", to: "\(number)")
                            try transaction.set("right", to: "\(number)")
                        }
                    }
                    done.raise()
                }
                group.addTask {
                    while !done.isUp {
                        let pair = try await home.store.read { [try $0.setting("left"), try $0.setting("right")] }
                        #expect(pair[0] == pair[1])
                    }
                }
                try await group.waitForAll()
            }
        },
    ]

    static let numbering: [StoreCheck] = [
        StoreCheck("Changes of several writers are numbered without a gap, in all and in each circle") {
            home async throws in
            let stores = [home.store, try home.opened()]
            defer { try? stores[1].close() }
            let circles = ["a", "b", "c"]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        try await stores[number % 2].write { transaction in
                            for circle in circles.prefix(1 + number % 3) {
                                try transaction.note(.item, .updated, in: circle, id: "\(number)", now: number)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let changes = try await home.store.read { try $0.changes(afterSequence: 0, limit: 1000) }
            #expect(changes.map(\.sequence) == Array(1...120))
            for circle in circles {
                let numbers = changes.filter { $0.circleID == circle }.map(\.number)
                #expect(numbers == Array(1...max(1, numbers.count)))
            }
        },
        StoreCheck("Who has seen a change's number finds nothing below it later") { home async throws in
            let other = try home.opened()
            defer { try? other.close() }
            let done = Flag()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await withThrowingTaskGroup(of: Void.self) { writers in
                        for number in 0..<40 {
                            writers.addTask {
                                let store = number % 2 == 0 ? home.store : other
                                try await store.write { try $0.note(.circle, .updated, in: "c\(number % 5)", now: 1) }
                            }
                        }
                        try await writers.waitForAll()
                    }
                    done.raise()
                }
                group.addTask {
                    var seen: [Int] = []
                    var isLast = false
                    repeat {
                        isLast = done.isUp
                        let position = seen.last ?? 0
                        seen += try await home.store.read { try $0.changes(afterSequence: position, limit: 7) }.map(
                            \.sequence)
                    } while !isLast || seen.count < 40 && seen.last.map { $0 < 40 } ?? true
                    #expect(seen == Array(1...40))
                }
                try await group.waitForAll()
            }
        },
        StoreCheck("Changes without a place among all get one, in the order of each circle's numbers") {
            home async throws in
            try await home.store.write { transaction in
                for circle in ["b", "b", "b", "a", "a"] {
                    try transaction.note(.circle, .updated, in: circle, now: 1)
                }
                // As in a copy of a database that several servers share.
                try transaction.execute("UPDATE changes SET sequence = NULL WHERE number > 1", [])
            }
            for _ in 0..<2 {
                try await home.store.orderChanges()
                let changes = try await home.store.read { try $0.changes(afterSequence: 0, limit: 9) }
                #expect(changes.map(\.sequence) == [1, 4, 6, 7, 8])
                #expect(changes.map { "\($0.circleID)\($0.number)" } == ["b1", "a1", "a2", "b2", "b3"])
            }
        },
        StoreCheck("The audit trail of several writers is one chain") { home async throws in
            let stores = [home.store, try home.opened()]
            defer { try? stores[1].close() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        try await stores[number % 2].write { transaction in
                            let last = try transaction.auditEntryToFollow()
                            let next = (last?.number ?? 0) + 1
                            try transaction.insert(
                                AuditEntry(
                                    number: next, at: 1, actor: "host", action: "x", subject: "\(number)",
                                    circleID: nil, detail: "{}", previousHash: last?.hash ?? "-", hash: "h\(next)"))
                        }
                    }
                }
                try await group.waitForAll()
            }
            let trail = try await home.store.read { try $0.auditEntries(before: .max, in: nil, limit: 100) }
            #expect(trail.map(\.number) == Array((1...40).reversed()))
            #expect(trail.map(\.previousHash) == (0..<40).reversed().map { $0 == 0 ? "-" : "h\($0)" })
        },
        StoreCheck("Messages of a webhook are numbered in the order of their commits") { home async throws in
            let stores = [home.store, try home.opened()]
            defer { try? stores[1].close() }
            try await home.store.write { transaction in
                for id in ["w", "v"] { try transaction.putWebhook(Webhook.sample(id)) }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<30 {
                    group.addTask {
                        try await stores[number % 2].record { transaction in
                            try transaction.insertDelivery(
                                WebhookDelivery(
                                    id: "m\(number)", webhookID: number % 3 == 0 ? "v" : "w", circleID: "c",
                                    firstNumber: number, lastNumber: number, now: 1))
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await home.store.read { transaction throws in
                for (id, count) in [("w", 20), ("v", 10)] {
                    let ordinals = try transaction.deliveries(of: id, before: .max, limit: 100).map(\.ordinal)
                    #expect(ordinals == Array((1...count).reversed()))
                }
            }
            // A number is not given twice when the latest message is forgotten.
            try await home.store.record { transaction in
                let last = try transaction.deliveries(of: "v", before: .max, limit: 1)
                try transaction.deleteDeliveries(last.map(\.id))
                try transaction.insertDelivery(
                    WebhookDelivery(id: "n", webhookID: "v", circleID: "c", firstNumber: 1, lastNumber: 1, now: 1))
            }
            #expect(try await home.store.read { try $0.delivery("n")?.ordinal } == 11)
        },
    ]
}
