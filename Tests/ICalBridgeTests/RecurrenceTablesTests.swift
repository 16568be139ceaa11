// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import Testing

/// One row of a table of rules with their instances, as libical and ical.net publish them.
struct RuleTableRow: Sendable, CustomStringConvertible {
    enum Expectation: Sendable, Equatable {
        case instances([String])
        /// The engine that the table comes from refuses the rule, or fails on it.
        case exception
        /// The engine that the table comes from has no answer.
        case unknown
    }

    var table: String
    var line: Int
    var rule = ""
    var start = ""
    var startAt: String?
    var expectation = Expectation.unknown

    var description: String { "\(table):\(line) \(rule) from \(start)" }

    /// The rows of both tables; none when the corpora are not beside this checkout.
    static let all: [RuleTableRow] = ["libical-4.x", "ical.net"].flatMap { read($0) }

    private static func read(_ table: String) -> [RuleTableRow] {
        // Tests/ICalBridgeTests/RecurrenceTables.swift: three steps up to the package, one more to its neighbours.
        var root = URL(filePath: #filePath).resolvingSymlinksInPath()
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let file = root.appending(path: "shared/corpora/rrule-tables/\(table).txt")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        var rows: [RuleTableRow] = []
        var row = RuleTableRow(table: table, line: 0)
        func finish() {
            if !row.rule.isEmpty { rows.append(row) }
            row = RuleTableRow(table: table, line: 0)
        }
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces.union(.init(charactersIn: "\r\u{FEFF}")))
            guard !line.isEmpty else {
                finish()
                continue
            }
            guard !line.hasPrefix("#"), let colon = line.firstIndex(of: ":") else { continue }
            let value = String(line[line.index(after: colon)...])
            if row.line == 0 { row.line = index + 1 }
            switch line[..<colon] {
            case "RRULE": row.rule = value
            case "DTSTART": row.start = value
            case "START-AT": row.startAt = value
            case "EXCEPTION": row.expectation = .exception
            case "INSTANCES" where value.contains("***"): row.expectation = .unknown
            case "INSTANCES": row.expectation = .instances(value.split(separator: ",").map(String.init))
            default: break
            }
        }
        finish()
        return rows
    }
}

/// A time of a table: `20241024`, `19970902T090000` or `20111120T100000Z`.
func tableTime(_ text: String) -> EventTime? {
    if let date = CivilDate(basic: text) { return .date(date) }
    if text.hasSuffix("Z") { return CivilDateTime(basic: text.dropLast()).map { .utc(Instant(utc: $0)) } }
    return CivilDateTime(basic: text).map { .floating($0) }
}

/// A time as the tables write it.
func tableText(_ wall: CivilDateTime, like start: EventTime) -> String {
    switch start {
    case .date: wall.date.basic
    case .utc: wall.basic + "Z"
    default: wall.basic
    }
}

/// Rules that our parser refuses, because the RFC forbids them, but that ical.net reads leniently: as values.
let lenientRules: [String: RecurrenceRule] = {
    typealias Day = RecurrenceRule.WeekdayNumber
    var weekTen = RecurrenceRule(.yearly)
    (weekTen.byWeekNumber, weekTen.byDay, weekTen.count) = ([10], [Day(.monday, ordinal: 1)], 3)
    var positionsOnly = RecurrenceRule(.yearly)
    (positionsOnly.bySetPosition, positionsOnly.count) = ([1, -1], 2)
    var zeroInMonth = RecurrenceRule(.monthly)
    zeroInMonth.byMonthDay = [13]
    (zeroInMonth.byDay, zeroInMonth.count) = ([Day(.monday, ordinal: 0), Day(.saturday)], 3)
    var zeroInYear = RecurrenceRule(.yearly)
    zeroInYear.byYearDay = [1, 8]
    (zeroInYear.byDay, zeroInYear.count) = ([Day(.monday), Day(.saturday, ordinal: 0)], 3)
    var zeroWithMonth = RecurrenceRule(.yearly)
    zeroWithMonth.byMonth = [11]
    (zeroWithMonth.byDay, zeroWithMonth.count) = ([Day(.thursday, ordinal: 4), Day(.monday, ordinal: 0)], 3)
    return [
        "FREQ=YEARLY;BYWEEKNO=10;BYDAY=1MO;COUNT=3": weekTen,
        "FREQ=YEARLY;BYSETPOS=1,-1;COUNT=2": positionsOnly,
        "FREQ=MONTHLY;COUNT=3;BYMONTHDAY=13;BYDAY=0MO,SA": zeroInMonth,
        "FREQ=YEARLY;COUNT=3;BYDAY=MO,0SA;BYYEARDAY=1,8": zeroInYear,
        "FREQ=YEARLY;BYDAY=4TH,0MO;BYMONTH=11;COUNT=3": zeroWithMonth,
    ]
}()

@Suite("Recurrence: the tables of libical and ical.net", .enabled(if: !RuleTableRow.all.isEmpty))
struct RecurrenceTables {
    @Test("The tables are whole")
    func count() {
        let rows = RuleTableRow.all
        let withInstances = rows.filter { if case .instances = $0.expectation { true } else { false } }
        #expect(withInstances.count == 145 + 72)
        #expect(rows.filter { $0.expectation == .exception }.count == 13)
        #expect(rows.filter { $0.expectation == .unknown }.count == 1)
    }

    @Test(
        "Every row's instances come out exactly, when DTSTART counts only if the rule matches it",
        arguments: RuleTableRow.all)
    func instances(row: RuleTableRow) throws {
        guard case .instances(let expected) = row.expectation else { return }
        let rule = try lenientRules[row.rule] ?? RecurrenceRule(row.rule)
        let start = try #require(tableTime(row.start))
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
        guard case .instances(let expected) = row.expectation, row.startAt == nil else { return }
        let rule = try lenientRules[row.rule] ?? RecurrenceRule(row.rule)
        let start = try #require(tableTime(row.start))
        let times = rule.times(startingAt: start).walls.map { tableText($0, like: start) }
        if expected.first == row.start {
            #expect(times == expected)
        } else {
            #expect(times == [row.start] + (rule.count.map { Array(expected.prefix($0 - 1)) } ?? expected))
        }
    }

    @Test(
        "A rule that ical.net cannot read is refused, one that it cannot finish ends with the calendar",
        arguments: RuleTableRow.all.filter { $0.expectation == .exception })
    func exceptions(row: RuleTableRow) throws {
        let endless = [
            "FREQ=YEARLY", "FREQ=YEARLY;COUNT=3", "FREQ=YEARLY;COUNT=1", "FREQ=YEARLY;BYWEEKNO=-1;BYDAY=SU;COUNT=3",
            "FREQ=YEARLY;BYMONTH=3;BYDAY=6MO",
        ]
        guard endless.contains(row.rule) else {
            #expect(throws: RecurrenceRule.SyntaxError.self) { try RecurrenceRule(row.rule) }
            return
        }
        let start = try #require(tableTime(row.start))
        let times = try RecurrenceRule(row.rule).times(startingAt: start)
        #expect(times.isComplete)
        #expect(times.walls.allSatisfy { $0.date.year <= 9999 })
    }
}
