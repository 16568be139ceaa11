// SPDX-License-Identifier: Apache-2.0

import Calendar
import Foundation

@testable import Pages

extension Language {
    static let german = Language(rawValue: "de") ?? .english
}

/// Every page in every state, with texts that a test can replace.
struct Samples {
    /// 2026-01-21 15:04 in Berlin.
    static let now = 1_769_004_240_000
    static let berlin = PageZone(name: "Europe/Berlin") { seconds in
        TimeZone(identifier: "Europe/Berlin")?
            .secondsFromGMT(for: Date(timeIntervalSince1970: TimeInterval(seconds))) ?? 0
    }

    struct Sample {
        var name: String
        var page: any Page
        var isCircle = false
        var user = true
        var isOperator = false
        var ask: String?
        var notice: Notice?
    }

    /// Replaces each text that a person or another program may have chosen.
    var text: (String) -> String = { $0 }
    var language = Language.english
    var brand = Brand()
    var base = ""

    func frame(_ sample: Sample) -> Frame {
        Frame(
            language: language, zone: Self.berlin, now: Self.now, formToken: "form-token",
            user: sample.user ? text("maria@example.org") : nil, isOperator: sample.isOperator,
            circle: sample.isCircle ? CircleLink(id: "rose-family", name: text("Rose Family"), openConflicts: 2) : nil,
            notice: sample.notice, brand: brand, base: base, path: "/app/here", ask: sample.ask)
    }

    func render(_ sample: Sample) -> String { sample.page.rendered(frame(sample)).html }

    static func hours(_ hours: Double) -> Int { now + Int(hours * 3_600_000) }
    static func span(_ from: Double, _ to: Double) -> TimeSpan {
        .timed(start: Instant(milliseconds: hours(from)), end: Instant(milliseconds: hours(to)), zone: "Europe/Berlin")
    }
    static let today = CivilDate(uncheckedYear: 2026, month: 1, day: 21)

    var patients: [Named] { [Named(id: "rose", name: text("Rose")), Named(id: "hans", name: text("Hans"))] }
    var people: [Named] { [Named(id: "maria", name: text("Maria")), Named(id: "jo", name: text("Jo"))] }

    func entries(_ count: Int = 24) -> [PageEntry] {
        let titles = [
            "CK: Refill prescriptions", "CK Shift: Rose - Maria", "CK Appt: Rose - Dr. Patel, cardiology",
            "CK Follow-up: Ask about the new walking frame", "School holidays",
        ]
        let kinds: [EntryKind] = [.task, .shift, .appointment, .followUp, .imported]
        return (0..<count).map { index in
            let day = Self.today.adding(days: index * 7 % 29 - 12)
            let start = (day.daysSinceEpoch * 24 + 7 + index % 9) * 3_600_000
            let span: TimeSpan =
                index % 5 == 4
                ? .days(first: day, until: day.adding(days: 3))
                : .timed(
                    start: Instant(milliseconds: start), end: Instant(milliseconds: start + 5_400_000),
                    zone: "Europe/Berlin")
            return PageEntry(
                kind: kinds[index % 5], path: "/app/circles/rose-family/tasks/t\(index)",
                title: text(titles[index % 5]),
                span: span, isCancelled: index % 11 == 3)
        }.sorted { $0.span.firstDay(in: Self.berlin) < $1.span.firstDay(in: Self.berlin) }
    }

    var feeds: [FeedSummary] {
        var all = bareFeeds
        all[0].readers = [
            (name: text("Apple Calendar (iOS)"), seenAt: Self.hours(-0.2)),
            (name: text("Thunderbird"), seenAt: Self.hours(-50)),
        ]
        all[1].readers = [(name: text("Google Calendar"), seenAt: Self.hours(-80))]
        all[1].detail = "busy"
        all[2].readers = [(name: text("Outlook"), seenAt: Self.hours(-400))]
        return all
    }

    private var bareFeeds: [FeedSummary] {
        [
            FeedSummary(
                id: "f1", label: text("Phone"), lastReadAt: Self.hours(-0.2), lastClient: text("Apple Calendar (iOS)"),
                hidden: [.shift, .followUp]),
            FeedSummary(
                id: "f2", label: "", lastReadAt: Self.hours(-80), lastClient: text("Google Calendar"),
                alerts: [
                    .newClient(text("Thunderbird"), at: Self.hours(-30)), .manyNetworks(7, at: Self.hours(-3)),
                    .large(bytes: 1_240_000), .overdue(client: text("Outlook"), lastSeenAt: Self.hours(-80)),
                    .expiresSoon(at: Self.hours(50)),
                ]),
            FeedSummary(id: "f3", label: text("Kitchen"), state: .revoked(at: Self.hours(-300))),
            FeedSummary(id: "f4", label: text("Guests"), state: .expired(at: Self.hours(-9000))),
            FeedSummary(id: "f5", label: text("New")),
        ]
    }

    func connection(
        _ provider: Provider, _ state: ConnectionState, _ outcome: SyncOutcome? = .success, running: Bool = false,
        alerts: [ConnectionAlert] = []
    ) -> ConnectionSummary {
        let isSetUp = state != .unauthorized
        return ConnectionSummary(
            id: "c-\(provider.rawValue)", provider: provider, label: provider == .caldav ? text("Work") : "",
            accountName: isSetUp ? text("maria@example.org") : nil,
            calendarName: isSetUp && state != .choosing ? text("CK - Rose Family") : nil, state: state,
            isRunning: running,
            lastSyncAt: isSetUp && state != .choosing && state != .choosingContent ? Self.hours(-0.1) : nil,
            lastOutcome: outcome,
            nextSyncAt: Self.hours(0.15), alerts: alerts)
    }

    var runs: [ConnectionPage.Run] {
        typealias Run = ConnectionPage.Run
        return [
            Run(
                id: "r1", state: .done, outcome: .success, trigger: .schedule, startedAt: Self.hours(-0.1),
                counts: SyncCounts(created: 3, updated: 1, pulled: 2), canUndo: true),
            Run(
                id: "r2", state: .done, outcome: .partial, trigger: .push, startedAt: Self.hours(-5),
                counts: SyncCounts(deleted: 1, conflicts: 1, failed: 1)),
            Run(
                id: "r3", state: .failed, outcome: .failed, trigger: .manual, startedAt: Self.hours(-28),
                counts: SyncCounts(), problem: .unanswered),
            Run(
                id: "r4", state: .done, outcome: .success, trigger: .first, startedAt: Self.hours(-200),
                counts: SyncCounts()),
        ]
    }

    var history: [RunDay] {
        (0..<30).map {
            RunDay(
                day: Self.today.adding(days: $0 - 29), succeeded: 90 + $0 % 7, partial: $0 % 3,
                failed: $0 == 12 ? 40 : 0)
        }
    }

    var all: [Sample] {
        circleSamples + addressSamples + connectorSamples + ownSamples + appPasswordSamples + healthSamples
            + serverSamples
    }
}
