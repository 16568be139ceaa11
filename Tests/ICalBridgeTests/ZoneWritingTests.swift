// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Calendar
@testable import ICalBridge

/// Every zone of the system's tzdata is written as a VTIMEZONE and read back from only that text.
@Suite("Zones as they are written")
struct ZoneWritingTests {
    // MARK: In Swift

    @Test("Every name is a zone, and other files beside the zones are not")
    func names() {
        #expect(WrittenZones.names.count > 500)
        for name in WrittenZones.names { #expect(TimeZoneReference(name) != nil, "\(name)") }
        for name in [
            "EST5EDT", "CET", "EST", "HST", "GB-Eire", "W-SU", "Etc/GMT+5", "Etc/GMT-14", "America/Argentina/Ushuaia",
        ] {
            #expect(WrittenZones.names.contains(name))
        }
        for name in [
            "localtime", "posixrules", "posix/Europe/Berlin", "right/Europe/Berlin", "leapseconds", "zone.tab", "Etc",
            "europe/berlin", "../Europe/Berlin", "Europe/", "",
        ] {
            #expect(TimeZoneReference(name) == nil, "\(name)")
        }
        #expect(TimeZoneReference("Factory") == nil)
    }

    @Test(
        "A definition keeps the zone's offsets: around every change, every few weeks, whatever day a feed stands on")
    func offsets() {
        var compared = 0
        for clock in WrittenZones.clocks {
            for span in WrittenZones.spans {
                let definition = clock.zone.definition(span)
                var instants = [span.lowerBound, span.upperBound]
                for change in clock.zone.transitions(from: span.lowerBound, to: span.upperBound) {
                    instants += [-3600, -1, 0, 1, 3600].map { change.at.adding(seconds: $0) }
                }
                let step = (span.upperBound.seconds - span.lowerBound.seconds) / 17
                instants += (1..<17).map { span.lowerBound.adding(seconds: $0 * step) }
                let wrong = instants.first {
                    span.contains($0) && definition.offset(at: $0) != clock.zone.offset(at: $0)
                }
                compared += instants.count
                #expect(wrong == nil, "\(clock.zone.identifier) from \(span.lowerBound) to \(span.upperBound)")
            }
        }
        #expect(compared > 150_000)
    }

    @Test("Zones that keep the same time are written alike, under each of their names")
    func links() {
        var compared = 0
        for clock in WrittenZones.clocks {
            for span in WrittenZones.spans {
                let first = clock.zone.definition(span).anonymous
                for name in clock.names.dropFirst() {
                    let definition = SystemTimeZones.shared.zone(name)?.definition(span)
                    #expect(definition?.identifier == name)
                    #expect(definition?.anonymous == first, "\(name) beside \(clock.zone.identifier)")
                    compared += 1
                }
            }
        }
        #expect(compared > 15_000)
    }

    /// A feed may show only today, and a file may contain a single event.
    @Test("A series of old without an end has the rules that its zone has today, and one with an end those until then")
    func oldSeries() {
        func zone(_ rule: String) -> String {
            let event = Reading.event(["DTSTART;TZID=America/New_York:19970902T090000", "RRULE:\(rule)"])
            return Forms.text(Forms.calendar(event).serialized())
        }
        // Since 2007 the clocks change in March and November.
        #expect(zone("FREQ=MONTHLY").contains("DTSTART:20070311T020000\r\n"))
        #expect(zone("FREQ=MONTHLY;COUNT=600").contains("DTSTART:20070311T020000\r\n"))
        #expect(zone("FREQ=MONTHLY;UNTIL=20081231T000000Z").contains("DTSTART:20070311T020000\r\n"))
        #expect(!zone("FREQ=MONTHLY;UNTIL=19990101T000000Z").contains("DTSTART:20070311T020000\r\n"))
    }

    @Test("A definition for a few days is right too")
    func fewDays() {
        var wrong: Set<String> = []
        for clock in WrittenZones.clocks {
            let edges = clock.zone.transitions(from: WrittenZones.years.lowerBound, to: WrittenZones.years.upperBound)
                .prefix(24).flatMap { change in [-6, -3, 1].map { change.at.adding(seconds: $0 * 86_400) } }
            for from in WrittenZones.days(every: 37).map(Instant.init(midnight:)) + edges {
                let span = from...from.adding(seconds: 5 * 86_400)
                let definition = clock.zone.definition(span)
                let instants =
                    [span.lowerBound, from.adding(seconds: 216_000), span.upperBound]
                    + clock.zone.transitions(from: span.lowerBound, to: span.upperBound)
                    .flatMap { [$0.at.adding(seconds: -1), $0.at] }
                if instants.contains(where: { definition.offset(at: $0) != clock.zone.offset(at: $0) }) {
                    wrong.insert(clock.zone.identifier)
                }
            }
        }
        #expect(wrong == [])
    }

    @Test("A definition for years before 1970 and after it does not go back to its first offset in 1970")
    func across1970() throws {
        let span = Instant(midnight: Reading.day("19600701"))...Instant(midnight: Reading.day("19720201"))
        for clock in WrittenZones.clocks {
            let definition = clock.zone.definition(span)
            let wrong = stride(from: span.lowerBound.seconds, through: span.upperBound.seconds, by: 10 * 86_400)
                .first { definition.offset(at: Instant(seconds: $0)) != clock.zone.offset(at: Instant(seconds: $0)) }
            #expect(wrong == nil, "\(clock.zone.identifier)")
        }
    }

    @Test("What is written is what is read")
    func roundTrip() {
        for span in WrittenZones.spans.suffix(3) {
            let written = WrittenZones.names.compactMap { SystemTimeZones.shared.zone($0)?.definition(span) }
            var writer = ContentLineWriter()
            writer.line("BEGIN", "VCALENDAR")
            for definition in written { definition.write(to: &writer) }
            writer.line("END", "VCALENDAR")
            #expect(WrittenZones.definitions(in: writer.bytes) == written)
        }
    }

    // MARK: Shape

    @Test("A VTIMEZONE has the shape that every calendar app reads")
    func shape() throws {
        var parts: [Int: Int] = [:]
        let days = ["20200103", "20221101", "20240315", "20260302", "20311111", "20371231"].map(Reading.day)
        for span in days.map({ WrittenZones.window($0) }) + [WrittenZones.years] {
            let calendar = ICalendar(
                events: WrittenZones.names.compactMap { name in
                    TimeZoneReference(name).map { Event(uid: name, at: span.lowerBound, in: $0) }
                })
            let lines = String(decoding: calendar.serialized(coverage: span), as: UTF8.self)
                .components(separatedBy: "\r\n")
            let zones = lines.split(separator: "BEGIN:VTIMEZONE").dropFirst().map {
                Array($0.prefix { $0 != "END:VTIMEZONE" })
            }
            // Plain names, each once, in order.
            #expect(zones.map(\.first) == WrittenZones.names.map { "TZID:\($0)" })
            let covered =
                span.lowerBound.adding(seconds: -2 * 86_400)...span.upperBound.adding(seconds: 2 * 86_400)
            for (name, zone) in zip(WrittenZones.names, zones) {
                let system = try #require(SystemTimeZones.shared.zone(name))
                let kind = WrittenZones.Kind(system, in: covered)
                let starts = zone.filter { $0.hasPrefix("DTSTART") }
                parts[starts.count, default: 0] += 1
                #expect(starts.allSatisfy { $0.wholeMatch(of: /DTSTART:\d{8}T\d{6}/) != nil }, "\(name)")
                let offsets = zone.filter { $0.hasPrefix("TZOFFSET") }
                #expect(offsets.count == 2 * starts.count)
                #expect(
                    offsets.allSatisfy { $0.wholeMatch(of: /TZOFFSET(FROM|TO):(\+|-(?!0000))\d{4}/) != nil }, "\(name)")
                let known = ["BEGIN", "END", "TZID", "DTSTART", "RRULE", "TZOFFSETFROM", "TZOFFSETTO", "TZNAME"]
                #expect(zone.allSatisfy { known.contains(String($0.prefix { $0 != ":" })) }, "\(name): no RDATE")
                let rules = zone.filter { $0.hasPrefix("RRULE") }
                #expect(rules.allSatisfy { $0.hasPrefix("RRULE:FREQ=YEARLY;") && !$0.contains("UNTIL") }, "\(name)")
                switch kind {
                case .fixed:
                    #expect(starts == ["DTSTART:19700101T000000"] && rules.isEmpty, "\(name)")
                case .yearly:
                    #expect(starts.count == 2 && rules.count == 2, "\(name)")
                    #expect(starts.allSatisfy { $0.hasPrefix("DTSTART:1970") }, "\(name)")
                    #expect(zone.filter { $0.hasPrefix("BEGIN") } == ["BEGIN:STANDARD", "BEGIN:DAYLIGHT"], "\(name)")
                case .changes(let count):
                    // The offset before the first change, the changes that follow no rule, and the rule.
                    #expect(starts.count <= count + 3, "\(name)")
                    #expect(starts.contains("DTSTART:19700101T000000"), "\(name)")
                }
            }
        }
        #expect((parts[1] ?? 0) > 1000)
        #expect((parts[2] ?? 0) > 1000)
    }

