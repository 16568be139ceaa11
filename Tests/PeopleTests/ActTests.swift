// SPDX-License-Identifier: Apache-2.0

import Base
import Storage
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

@Suite("The one act that changes something")
struct ActTests {
    private static let ann = Caller(.user("ann"), actor: AuditActor(user: "ann"))
    private static let vic = Caller(.user("vic"), actor: AuditActor(user: "vic"))

    private static func entries(_ server: TestServer) async throws -> [AuditEntry] {
        try await server.services.store.read { try $0.auditEntries(before: .max, in: nil, limit: 100) }
    }

    @Test("It notes who did what in which circle, together with what was done")
    func noted() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let before = try await Self.entries(server).count
            let name = try await server.services.acts.act(on: .circle("c", .manage), for: Self.ann) { act in
                let circle = try act.transaction.putCircle(Circle(id: "c", name: "New", timeZone: "UTC"), now: act.now)
                    .0
                return ActResult(circle.name, noting: AuditNote(.circleChanged, "c", detail: ["fields": ["name"]]))
            }
            #expect(name == "New")
            let entries = try await Self.entries(server)
            #expect(entries.count == before + 1)
            let entry = try #require(entries.first)
            #expect(entry.action == "circle.changed" && entry.actor == "user:ann" && entry.circleID == "c")
            #expect(entry.detail == #"{"fields":["name"]}"#)
        }
    }

    @Test("A caller without the right changes nothing: the body is not run")
    func right() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let acts = server.services.acts
            func refused<Target>(_ target: ActTarget<Target>, _ caller: Caller) async throws -> Refusal.Kind {
                do {
                    try await acts.act(on: target, for: caller) { act in
                        _ = try act.transaction.deleteCircle("c", now: act.now)
                        return ActResult(noting: AuditNote(.circleDeleted, "c"))
                    }
                } catch let refusal as Refusal {
                    return refusal.kind
                }
                return .failed
            }
            #expect(try await refused(.circle("c", .manage), Self.vic) == .forbidden)
            #expect(try await refused(.circle("none", .read), Self.ann) == .missing)
            #expect(try await refused(.circleOrNew("none"), Self.ann) == .missing)
            #expect(try await refused(.feed("none"), Self.ann) == .missing)
            #expect(try await refused(.installation(touchingNoCircle: "a test"), Self.ann) == .forbidden)
            #expect(try await refused(.user("ann", touchingNoCircle: "a test"), Self.vic) == .missing)
            #expect(try await server.services.circles.get("c", for: Self.ann).name == "Our family")
        }
    }

    @Test("What fails leaves neither the change nor the entry")
    func together() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let before = try await Self.entries(server).count
            await #expect(throws: Refusal.self) {
                try await server.services.acts.act(on: .circle("c", .manage), for: Self.ann) { act -> ActResult<Void> in
                    _ = try act.transaction.putCircle(Circle(id: "c", name: "New", timeZone: "UTC"), now: act.now)
                    throw Refusal.conflict("A test.")
                }
            }
            #expect(try await Self.entries(server).count == before)
            #expect(try await server.services.circles.get("c", for: Self.ann).name == "Our family")
        }
    }

    @Test("It concerns its own circle and no other, and none when it says so")
    func concerns() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let (acts, clock) = (server.services.acts, server.services.store.clock)
            let own = WriteClock.Slot(circle: "c")
            // Circles share marks; one that does not share this one's is soon found.
            let other = try #require((0..<100).lazy.map { WriteClock.Slot(circle: "other \($0)") }.first { $0 != own })
            let start = clock.now
            try await acts.act(on: .circle("c", .manage), for: Self.ann) { _ in .unnoted("a test", ()) }
            #expect(!clock.isUnchanged(own, since: start) && clock.isUnchanged(other, since: start))
            let later = clock.now
            try await acts.act(on: .user("ann", touchingNoCircle: "a test"), for: Self.ann) { _ in
                .unnoted("a test", ())
            }
            #expect(clock.isUnchanged(own, since: later) && clock.now == later)
        }
    }

    @Test("A change of nothing is not recorded, and one of two fields names those that changed")
    func fields() {
        #expect(AuditNote(.circleChanged, "c", changed: ["name": false, "timeZone": false]) == nil)
        let note = AuditNote(.circleChanged, "c", changed: ["timeZone": true, "name": true, "other": false])
        #expect(note?.detail == ["fields": ["name", "timeZone"]])
        #expect(ActResult.changed(1, noting: nil).notes.isEmpty && ActResult.changed(1, noting: note).notes.count == 1)
    }

    @Test("Items of a circle raise its version once, however many are changed together")
    func version() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let operatorAtHand = Caller.operatorAtHand
            let before = try await server.services.circles.get("c", for: operatorAtHand).version
            var batch = server.services.batch(in: "c", for: operatorAtHand)
            // However slow the machine is.
            batch.stepTime = .seconds(600)
            let orders = (0..<5).map { number in
                ScheduleBatch.Order(
                    id: "t\(number)", kind: TaskContent.self,
                    draft: ItemDraft(
                        TaskContent.self, "t\(number)", in: "c", from: ["title": "T", "dueAt": "2026-03-03T09:00:00Z"]))
            }
            let outcomes = try await batch.apply(orders)
            #expect(outcomes.count == 5)
            for case .refused(let faults) in outcomes { Issue.record("\(faults)") }
            #expect(try await server.services.circles.get("c", for: operatorAtHand).version == before + 1)
        }
    }
}
