// SPDX-License-Identifier: Apache-2.0

import EventKitStandIn
import Foundation
import KalendsEventKit
import OfficeDays
import Testing

@testable import KalendsCompanion

@Suite("Companion: a phone, a server, and a person at both") struct PhoneHistoryTests {
    static let histories = Int(ProcessInfo.processInfo.environment["KALENDS_HISTORIES"] ?? "") ?? 200
    static let first = Int(ProcessInfo.processInfo.environment["KALENDS_SEED"] ?? "") ?? 1
    /// How many histories one test case has.
    static let piece = 25

    @Test(
        "After quiet both sides are equal: no double, nothing lost, no event without our mark touched",
        arguments: Array(stride(from: Self.first, to: Self.first + Self.histories, by: Self.piece)))
    func equalAfterQuiet(first: Int) async throws {
        for seed in first..<min(first + Self.piece, Self.first + Self.histories) {
            let world = PhoneWorld(seed)
            for _ in 0..<(8 + world.dice.pick(12)) {
                for _ in 0..<(1 + world.dice.pick(3)) { world.act() }
                if world.dice.isOne(in: 2) { world.fault() }
                let report = await world.sync()
                world.trace.append("run: \(report.status) \(report.error ?? "") \(report.counts)")
                if world.dice.isOne(in: 2) { world.mend() }
            }
            await world.settle()
            await world.check(seed)
        }
    }
}

extension PhoneWorld {
    /// Runs until nothing is left to do; the person approves what is held.
    func settle() async {
        mend()
        for _ in 0..<14 {
            wait(400)
            let report = await sync()
            trace.append("run: \(report.status) \(report.pause.map { "\($0)" } ?? "") \(report.counts)")
            if report.pause == .held { try? await engine.approve() }
            if report.pause == .calendarGone { await chooseAgain() }
        }
    }

    /// Chooses a calendar again that was renamed, and had no events by which to recognise it.
    private func chooseAgain() async {
        for (id, title) in [(home, "Home"), (work, "Work"), (mirror, "Kalends")] {
            guard !device.calendars.contains(where: { $0.id == id }),
                let calendar = device.calendars.first(where: { $0.title == title })
            else { continue }
            try? await engine.find(calendar: id, at: calendar.id)
        }
    }

    func check(_ seed: Int) async {
        let upserts = server.upserts
        let rows = device.events.mapValues(\.fields)
        wait(400)
        let report = await sync()
        #expect(
            report.counts.wroteNothing && server.upserts == upserts && device.events.mapValues(\.fields) == rows,
            "\(seed): a quiet run writes: \(report)\n\(trace.joined(separator: "\n"))")
        do {
            try await compare(seed)
        } catch {
            Issue.record("\(seed): \(error)\n\(trace.joined(separator: "\n"))")
        }
        await checkTexts(seed)
    }

    private struct Difference: Error, CustomStringConvertible {
        let description: String
    }

    private func compare(_ seed: Int) async throws {
        let state = try #require(await states.load())
        let index = RemoteIndex(server.all.map(\.event))
        let span = TimeRange(seconds: Self.start - 90 * 86_400..<Self.start + 300 * 86_400)
        let calendars = device.calendars.map(\.id)
        let local = try await StandInDevice.$current.withValue(device) { [store] in
            try await store.events(in: span, calendars: calendars)
        }
        let settings = await engine.settings
        let own = settings.ownCalendars.map { state.calendarAliases[$0] ?? $0 }
        var explained: Set<EventKey> = []
        for (id, view) in index.views {
            let link = state.links.first { $0.serverID == id.string }
            if view.isDeleted {
                // None of our data about the deleted events is left.
                if let key = link?.key, link?.origin == .server, link?.state != .released {
                    throw Difference(description: "\(id) is deleted, and \(key) is there")
                }
                continue
            }
            if view.main.syncState == "ignored" { continue }
            guard let link else { throw Difference(description: "\(id) is linked with nothing") }
            if link.state == .released { continue }
            guard let key = link.key, let event = local.first(where: { $0.key == key }) else {
                throw Difference(description: "\(id) is not in a calendar: \(link)")
            }
            explained.insert(key)
            let mine = event.unit.canonical(zones)
            let theirs = view.unit(zones)
            if mine != theirs { throw Difference(description: "\(id): \(mine) is not \(String(describing: theirs))") }
            let living = index.views.values.filter { !$0.isDeleted && $0.externalID == key.externalID }
            if living.count != 1 { throw Difference(description: "\(key) is \(living.count) events at the server") }
        }
        for event in local where own.contains(event.key.calendarID) && EventMark(url: event.url) == nil {
            let links = state.links.filter { $0.key?.externalID == event.key.externalID }
            if links.count != 1 { throw Difference(description: "\(event.key) has \(links.count) links") }
            guard let link = links.first else { continue }
            let isThere = index[link.serverID].map { !$0.isDeleted } ?? false
            if !isThere, link.state != .withheld { throw Difference(description: "\(event.key) is not at the server") }
        }
        let keys = state.links.compactMap(\.key)
        if Set(keys).count != keys.count { throw Difference(description: "two links mean one event") }
    }

    private func checkTexts(_ seed: Int) async {
        var found: Set<String> = []
        func add(_ content: EventContent) { found.formUnion([content.title, content.location, content.notes]) }
        func add(_ unit: EventUnit?) {
            guard let unit else { return }
            add(unit.content)
            for content in unit.changed.values { add(content) }
        }
        for stored in server.all { stored.event.content.map { add($0) } }
        for row in device.events.values {
            for fields in [row.fields] + row.detached.values {
                found.formUnion([fields.title, fields.location ?? "", fields.notes ?? ""])
            }
        }
        for entry in await states.load()?.journal ?? [] {
            add(entry.before)
            add(entry.after)
        }
        let lost = texts.subtracting(found)
        #expect(lost.isEmpty, "\(seed): lost \(lost.sorted())\n\(trace.joined(separator: "\n"))")
    }
}
