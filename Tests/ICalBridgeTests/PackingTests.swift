// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import ICalBridge

@Suite("The packed form of events")
struct PackingTests {
    private static func packed(_ events: [Event]) -> [UInt8] {
        var writer = PackWriter()
        writer.write(events) { $0.write($1) }
        return writer.bytes
    }

    private static func events(_ bytes: [UInt8]) throws -> [Event] {
        var reader = PackReader(bytes)
        let events = try reader.list { (reader) throws(PackError) in try reader.event() }
        guard reader.isAtEnd else { throw reader.failure() }
        return events
    }

    @Test("Every event of every file that others wrote comes back the same")
    func corpora() throws {
        var count = 0
        for file in CalendarFile.all {
            let (path, events) = (file.path, try file.read().events)
            let bytes = Self.packed(events)
            let back = try Self.events(bytes)
            #expect(back == events, "\(path)")
            #expect(Self.packed(back) == bytes && !bytes.contains(0), "\(path)")
            count += events.count
        }
        #expect(count > CalendarFile.least(samples: 50, foreign: 4000))
    }

    @Test("Made events with every field, absent, empty or odd, come back the same")
    func made() throws {
        var random = SplitMix(seed: 20_26)
        for _ in 0..<400 {
            let events = (0..<Int.random(in: 0...4, using: &random)).map { _ in Self.event(&random) }
            let bytes = Self.packed(events)
            #expect(try Self.events(bytes) == events)
            #expect(!bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil)
        }
    }

    @Test("A field that events gain has to be packed too")
    func fields() {
        let event = Event(uid: "u", start: nil)
        #expect(Mirror(reflecting: event).children.count == 22)
        #expect(Mirror(reflecting: event.recurrence).children.count == 4)
        #expect(Mirror(reflecting: RecurrenceRule(.daily)).children.count == 14)
        let alarm = Alarm(trigger: .absolute(Instant(seconds: 0)))
        #expect(Mirror(reflecting: alarm).children.count == 4)
        #expect(Mirror(reflecting: ContentLine(name: "X", value: "")).children.count == 3)
    }

    @Test("Bytes that nobody packed are refused or are events, and nothing ends the process")
    func hostile() throws {
        var random = SplitMix(seed: 5)
        var refused = 0
        for _ in 0..<3000 {
            var bytes = Self.packed([Self.event(&random)])
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.insert(UInt8(ascii: "9"), at: index)
                case 2: bytes.removeSubrange(index...)
                default: bytes[index] = Array("0189;:!.-ezdfupkv".utf8).randomElement(using: &random) ?? 0
                }
                if bytes.isEmpty { bytes = [48] }
            }
            do {
                for event in try Self.events(bytes) {
                    // What is read can be worked with.
                    _ = event.effectiveEnd?.instant(floatingIn: FixedOffset.utc).description
                }
            } catch is PackError {
                refused += 1
            }
        }
        #expect(refused > 1000)
    }

    private static func event(_ random: inout SplitMix) -> Event {
        func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        func text() -> String {
            ["", "x", "a;b:c,d\n", "\u{0}NUL\u{1}\u{2}", "Müller 会議 🎂", "12:!", "e.", "\"q\"\\"][number(0...7)]
        }
        func list<Value>(_ make: () -> Value) -> [Value] { (0..<number(0...3)).map { _ in make() } }
        func date() -> CivilDate { CivilDate(daysSinceEpoch: number(-700_000...2_900_000)) }
        func wall() -> CivilDateTime { CivilDateTime(wallSeconds: number(-60_000_000_000...250_000_000_000)) }
        func instant() -> Instant { Instant(seconds: number(-60_000_000_000...250_000_000_000)) }
        func duration() -> ICalDuration { ICalDuration(days: number(-9...9), seconds: number(-90_000...90_000)) }
        func rule() -> RecurrenceRule {
            var rule = RecurrenceRule(RecurrenceRule.Frequency.allCases[number(0...6)])
            rule.interval = number(1...9)
            rule.count = maybe(number(1...99))
            rule.until = maybe([.date(date()), .floating(wall()), .utc(instant())][number(0...2)])
            for index in [
                \RecurrenceRule.bySecond, \.byMinute, \.byHour, \.byMonthDay, \.byYearDay, \.byWeekNumber, \.byMonth,
                \.bySetPosition,
            ] {
                rule[keyPath: index] = list { number(-366...366) }
            }
            rule.byDay = list {
                RecurrenceRule.WeekdayNumber(
                    RecurrenceRule.Weekday.allCases[number(0...6)], ordinal: maybe(number(-53...53)))
            }
            rule.weekStart = maybe(RecurrenceRule.Weekday.allCases[number(0...6)])
            return rule
        }
        func zone() -> TimeZoneReference {
            let own = TimeZoneDefinition(
                identifier: ["Own", "Europe/Berlin"][number(0...1)],
                observances: list {
                    TimeZoneDefinition.Observance(
                        isDaylight: Bool.random(using: &random), start: wall(), offsetFrom: number(-50_000...50_000),
                        offsetTo: number(-50_000...50_000), name: maybe(text()), rule: maybe(rule()),
                        additions: list(wall))
                })
            return [TimeZoneReference("Europe/Berlin"), TimeZoneReference("Asia/Tokyo"), nil][number(0...2)]
                ?? TimeZoneReference(own)
        }
        func time() -> EventTime {
            [.date(date()), .floating(wall()), .utc(instant()), .zoned(wall(), zone())][number(0...3)]
        }
        func end() -> Event.End { Bool.random(using: &random) ? .time(time()) : .duration(duration()) }
        func parameters() -> [ContentLine.Parameter] { list { .init(name: text(), values: list(text)) } }
        func lines() -> [ContentLine] { list { .init(name: text(), parameters: parameters(), value: text()) } }
        var event = Event(
            kind: [.event, .toDo, .journal, .freeBusy][number(0...3)], uid: text(), recurrenceID: maybe(time()),
            start: maybe(time()), end: maybe(end()), summary: maybe(text()))
        event.appliesToFuture = Bool.random(using: &random)
        event.description = maybe(text())
        event.location = maybe(text())
        event.status = maybe(text())
        event.isTransparent = maybe(Bool.random(using: &random))
        event.classification = maybe(text())
        event.sequence = number(-1...70_000)
        event.timestamp = maybe(instant())
        event.created = maybe(instant())
        event.lastModified = maybe(instant())
        event.categories = list(text)
        event.url = maybe(text())
        event.recurrence = Recurrence(
            rules: list(rule), additions: list { .init(start: time(), end: maybe(end())) }, exclusions: list(time),
            exclusionRules: list(rule))
        event.alarms = list {
            Alarm(
                trigger: [.relativeToStart(duration()), .relativeToEnd(duration()), .absolute(instant())][
                    number(0...2)],
                action: text(), description: maybe(text()), otherProperties: lines())
        }
        event.textParameters = maybe(
            Dictionary(list { (text(), parameters()) }, uniquingKeysWith: { first, _ in first }))
        event.otherProperties = lines()
        return event
    }
}
