// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import TestSupport
import Testing

@Suite("Recurrence: the tables of libical and ical.net", .needsCorpora("rrule-tables"))
struct RecurrenceTables {
    /// Answers where the table has no times: libical has not implemented the rule. They follow from RFC 5545 section
    /// 3.3.10, because the 30th of December is in week 1 only in 2025, 2026, 2031 and 2032.
    static let answers = [
        "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=30;BYWEEKNO=1;UNTIL=20320101": [
            "20241230", "20251230", "20301230", "20311230",
        ]
    ]

    /// Returns the times that a row expects.
    private static func expected(_ row: RuleTableRow) -> [String]? {
        if case .instances(let times) = row.expectation { times } else { answers[row.rule] }
    }

    @Test("The tables are whole: 219 rows with times, of which 218 are the tables' own, and 13 with an exception")
    func count() {
        func count(_ table: String, _ holds: (RuleTableRow) -> Bool) -> Int {
            RuleTableRow.all.count { $0.table == table && holds($0) }
        }
        func hasTimes(_ row: RuleTableRow) -> Bool { if case .instances = row.expectation { true } else { false } }
        #expect(count("libical-4.x") { hasTimes($0) } == 145)
        #expect(count("libical-4.x") { $0.expectation == .unknown && Self.answers[$0.rule] != nil } == 1)
        #expect(count("ical.net") { hasTimes($0) && !$0.isCommentedOut } == 72)
        #expect(count("ical.net") { hasTimes($0) && $0.isCommentedOut } == 1)
        #expect(RuleTableRow.all.count { Self.expected($0) != nil } == 219)
        // The word is in 25 lines, because twelve of these rows have an EXCEPTION-STEP too.
        #expect(RuleTableRow.all.count { $0.expectation == .exception } == 13)
        #expect(RuleTableRow.all.count == 219 + 13)
        // Rows on which the two readings of DTSTART differ.
        let differing = RuleTableRow.all.filter { row in Self.expected(row).map { $0.first != row.start } ?? false }
        #expect(differing.count == 21)
    }

    @Test(
        "Every row's instances come out exactly, when DTSTART counts only if the rule matches it",
        arguments: RuleTableRow.all)
    func instances(row: RuleTableRow) throws {
        guard let expected = Self.expected(row) else { return }
        let rule = try lenientRules[row.rule] ?? RecurrenceRule(row.rule)
        let start = try #require(tableTime(row.start))
        if row.isCommentedOut {
            // 25 years of seconds: from its window on only, as a feed asks for them.
            let from = try #require(row.startAt.flatMap(tableTime)).civil
            let times = rule.times(startingAt: start, from: from, startConvention: .ifItMatches)
            #expect(times.walls.map { tableText($0, like: start) } == expected)
            return
        }
        let times = rule.times(startingAt: start, startConvention: .ifItMatches)
        let texts = times.walls.map { tableText($0, like: start) }
        // Only ical.net's table cuts its instances at START-AT.
        let from = row.table == "ical.net" ? row.startAt ?? "" : ""
        #expect(texts.filter { $0 >= from } == expected)
        if let startAt = row.startAt.flatMap(tableTime) {
            let later = rule.times(startingAt: start, from: startAt.civil, startConvention: .ifItMatches)
            #expect(later.walls == times.walls.filter { $0 >= startAt.civil }, "Jumping ahead must not change a time.")
        }
    }

    @Test(
        "With the RFC's convention a DTSTART that does not match comes first and takes one of COUNT",
        arguments: RuleTableRow.all)
    func startCounts(row: RuleTableRow) throws {
        guard let expected = Self.expected(row), row.startAt == nil else { return }
        let rule = try lenientRules[row.rule] ?? RecurrenceRule(row.rule)
        let start = try #require(tableTime(row.start))
        let times = rule.times(startingAt: start).walls.map { tableText($0, like: start) }
        if expected.first == row.start {
            #expect(times == expected)
        } else {
            #expect(times == [row.start] + (rule.count.map { Array(expected.prefix($0 - 1)) } ?? expected))
        }
    }

    /// The rows with an exception whose rule RFC 5545 allows, and its meaning; the RFC forbids the other eight.
    private static let allowed = [
        "FREQ=YEARLY from 20240101": "a rule without an end is no error; its times end with the calendar's years",
        "FREQ=YEARLY;COUNT=3 from 99980101": "two of its three times lie before the year 10000",
        "FREQ=YEARLY;COUNT=1 from 99990101": "its one time does, though its end does not",
        "FREQ=YEARLY;BYWEEKNO=-1;BYDAY=SU;COUNT=3 from 99971228": "two of its three times lie before the year 10000",
        "FREQ=YEARLY;BYMONTH=3;BYDAY=6MO from 20240101T090000": "6MO is in BYDAY's grammar; no March has one",
    ]

    @Test(
        "Of the rules that ical.net gives up on, the eight that the RFC forbids are refused, the others end",
        arguments: RuleTableRow.all.filter { $0.expectation == .exception })
    func exceptions(row: RuleTableRow) throws {
        guard Self.allowed["\(row.rule) from \(row.start)"] != nil else {
            #expect(throws: RecurrenceRule.SyntaxError.self) { try RecurrenceRule(row.rule) }
            return
        }
        let start = try #require(tableTime(row.start))
        let times = try RecurrenceRule(row.rule).times(startingAt: start)
        #expect(times.isComplete)
        #expect(times.walls.first == start.civil)
        #expect(times.walls.allSatisfy { $0.date.year <= 9999 })
    }

    @Test("Eight of the rules with an exception are refused and five are allowed")
    func refused() {
        let rows = RuleTableRow.all.filter { $0.expectation == .exception }
        #expect(rows.count { (try? RecurrenceRule($0.rule)) == nil } == 8)
        #expect(rows.count { Self.allowed["\($0.rule) from \($0.start)"] != nil } == 5)
    }
}
