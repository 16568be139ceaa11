// SPDX-License-Identifier: Apache-2.0

import Foundation
import ICalBridge
import TestSupport
import Testing

/// One row of a table of rules with their instances, as libical and ical.net publish them.
struct RuleTableRow: Sendable, CustomStringConvertible {
    enum Expectation: Sendable, Equatable {
        case instances([String])
        /// The engine that published the table refuses the rule, or fails on it.
        case exception
        /// The engine that published the table has no answer.
        case unknown
    }

    var table: String
    var line: Int
    var rule = ""
    var start = ""
    var startAt: String?
    var expectation = Expectation.unknown
    /// Whether the row is commented out in its table with `#`, because the engine is too slow for it.
    var isCommentedOut = false

    var description: String { "\(table):\(line) \(rule) from \(start)" }

    /// The rows of both tables; none without the corpora.
    static let all: [RuleTableRow] = ["libical-4.x", "ical.net"].flatMap { read($0) }

    private static func read(_ table: String) -> [RuleTableRow] {
        guard let file = Corpora.find("rrule-tables/\(table).txt"),
            let text = try? String(contentsOf: file, encoding: .utf8)
        else { return [] }
        var rows: [RuleTableRow] = []
        var row = RuleTableRow(table: table, line: 0)
        func finish() {
            if !row.rule.isEmpty { rows.append(row) }
            row = RuleTableRow(table: table, line: 0)
        }
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var line = line.trimmingCharacters(in: .whitespaces.union(.init(charactersIn: "\r\u{FEFF}")))
            guard !line.isEmpty else {
                finish()
                continue
            }
            if ["#RRULE:", "#DTSTART:", "#START-AT:", "#INSTANCES:"].contains(where: line.hasPrefix) {
                line.removeFirst()
                row.isCommentedOut = true
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

/// Reads a time of a table: `20241024`, `19970902T090000` or `20111120T100000Z`.
func tableTime(_ text: String) -> EventTime? {
    if let date = CivilDate(basic: text) { return .date(date) }
    if text.hasSuffix("Z") { return CivilDateTime(basic: text.dropLast()).map { .utc(Instant(utc: $0)) } }
    return CivilDateTime(basic: text).map { .floating($0) }
}

/// Returns a time as the tables write it.
func tableText(_ wall: CivilDateTime, like start: EventTime) -> String {
    switch start {
    case .date: wall.date.basic
    case .utc: wall.basic + "Z"
    default: wall.basic
    }
}

/// Rules that our parser refuses because the RFC forbids them, but that ical.net accepts, as values.
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
