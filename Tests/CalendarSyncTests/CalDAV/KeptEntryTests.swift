// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import TestSupport
import Testing

@testable import CalendarSync

/// The shortcut that predicts how an entry is stored is compared with the long way: writing the entry and reading it
/// again.
@Suite(.ownThread) struct KeptEntryTests {
    private static let words = [
        "Haircut", "Müller", "Straße 5", " ", "\n", ",", ";", ":", "\\", "\"", "'", "é", "e\u{301}", "日本", "🎉", "\t",
        "\r",
        "\u{0}", "\u{7F}", "\u{85}", "\u{A0}", "\u{2028}", "\u{FEFF}", "\u{200B}", "%", "^n", "\\n", "BEGIN:VEVENT",
        "—",
        "…", "„", "€", "TENTATIVE", "x",
    ]

    private func text(_ random: inout SplitMix) -> String {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in Self.words.randomElement(using: &random) ?? "" }.joined()
    }

    private func reread(_ entry: Entry) -> Entry? {
        let stamp = ObjectStamp(uid: "x", mark: CalDAVRoom.mark(""), now: Instant(seconds: 0), sequence: 0)
        let object = try? CalendarObject(entry.calendar(stamp).serialized(), floatingZone: "Europe/Berlin")
        return try? object?.entry.get()
    }

    @Test("What is said to be kept is read back as it was written")
    func kept() {
        var random = SplitMix(seed: 7)
        let zones = TimeZone.knownTimeZoneIdentifiers + ["UTC", "Etc/UTC", "GMT", "Mars/Base", "US/Pacific", ""]
        var short = 0
        for _ in 0..<6_000 {
            let start = Instant(seconds: Int.random(in: 1_600_000_000..<2_900_000_000, using: &random) / 900 * 900)
            var entry = Entry(
                title: text(&random), notes: text(&random), location: text(&random),
                span: .timed(
                    start: start, end: start.adding(seconds: Int.random(in: -1...8, using: &random) * 900),
                    zone: zones.randomElement(using: &random) ?? "UTC"),
                reminders: (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    [0, 1, 15, 1440, 40_320, 600_000, -5].randomElement(using: &random) ?? 0
                }, status: Bool.random(using: &random) ? .confirmed : .tentative,
                availability: Bool.random(using: &random) ? .busy : .free)
            if Int.random(in: 0..<4, using: &random) == 0 {
                let first = CivilDate(daysSinceEpoch: Int.random(in: 19_000..<34_000, using: &random))
                entry.span = .days(first: first, until: first.adding(days: Int.random(in: 0...4, using: &random)))
            }
            guard entry.isKeptByCalDAV else { continue }
            short += 1
            #expect(reread(entry) == entry)
        }
        #expect(short > 300, "\(short) of them took the short way.")
    }

    @Test("Every zone of this machine is kept at every hour of the days on which a clock changes")
    func zones() {
        for zone in TimeZone.knownTimeZoneIdentifiers {
            for day in [1_792_886_400, 1_806_195_600, 1_793_491_200] {
                for hour in 0..<8 {
                    let start = Instant(seconds: day + hour * 3600)
                    let entry = Entry(
                        title: "x", span: .timed(start: start, end: start.adding(seconds: 1800), zone: zone))
                    guard entry.isKeptByCalDAV else { continue }
                    #expect(reread(entry) == entry)
                }
            }
        }
    }

    @Test("Usual appointments take the shortcut")
    func usual() {
        #expect(CalDAVSamples.single().isKeptByCalDAV)
        #expect(CalDAVSamples.single("Ünïcödé 🎉 & <b>").isKeptByCalDAV)
        #expect(CalDAVSamples.days.isKeptByCalDAV)
        #expect(!CalDAVSamples.series.isKeptByCalDAV)
        // 2026-10-25 02:30 in Berlin, for the second time.
        #expect(!CalDAVSamples.single(start: Instant(seconds: 1_792_891_800)).isKeptByCalDAV)
    }
}
