// SPDX-License-Identifier: Apache-2.0

import Calendar
import Foundation
import Testing

@testable import Pages

@Suite("A month of the calendar")
struct MonthTests {
    private static func day(_ month: Int, _ day: Int) -> CivilDate {
        CivilDate(uncheckedYear: 2026, month: month, day: day)
    }

    private static func entry(_ title: String, _ first: CivilDate, _ last: CivilDate) -> PageEntry {
        PageEntry(
            kind: .shift, path: "/app/circles/c/shifts/\(title)", title: title,
            span: .days(first: first, until: last.adding(days: 1)))
    }

    private static func html(_ entries: [PageEntry], _ language: Language = .english) -> String {
        let page = CalendarPage(
            view: .month, day: day(1, 21), people: [], patients: [], feeds: [], entries: entries)
        return Samples(language: language).render(.init(name: "month", page: page, isCircle: true))
    }

    private static func bars(_ html: String) -> [String] {
        html.matches(of: /class="chip shift bar (over-[^"]*)"/).map { String($0.1) }
    }

    @Test("An entry over several days is one bar in each week, as long as its days, and no entry of each day")
    func bars() {
        // Weeks begin on Sunday, January 18 and 25.
        let html = Self.html([Self.entry("Visit", Self.day(1, 22), Self.day(1, 27))])
        #expect(Self.bars(html) == ["over-3 goes-on", "over-3 later"])
        #expect(html.components(separatedBy: "<bdi>Visit</bdi>").count == 3)
        #expect(html.components(separatedBy: "until January 27").count == 3)
        // Weeks begin on Monday, January 19 and 26.
        #expect(
            Self.bars(Self.html([Self.entry("Visit", Self.day(1, 22), Self.day(1, 27))], .german))
                == ["over-4 goes-on", "over-2 later"])
    }

    @Test("Bars of a week keep their rows, and what has no room is counted on its day")
    func rows() {
        let weeks =
            WeekStart.monday.start(
                of: Self.day(1, 21))...WeekStart.monday.start(of: Self.day(1, 21))
            .adding(days: 6)
        let long = (0..<4).map { Self.entry("L\($0)", Self.day(1, 19 + $0), Self.day(1, 23)) }
        let single = (0..<3).map { Self.entry("S\($0)", Self.day(1, 24), Self.day(1, 24)) }
        let later = Self.entry("Later", Self.day(1, 24), Self.day(1, 25))
        let plan = MonthPlan(long + single + [later], weeks: weeks, in: .utc)
        func rows(_ number: Int) -> [String] {
            plan[Self.day(1, number)].bars.map { row in
                switch row {
                case .bar(let entry, let days, _, _): "\(entry.title) \(days)"
                case .free: ""
                }
            }
        }
        #expect(rows(19) == ["L0 5"] && rows(20) == ["", "L1 4"] && rows(21) == ["", "", "L2 3"])
        #expect(rows(22) == ["", "", ""] && plan[Self.day(1, 22)].hidden == 1)
        // The first row is free again from the day after its bar.
        #expect(rows(23) == ["", "", ""] && rows(24) == ["Later 2"] && rows(25) == [""])
        #expect(plan[Self.day(1, 24)].single.count == 3 && plan[Self.day(1, 24)].hidden == 0)
        let full = MonthPlan(single + single, weeks: weeks, in: .utc)[Self.day(1, 24)]
        #expect(full.single.count == 3 && full.hidden == 3)
    }

    @Test("Days of the neighbouring months are shown with what is on them")
    func neighbours() {
        let html = Self.html([
            Self.entry("Before", Self.day(1, 1).adding(days: -2), Self.day(1, 1).adding(days: -2)),
            Self.entry("After", Self.day(1, 31), Self.day(2, 2)),
        ])
        #expect(html.contains("<bdi>Before</bdi>") && html.contains("<time datetime=\"2025-12-28\">"))
        // January ends on a Saturday, the last day of its last week.
        #expect(Self.bars(html) == ["over-1 goes-on"] && !html.contains("<time datetime=\"2026-02-01\">"))
        #expect(html.components(separatedBy: "class=\"day outside").count == 5)
    }

    @Test(
        "Weeks begin on the day of the language's region",
        arguments: [
            ("en", "en-US", 6), ("en", "en-GB;q=0.9, en-US;q=0.8", 0), ("en", "", 6), ("de", "", 0),
            ("de", "en-US, de-AT;q=0.5", 0), ("en", "fr-FR, en;q=0.5", 6), ("en", "en-Latn-EG", 5), ("en", "en-MV", 4),
            ("en", "EN - ca", 6), ("en", "en-x;;,,-", 6),
        ])
    func weekStart(_ language: String, _ accepted: String, _ expected: Int) throws {
        let start = WeekStart(try #require(Language(rawValue: language)), accepting: accepted)
        #expect(start.rawValue == expected)
        for number in 0..<14 {
            let day = Self.day(1, 1).adding(days: number)
            let first = start.start(of: day)
            #expect(first.mondayBasedWeekday == expected && first <= day && day < first.adding(days: 7))
        }
    }

    @Test("Office days that are off begin with three steps, and offer no change of days", arguments: Language.allCases)
    func office(_ language: Language) throws {
        let (samples, words) = (Samples(language: language), Words.of(language))
        func html(_ name: String) throws -> String {
            samples.render(try #require(samples.all.first { $0.name == name }))
        }
        let off = try html("office-off")
        #expect(off.contains(words["officeBegin"]) && !off.contains("class=\"more\""))
        #expect(off.components(separatedBy: "class=\"step-number\"").count == 4)
        let on = try html("office")
        #expect(!on.contains(words["officeBegin"]) && on.contains("class=\"more\""))
    }

    @Test("A phone's navigation has all places behind one word, without a script")
    func menu() throws {
        let samples = Samples()
        let html = samples.render(try #require(samples.all.first { $0.name == "calendar-month" }))
        let menu = try #require(html.firstMatch(of: /<details class="menu">(.*?)<\/details>/.dotMatchesNewlines())?.1)
        for path in ["/app", "/app/health", "/app/account", "/app/circles/rose-family/conflicts", "/app/sign-out"] {
            #expect(menu.contains("=\"\(path)\""), "\(path)")
        }
        let page = samples.render(try #require(samples.all.first { $0.name == "sign-in" }))
        #expect(!page.contains("class=\"menu\""))
    }
}
