// SPDX-License-Identifier: Apache-2.0

import Calendar
import EventKitStandIn
import OfficeDays
import PhoneTexts
import Testing

@testable import KalendsCompanion

@Suite("Companion: accounts that do not keep an event's address") struct LostMarkTests {
    /// A phone that is to show four items of the server.
    private static func world() -> PhoneWorld {
        let world = PhoneWorld(5)
        for number in 0..<4 {
            world.server.create(.appointment) { event in
                event.title = "item \(number)"
                event.date = Day(daysSinceEpoch: PhoneWorld.start / 86_400 + 3 + number).description
                (event.startTime, event.endTime) = ("10:00", "11:00")
                (event.timeZone, event.allDay) = (PhoneWorld.zone, false)
            }
        }
        return world
    }

    private static func titles(_ world: PhoneWorld, in calendar: String) -> [String] {
        world.device.events.values.filter { $0.calendar == calendar }.map(\.fields.title).sorted()
    }

    private static func choose(_ mirror: String, _ world: PhoneWorld) async {
        var settings = await world.engine.settings
        settings.mirrorCalendar = mirror
        await world.engine.change(settings)
    }

    private static let all = (0..<4).map { "item \($0)" }

    @Test("A calendar that drops addresses is reported in each run, keeps nothing of ours, and is not filled")
    func dropped() async throws {
        let world = Self.world()
        world.device.change(calendar: world.mirror) { $0.keepsURLs = false }
        var writes: [Int] = []
        for _ in 0..<3 {
            let saves = Shared(0)
            world.device.onCall { name in if name == "save" { saves.with { $0 += 1 } } }
            let report = await world.sync()
            writes.append(saves.now)
            #expect(report.status == .paused && report.pause == .marksNotKept)
            #expect(report.counts.made == 0 && report.counts.queued == 4)
            #expect(Self.titles(world, in: world.mirror).isEmpty)
            world.wait(600)
        }
        // One batch shows it; the rest is not tried.
        #expect(writes == [3, 0, 0])
        let other = world.device.addCalendar("Elsewhere")
        await Self.choose(other, world)
        for _ in 0..<2 {
            #expect(await world.sync().status == .success)
            world.wait(600)
        }
        #expect(Self.titles(world, in: other) == Self.all)
        await world.check(5)
    }

    @Test("An account that drops the addresses later is reported, and another calendar gets the events again")
    func droppedLater() async throws {
        let world = Self.world()
        #expect(await world.sync().status == .success)
        for number in world.device.events.keys { world.device.change(number) { $0.fields.url = nil } }
        for _ in 0..<3 {
            world.wait(600)
            let report = await world.sync()
            #expect(report.status == .paused && report.pause == .marksNotKept)
        }
        let other = world.device.addCalendar("Elsewhere")
        await Self.choose(other, world)
        for _ in 0..<3 {
            world.wait(600)
            _ = await world.sync()
        }
        #expect(Self.titles(world, in: other) == Self.all)
        #expect(await world.sync().status == .success)
        let id = try #require(world.server.all.first { $0.event.title == "item 2" }?.event.id)
        world.server.change(id) { $0.title = "changed there" }
        world.wait(600)
        _ = await world.sync()
        #expect(Self.titles(world, in: other).contains("changed there"))
    }

    @Test("An edit that loses the mark is reported in the run that wrote it")
    func droppedByAnEdit() async throws {
        let world = Self.world()
        _ = await world.sync()
        world.device.change(calendar: world.mirror) { $0.keepsURLs = false }
        let id = try #require(world.server.all.first { $0.event.title == "item 2" }?.event.id)
        world.server.change(id) { $0.title = "changed there" }
        world.wait(600)
        // The world's own `sync()` would complain that an event without a mark has changed.
        let report = await StandInDevice.$current.withValue(world.device) { [engine = world.engine] in
            await engine.sync()
        }
        #expect(report.status == .paused && report.pause == .marksNotKept)
    }

    @Test("A person who removes the mark of one event among others is not told that the account did it")
    func removedByAPerson() async throws {
        let world = Self.world()
        _ = await world.sync()
        let number = try #require(world.device.events.keys.first)
        world.device.change(number) { $0.fields.url = nil }
        world.wait(600)
        #expect(await world.sync().status == .success)
        await world.check(5)
    }

    @Test("The app shows why changes do not arrive, and the status is no success")
    func shown() {
        var status = SyncStatus()
        status.take(SyncOutcome(endedAt: 1, pause: .marksNotKept))
        #expect(status.lastSyncStatus == .partial)
        let screen = HomeScreen(status, CompanionTexts(app: "Kalends")) { "\($0)" }
        let texts = ConnectorTexts(app: "Kalends")
        #expect(screen.pause == SyncPause.marksNotKept.text(texts) && !screen.asksForApproval)
        #expect(SyncPause.allCases.allSatisfy { $0.text(texts).hasSuffix(".") })
    }
}