    // MARK: Laws that changed

    /// What the clocks of a place showed, according to the news and not to tzdata.
    @Test(
        "Laws that changed and rules that are odd",
        arguments: [
            // Morocco leaves +01 for Ramadan; Western Sahara with it.
            ("Africa/Casablanca", "20260214T120000", "20260214T110000Z"),
            ("Africa/Casablanca", "20260301T120000", "20260301T120000Z"),
            ("Africa/Casablanca", "20260323T120000", "20260323T110000Z"),
            ("Africa/El_Aaiun", "20260301T120000", "20260301T120000Z"),
            // Egypt since 2023: from the last Friday of April to the last Thursday of October, 24:00.
            ("Africa/Cairo", "20220715T120000", "20220715T100000Z"),
            ("Africa/Cairo", "20230428T010000", "20230427T220000Z"),
            ("Africa/Cairo", "20251030T233000", "20251030T203000Z"),
            ("Africa/Cairo", "20251031T000000", "20251030T220000Z"),
            ("Egypt", "20260715T120000", "20260715T090000Z"),
            // Palestine: after Ramadan in 2025, on the Saturday before the last Sunday of March in 2026.
            ("Asia/Gaza", "20250411T120000", "20250411T100000Z"),
            ("Asia/Gaza", "20250413T120000", "20250413T090000Z"),
            ("Asia/Hebron", "20260328T030000", "20260328T000000Z"),
            // Greenland: -03 for good became -02 in 2023, with summer time again from 2024.
            ("America/Nuuk", "20230101T120000", "20230101T150000Z"),
            ("America/Nuuk", "20230701T120000", "20230701T140000Z"),
            ("America/Nuuk", "20240101T120000", "20240101T140000Z"),
            ("America/Godthab", "20240701T120000", "20240701T130000Z"),
            ("America/Scoresbysund", "20240101T120000", "20240101T130000Z"),
            ("America/Scoresbysund", "20250101T120000", "20250101T140000Z"),
            // Chile put summer off by a week in 2022; Paraguay stays in summer since October 2024.
            ("America/Santiago", "20220910T120000", "20220910T160000Z"),
            ("America/Santiago", "20220911T120000", "20220911T150000Z"),
            ("America/Santiago", "20260906T120000", "20260906T150000Z"),
            ("Pacific/Easter", "20260905T233000", "20260906T043000Z"),
            ("America/Asuncion", "20240701T120000", "20240701T160000Z"),
            ("America/Asuncion", "20250701T120000", "20250701T150000Z"),
            // Half an hour of summer, two hours of it, and a summer that is called standard time.
            ("Australia/Lord_Howe", "20260115T120000", "20260115T010000Z"),
            ("Australia/Lord_Howe", "20260715T120000", "20260715T013000Z"),
            ("Australia/Lord_Howe", "20260405T014500", "20260404T144500Z"),
            ("Antarctica/Troll", "20260115T120000", "20260115T120000Z"),
            ("Antarctica/Troll", "20260715T120000", "20260715T100000Z"),
            ("Antarctica/Troll", "20261025T013000", "20261024T233000Z"),
            ("Europe/Dublin", "20260115T120000", "20260115T120000Z"),
            ("Eire", "20260715T120000", "20260715T110000Z"),
            // One time for all of Kazakhstan since March 2024.
            ("Asia/Almaty", "20240229T120000", "20240229T060000Z"),
            ("Asia/Almaty", "20240301T120000", "20240301T070000Z"),
            // Mexico without summer since 2022, its border as the United States.
            ("America/Mexico_City", "20220715T120000", "20220715T170000Z"),
            ("America/Mexico_City", "20230715T120000", "20230715T180000Z"),
            ("America/Ciudad_Juarez", "20221115T120000", "20221115T180000Z"),
            ("America/Ciudad_Juarez", "20221215T120000", "20221215T190000Z"),
            ("America/Ojinaga", "20230715T120000", "20230715T170000Z"),
            // Iran without summer since 2022, Jordan and Syria with nothing but, Lebanon as ever.
            ("Asia/Tehran", "20220715T120000", "20220715T073000Z"),
            ("Iran", "20230715T120000", "20230715T083000Z"),
            ("Asia/Amman", "20220115T120000", "20220115T100000Z"),
            ("Asia/Amman", "20230115T120000", "20230115T090000Z"),
            ("Asia/Damascus", "20230115T120000", "20230115T090000Z"),
            ("Asia/Beirut", "20260715T120000", "20260715T090000Z"),
            ("Asia/Beirut", "20260115T120000", "20260115T100000Z"),
            // The Pacific.
            ("Pacific/Apia", "20210115T120000", "20210114T220000Z"),
            ("Pacific/Apia", "20220115T120000", "20220114T230000Z"),
            ("Pacific/Tongatapu", "20260115T120000", "20260114T230000Z"),
            ("Pacific/Fiji", "20201225T120000", "20201224T230000Z"),
            ("Pacific/Fiji", "20211225T120000", "20211225T000000Z"),
            ("NZ-CHAT", "20260115T120000", "20260114T221500Z"),
            // South Sudan in 2021, Volgograd and the Yukon in 2020.
            ("Africa/Juba", "20210131T120000", "20210131T090000Z"),
            ("Africa/Juba", "20210202T120000", "20210202T100000Z"),
            ("Europe/Volgograd", "20201226T120000", "20201226T080000Z"),
            ("Europe/Volgograd", "20201228T120000", "20201228T090000Z"),
            ("America/Whitehorse", "20200115T120000", "20200115T200000Z"),
            ("America/Dawson", "20201215T120000", "20201215T190000Z"),
            // Names that are rules.
            ("EST5EDT", "20260715T120000", "20260715T160000Z"),
            ("CET", "20260715T120000", "20260715T100000Z"),
            ("EST", "20260715T120000", "20260715T170000Z"),
            ("HST", "20260715T120000", "20260715T220000Z"),
            ("Etc/GMT+5", "20260715T120000", "20260715T170000Z"),
            ("Etc/GMT-14", "20260715T120000", "20260714T220000Z"),
        ])
    func laws(name: String, wall: String, expected: String) throws {
        let zone = try #require(TimeZoneReference(name))
        let time = Reading.wall(wall)
        let instant = Instant(utc: Reading.wall(String(expected.dropLast())))
        #expect(zone.rules.instant(of: time) == instant)
        // From feeds whose windows are well before, at and well after the time.
        for distance in [-390, -200, 0, 80] {
            let span = WrittenZones.window(time.date.adding(days: distance))
            let calendar = ICalendar(events: [Event(uid: "one", at: instant, in: zone)])
            let bytes = calendar.serialized(coverage: span)
            #expect(String(decoding: bytes, as: UTF8.self).contains("DTSTART;TZID=\(name):\(wall)\r\n"))
            let definition = try #require(WrittenZones.definitions(in: bytes).first)
            #expect(definition.instant(of: time) == instant, "\(distance) days")
        }
    }

