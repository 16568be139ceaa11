// SPDX-License-Identifier: Apache-2.0

import Storage
import Synchronization
import Testing

@testable import KalendsCore

@Suite("Room for the reports of calendar apps")
struct ReportLimiterTests {
    private static func user(_ id: String, _ network: String = "n") -> Sender {
        Sender(.user(id), narrowed: .user(id), network: network)
    }

    private static func refusal(_ room: ReportLimiter, _ sender: Sender) async -> Refusal? {
        do {
            _ = try await room.enter(sender)
            return nil
        } catch {
            return error as? Refusal
        }
    }

    @Test("A person has a few places; one more waits, and is asked to come again if none is given back")
    func places() async throws {
        var limits = ConnectionLimits()
        limits.reportPatience = .zero
        let room = ReportLimiter(limits) { 0 }
        var held: [ReportLimiter.Place] = []
        for _ in 0..<limits.reportsOfAPerson { held.append(try await room.enter(Self.user("ann"))) }
        let refused = try #require(await Self.refusal(room, Self.user("ann", "elsewhere")))
        #expect(refused.kind == .unavailable && refused.code == .busy && refused.retryAfter == 5)
        held.append(try await room.enter(Self.user("ben")))
        // However many people ask from one network, others get in.
        for number in 0..<200 { if let place = try? await room.enter(Self.user("u\(number)")) { held.append(place) } }
        held.append(try await room.enter(Self.user("eve", "other")))
        #expect(held.count < limits.reports)
        held = []
        #expect(room.taken == 0)

        limits.reportPatience = .seconds(600)
        limits.reportsOfAPerson = 1
        let patient = ReportLimiter(limits) { 0 }
        let first = Mutex<ReportLimiter.Place?>(try await patient.enter(Self.user("ann")))
        let second = Task { try await patient.enter(Self.user("ann")) }
        try await Task.sleep(for: .milliseconds(200))
        first.withLock { $0 = nil }
        let place = try await second.value
        withExtendedLifetime(place) { #expect(patient.taken == 1) }
    }

    @Test("Processor time is counted for a report and for its sender, who gets half of a processor in the long run")
    func time() async throws {
        var limits = ConnectionLimits()
        limits.reportTime = .milliseconds(20)
        limits.reportBytes = 1000
        let now = Mutex(0)
        let room = ReportLimiter(limits) { now.withLock { $0 } }
        func work(_ time: Duration) {
            let end = SystemThread.processorTime + time
            while SystemThread.processorTime < end {}
        }
        // What is read for it counts, too.
        let caller = DatabaseCaller("ann")
        caller.count { work(.milliseconds(25)) }
        try await DatabaseCaller.$current.withValue(caller) {
            let place = try await room.enter(Self.user("dan"))
            #expect(!place.isUsedUp)
            caller.count { work(.milliseconds(25)) }
            #expect(place.isUsedUp)
        }
        do {
            let place = try await room.enter(Self.user("ann"))
            #expect(!place.isUsedUp)
            place.count { work(.milliseconds(25)) }
            #expect(place.isUsedUp)
            let long = try await room.enter(Self.user("ann"))
            long.count(bytes: 999)
            #expect(!long.isUsedUp)
            long.count(bytes: 1)
            #expect(long.isUsedUp)
        }
        #expect(await Self.refusal(room, Self.user("ann")) == nil)
        room.charge(Self.user("ann"), .seconds(70))
        let refused = try #require(await Self.refusal(room, Self.user("ann")))
        #expect(refused.kind == .unavailable && (15...25).contains(refused.retryAfter ?? 0))
        #expect(await Self.refusal(room, Self.user("ben")) == nil)
        now.withLock { $0 = 25_000 }
        #expect(await Self.refusal(room, Self.user("ann")) == nil)
    }
}
