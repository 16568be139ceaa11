// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import Synchronization
import Testing

@testable import Outbound

@Suite("Look-ups of names, in turns")
struct LookupsTests {
    /// Name servers, some of which do not answer until the test releases them.
    private final class Servers: Sendable {
        private let asked = Mutex<[String]>([])
        private let begun = Atomic(0)
        private let isLetGo = Atomic(false)

        var questions: [String] { asked.withLock { $0 } }

        /// Answers with the question; a name that begins with "silent" not before `letGo` or ten minutes.
        func answer(_ name: String) -> String {
            asked.withLock { $0.append(name) }
            let end = ContinuousClock.now + .seconds(600)
            while name.hasPrefix("silent"), !isLetGo.load(ordering: .acquiring), .now < end { usleep(1_000) }
            return name
        }

        /// How many have said that they are about to ask.
        var askers: Int { begun.load(ordering: .relaxed) }

        func noteAsker() { begun.add(1, ordering: .relaxed) }

        func letGo() { isLetGo.store(true, ordering: .releasing) }
    }

    /// Shorter than the name servers that say nothing.
    private static let patience = Duration.seconds(30)

    private static func ask(
        _ lookups: Lookups<String>, _ servers: Servers, _ name: String, for asker: String
    ) async throws -> String? {
        try await lookups.answer(to: ByteString(name), for: ByteString(asker)) { servers.answer(name) }
    }

    private static func eventually(_ condition: () -> Bool) async throws {
        for _ in 0..<2000 where !condition() { try await Task.sleep(for: .milliseconds(5)) }
        #expect(condition())
    }

    @Test("One asker has one question under way, and everybody else is answered at once")
    func turns() async throws {
        let (lookups, servers) = (Lookups<String>(width: 2, patience: Self.patience), Servers())
        let stuck = (0..<40).map { number in
            Task { try await Self.ask(lookups, servers, "silent\(number).example", for: "mal") }
        }
        try await Self.eventually { servers.questions.count == 1 }
        for number in 0..<10 {
            let name = "good\(number).example"
            #expect(try await Self.ask(lookups, servers, name, for: "ann") == name)
        }
        #expect(servers.questions.count { $0.hasPrefix("silent") } == 1)
        servers.letGo()
        for task in stuck { task.cancel() }
    }

    @Test("Whoever had slow answers asks on other threads, however many of them there are")
    func slow() async throws {
        // One thread for each of the two kinds.
        let lookups = Lookups<String>(width: 1, patience: Self.patience)
        // One slow answer may be the fault of the name servers that everybody asks.
        for _ in 0..<2 {
            let servers = Servers()
            let first = Task { try await Self.ask(lookups, servers, "silent.example", for: "mal") }
            try await Self.eventually { servers.questions.count == 1 }
            try await Task.sleep(for: .milliseconds(1_200))
            servers.letGo()
            #expect(try await first.value == "silent.example")
        }
        let others = Servers()
        let stuck = (0..<8).map { number in
            Task { try await Self.ask(lookups, others, "silent\(number).example", for: "mal") }
        }
        try await Self.eventually { others.questions.count == 1 }
        #expect(try await Self.ask(lookups, others, "good.example", for: "ann") == "good.example")
        others.letGo()
        for task in stuck { task.cancel() }
    }

    @Test("A name that several ask for is asked for once, in the first of their turns")
    func shared() async throws {
        let (lookups, servers) = (Lookups<String>(width: 2, patience: Self.patience), Servers())
        let blocked = Task { try await Self.ask(lookups, servers, "silent.example", for: "mal") }
        try await Self.eventually { servers.questions.count == 1 }
        // It waits for the turn of the first, who has another question under way, and has that of the second.
        let waiting = Task { try await Self.ask(lookups, servers, "good.example", for: "mal") }
        try await Task.sleep(for: .milliseconds(100))
        #expect(try await Self.ask(lookups, servers, "good.example", for: "ann") == "good.example")
        #expect(try await waiting.value == "good.example")
        let together = (0..<5).map { number in
            Task {
                servers.noteAsker()
                return try await Self.ask(lookups, servers, "silent.example", for: "user\(number)")
            }
        }
        try await Self.eventually { servers.askers == 5 }
        try await Task.sleep(for: .seconds(1))
        servers.letGo()
        for task in together + [blocked] { #expect(try await task.value == "silent.example") }
        #expect(servers.questions == ["silent.example", "good.example"])
    }

    @Test("A question that nobody waits for any more is not asked, and nobody waits for longer than they may")
    func gone() async throws {
        let (lookups, servers) = (Lookups<String>(width: 1, patience: .milliseconds(300)), Servers())
        #expect(try await Self.ask(lookups, servers, "silent.example", for: "mal") == nil)
        // The only thread still waits for the name servers.
        #expect(try await Self.ask(lookups, servers, "late.example", for: "ann") == nil)
        let left = Task { try await Self.ask(lookups, servers, "left.example", for: "ben") }
        try await Task.sleep(for: .milliseconds(50))
        left.cancel()
        await #expect(throws: CancellationError.self) { try await left.value }
        servers.letGo()
        try await Task.sleep(for: .milliseconds(50))
        #expect(try await Self.ask(lookups, servers, "good.example", for: "cleo") == "good.example")
        #expect(servers.questions == ["silent.example", "good.example"])
    }
}