    // MARK: Readers that nobody here wrote

    /// `zones.py` names the known faults of the readers.
    @Test(
        "dateutil, icalendar and Home Assistant's ical read every event of every zone at its instant",
        .enabled(if: ZoneOracle.python != nil))
    func oracles() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "zones-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var files: [String] = []
        var count = 0
        func write(_ span: ClosedRange<Instant>, _ zones: [(name: String, step: Int)]) throws {
            var events: [Event] = []
            for (name, step) in zones {
                let zone = try #require(SystemTimeZones.shared.zone(name))
                let reference = TimeZoneReference(zone)
                for (number, instant) in zone.instants(in: span, every: step).enumerated() {
                    events.append(Event(uid: "\(name) \(number)", at: instant, in: reference))
                }
            }
            count += events.count
            let file = folder.appending(path: "\(files.count).ics")
            try Data(ICalendar(events: events).serialized(coverage: span)).write(to: file)
            files.append(file.path)
        }
        // All names over all years, those with the same time at fewer times.
        for clock in WrittenZones.clocks {
            try write(
                WrittenZones.years,
                clock.names.map { ($0, $0 == clock.zone.identifier ? 9 * 86_400 + 4561 : 151 * 86_400 + 4561) })
        }
        // Feeds on many days: in each the zones whose laws changed, and some of all others.
        let days = WrittenZones.days(every: 211)
        for (index, day) in days.enumerated() {
            let others = WrittenZones.names.indices.filter { $0 % days.count == index }.map { WrittenZones.names[$0] }
            try write(
                WrittenZones.window(day),
                Set(WrittenZones.changed + others).sorted().map { ($0, 19 * 86_400 + 4561) })
        }
        #expect(count > 150_000)
        for reader in ["tzdata", "dateutil", "icalendar", "ical"] {
            var lines = try await ZoneOracle.run(reader, files)
            #expect(lines.popLast() == "compared\t\(count)", "\(reader)")
            #expect(lines.isEmpty, "\(reader): \(lines.count) times are read wrong, as \(lines.prefix(5))")
        }
    }
}

