// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import Calendar
@testable import ICalBridge

@Suite("Recurrence: occurrences made in one pass")
struct RecurrencePlacesTests {
    private static func event(_ random: inout SplitMix) throws -> Event {
        let zones = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Nuuk"]
        func time(_ seconds: Int, _ form: Int) throws -> EventTime {
            let wall = CivilDateTime(wallSeconds: seconds)
            switch form {
            case 0: return .date(wall.date)
            case 1: return .floating(wall)
            case 2: return .utc(Instant(utc: wall))
            default: return .zoned(wall, try #require(TimeZoneReference(zones[(form - 3) % zones.count])))
            }
        }
        let (start, form) = (1_700_000_000 + random.below(50_000_000) / 900 * 900, random.below(7))
        var event = Event(uid: "one", start: try time(start, form))
        let length = [0, 1800, 3600, 7200, 86_400, 90_000, 259_200][random.below(7)]
        switch random.below(6) {
        case 0: break
        case 1: event.end = .duration(ICalDuration(days: length / 86_400, seconds: form == 0 ? 0 : length % 86_400))
        case 2: event.end = .time(try time(start + length, form == 0 ? 0 : 2 + random.below(5)))
        default: event.end = .time(try time(start + length, form))
        }
        let rules = [
            "FREQ=DAILY", "FREQ=HOURLY;INTERVAL=5", "FREQ=WEEKLY;BYDAY=SU,MO;BYHOUR=1,2,3;BYMINUTE=0,30",
            "FREQ=MONTHLY;BYDAY=-1SU", "FREQ=DAILY;COUNT=40", "FREQ=YEARLY;BYMONTH=3,10;BYDAY=-1SU",
        ]
        event.recurrence.rules = try (0..<1 + random.below(2)).map { _ in
            try RecurrenceRule(rules[random.below(rules.count)])
        }
        if random.below(4) == 0 {
            event.recurrence.additions = [
                .init(start: try time(start + 5000, form), end: .duration(ICalDuration(seconds: 600))),
                .init(start: try time(start + 100_000, form)),
            ]
        }
        if random.below(3) == 0 { event.recurrence.exclusions = [try time(start + 86_400, form)] }
        return event
    }

    @Test("They are what is made of each time alone", arguments: 0..<8)
    func places(_ seed: Int) throws {
        var random = SplitMix(seed: UInt64(seed))
        var count = 0
        for _ in 0..<60 {
            let event = try Self.event(&random)
            let zone = try #require(TimeZoneReference("Europe/Rome")).rules
            let from = Instant(seconds: 1_705_000_000 + random.below(60_000_000))
            let to = from.adding(seconds: 86_400 * (1 + random.below(200)))
            var plan = try #require(SeriesPlan(event, overrides: [], floatingIn: zone))
            var steps = 1_000_000
            let (candidates, _) = plan.candidates(from: from, to: to, maximum: 10_000, steps: &steps)
            var alone = Window(from: from, to: to, zone: zone)
            for candidate in candidates { alone.add(plan.occurrence(candidate)) }
            var together = Window(from: from, to: to, zone: zone)
            plan.place(candidates, in: &together)
            alone.sort()
            together.sort()
            #expect(together.occurrences == alone.occurrences, "\(event)")
            count += together.occurrences.count
        }
        #expect(count > 500)
    }

    @Test("An event that several hold is changed for one of them")
    func copies() throws {
        let event = try Recurring.event("20260105T090000Z", rules: "FREQ=DAILY;COUNT=3")
        var occurrences = Series(master: event, overrides: []).occurrences(
            from: Instant(seconds: 0), to: Instant(seconds: 1_900_000_000), floatingIn: Recurring.utc
        ).occurrences
        try #require(occurrences.count == 3)
        occurrences[1].event.summary = "changed"
        occurrences[1].event.categories.append("a")
        #expect(occurrences.map(\.event.summary) == ["master", "changed", "master"])
        #expect(occurrences.map(\.event.categories) == [[], ["a"], []])
        #expect(event.summary == "master" && occurrences[0].event == event && occurrences[1].event != event)
    }

    @Test("A window far from DTSTART costs what one near it costs")
    func far() throws {
        let rules = [
            "FREQ=DAILY", "FREQ=DAILY;COUNT=100000", "FREQ=DAILY;INTERVAL=3", "FREQ=WEEKLY;BYDAY=MO,WE,FR",
            "FREQ=HOURLY;INTERVAL=5", "FREQ=MONTHLY;BYDAY=-1FR", "FREQ=MINUTELY;INTERVAL=90;BYHOUR=9,10",
            "FREQ=WEEKLY;BYDAY=TU;COUNT=20000", "FREQ=YEARLY;BYMONTH=3;BYDAY=2TU",
        ]
        let from = Instant(seconds: 1_767_571_200)
        for rule in rules {
            func steps(from start: String) throws -> Int {
                let event = try Recurring.event(start, "Europe/Berlin", rules: rule)
                var budget = RecurrenceBudget(steps: 1_000_000)
                let found = Series(master: event, overrides: []).occurrences(
                    from: from, to: from.adding(seconds: 28 * 86_400), floatingIn: Recurring.utc, maximum: 10_000,
                    budget: &budget)
                #expect(found.isComplete)
                return 1_000_000 - budget.left
            }
            let (near, far) = (try steps(from: "20251201T090000"), try steps(from: "19700105T090000"))
            // What COUNT ends is counted by whole months or weeks, once.
            let counted = rule.contains("COUNT") ? 1200 * 5 : 0
            #expect(far <= near + 16 + counted, "\(rule): \(far) steps, \(near) from nearby")
        }
    }
}
