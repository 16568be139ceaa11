// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import KalendsCore

@Suite("Room that is shared")
struct FairPoolTests {
    private static func user(_ id: String, _ network: String = "n") -> Sender {
        Sender(.user(id), narrowed: .user(id), network: network)
    }

    private static func hosts(_ id: String) -> Sender {
        Sender(.service(key: "k", scopes: nil), narrowed: .user(id), network: "h")
    }

    @Test("However many places one network takes, the next one gets in; a person has a few")
    func slots() throws {
        let pool = FairPool(FairPool.Size(bytes: 1, slots: 24, slotsPerPerson: 6), busy: "Full.")
        var held: [FairPool.Holding] = []
        while let slot = try? pool.enter(Self.user("ann")) { held.append(slot) }
        #expect(held.count == 6)
        let refused = #expect(throws: Refusal.self) { try pool.enter(Self.user("ann", "other")) }
        #expect(refused?.kind == .tooMany && refused?.retryAfter == 5)
        // More accounts get no more than the network's third.
        for number in 0..<100 { if let slot = try? pool.enter(Self.user("u\(number)")) { held.append(slot) } }
        #expect(held.count == 8)
        let full = #expect(throws: Refusal.self) { try pool.enter(Self.user("ben")) }
        #expect(full?.kind == .unavailable && full?.code == .busy)
        for network in ["a", "b", "c", "d"] { held.append(try pool.enter(Self.user("ben", network))) }
        // A host application's users are not one network, though one machine speaks for all of them.
        for number in 0..<4 { held.append(try pool.enter(Self.hosts("u\(number)"))) }
        held = []
        #expect(pool.slots == 0)
        held.append(try pool.enter(Self.user("ann")))
    }

    @Test("Uploads that hold as much as they can keep nobody out who brings a little")
    func bytes() throws {
        let mebibyte = 1 << 20
        let pool = FairPool(FairPool.Size(bytes: 256 * mebibyte, slots: 24, slotsPerPerson: 6), busy: "Full.")
        // Four uploads that are never done, of as many users as it takes.
        for users in [1, 2, 4] {
            var held: [FairPool.Holding] = []
            for number in 0..<4 {
                let slot = try pool.enter(Self.user("u\(number % users)", "n\(number % users)"))
                for _ in 0..<64 { try? slot.grow(by: mebibyte) }
                held.append(slot)
            }
            let mine = try pool.enter(Self.user("me", "mine"))
            for _ in 0..<8 { try mine.grow(by: mebibyte) }
            #expect(pool.bytes <= 256 * mebibyte)
        }
        #expect(pool.bytes == 0)
        let alone = try pool.enter(Self.user("me"))
        for _ in 0..<85 { try alone.grow(by: mebibyte) }
        #expect(throws: Refusal.self) { try alone.grow(by: mebibyte) }
    }

    @Test("What is counted to a network first is counted to the caller once that is known")
    func belonging() throws {
        let pool = FairPool(FairPool.Size(bytes: 100), busy: "Full.")
        let first = try pool.enter(Sender(network: "n"))
        try first.grow(by: 30)
        first.belongs(to: Self.hosts("ann"))
        let second = try pool.enter(Sender(network: "n"))
        try second.grow(by: 23)
        #expect(throws: Refusal.self) { try second.grow(by: 1) }
        #expect(pool.bytes == 53 && pool.slots == 2)
    }
}