@Suite("Names of zones that a file made up")
struct ZoneNameTests {
    @Test(
        "A name with quotes, commas or semicolons is the same in the zone and in its use",
        arguments: ["Customized, 1", "(UTC+01:00) A; B: \"C\"", "back\\slash"])
    func names(_ name: String) throws {
        var reading = CalendarReader().read(
            Array(
                """
                BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VTIMEZONE\r\nTZID:Mine\r\nBEGIN:STANDARD\r\n\
                DTSTART:19700101T000000\r\nTZOFFSETFROM:+0017\r\nTZOFFSETTO:+0017\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\n\
                BEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;TZID=Mine:20260301T120000\r\nEND:VEVENT\r\n\
                END:VCALENDAR\r\n
                """.utf8))
        var event = try #require(reading.events.first)
        guard case .zoned(let wall, let zone) = try #require(event.start) else {
            Issue.record("not zoned")
            return
        }
        var definition = try #require(zone.definition)
        definition.identifier = name
        event.start = .zoned(wall, TimeZoneReference(definition))
        reading = CalendarReader().read(ICalendar(events: [event]).serialized())
        #expect(reading.problems.isEmpty, "\(reading.problems)")
        let start = try #require(reading.events.first?.start)
        #expect(start.instant(floatingIn: FixedOffset.utc) == Instant(rfc3339: "2026-03-01T11:43:00Z"))
    }
}
