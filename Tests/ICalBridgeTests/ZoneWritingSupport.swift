// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Calendar
@testable import ICalBridge

/// The calendars that these tests write, and their zones.
enum WrittenZones {
    static let names = SystemTimeZones.shared.identifiers

    static let years = Instant(midnight: Reading.day("20200101"))...Instant(midnight: Reading.day("20380101"))

    /// Zones whose rules have changed since 2020 or are unusual.
    static let changed = [
        "Africa/Cairo", "Africa/Casablanca", "Africa/El_Aaiun", "Africa/Juba", "America/Asuncion",
        "America/Ciudad_Juarez", "America/Dawson", "America/Mexico_City", "America/Nuuk", "America/Ojinaga",
        "America/Santiago", "America/Scoresbysund", "America/Whitehorse", "Antarctica/Casey", "Antarctica/Troll",
        "Antarctica/Vostok", "Asia/Almaty", "Asia/Amman", "Asia/Beirut", "Asia/Damascus", "Asia/Gaza", "Asia/Hebron",
        "Asia/Qostanay", "Asia/Tehran", "Australia/Lord_Howe", "Europe/Dublin", "Europe/Volgograd", "Pacific/Apia",
        "Pacific/Easter", "Pacific/Fiji", "Pacific/Tongatapu", "America/New_York", "Europe/Berlin",
        "Australia/Sydney", "Pacific/Chatham",
    ]

    /// Names with the same clock: the same offsets since 2009 and the same rule for ever.
    struct Clock {
        let zone: SystemTimeZone
        var names: [String]
    }

    static let clocks: [Clock] = {
        struct Key: Hashable {
            var first: Int
            var changes: [Int]
            var offsets: [Int?]
            var onsets: [PosixTimeZone.Onset?]
        }
        let (from, to) = (Instant(midnight: Reading.day("20090101")), Instant(midnight: Reading.day("20500101")))
        var indices: [Key: Int] = [:]
        var clocks: [Clock] = []
        for name in names {
            guard let zone = SystemTimeZones.shared.zone(name) else { continue }
            let daylight = zone.tail?.daylight
            let key = Key(
                first: zone.offset(at: from),
                changes: zone.transitions(from: from, to: to).flatMap { [$0.at.seconds, $0.offsetAfter] },
                offsets: [zone.tail?.offset, daylight?.offset], onsets: [daylight?.begins, daylight?.ends])
            if let index = indices[key] {
                clocks[index].names.append(name)
            } else {
                indices[key] = clocks.count
                clocks.append(Clock(zone: zone, names: [name]))
            }
        }
        return clocks
    }()

    /// Returns what a feed shows by default on a day.
    static func window(_ day: CivilDate, back: Int = 90, ahead: Int = 400) -> ClosedRange<Instant> {
        Instant(midnight: day.adding(days: -back))...Instant(midnight: day.adding(days: ahead + 1))
    }

    /// Days of 2020 to 2037 that come to lie in every part of a year.
    static func days(every step: Int) -> [CivilDate] {
        stride(
            from: Reading.day("20200103").daysSinceEpoch, through: Reading.day("20371231").daysSinceEpoch, by: step
        ).map { CivilDate(daysSinceEpoch: $0) }
    }

    /// The spans of feeds by default, at their widest, and of all the years at once.
    static let spans =
        days(every: 149).map { window($0) }
        + ["20200229", "20260302", "20371231"].map { window(Reading.day($0), back: 3660, ahead: 3660) } + [years]

    /// How often a zone changes in a span, counted from its changes alone.
    enum Kind {
        case fixed
        /// By one rule, throughout.
        case yearly
        /// The zone changes this often, with or without a rule from some year on.
        case changes(Int)

        init(_ zone: SystemTimeZone, in span: ClosedRange<Instant>) {
            let changes = Array(zone.transitions(from: span.lowerBound, to: span.upperBound))
            guard let tail = zone.tail, tail.daylight != nil else {
                self = changes.isEmpty ? .fixed : .changes(changes.count)
                return
            }
            let years = span.lowerBound.utc.date.year - 1...span.upperBound.utc.date.year + 1
            let ruled = years.flatMap { tail.transitions(in: $0) }
            let before = ruled.last { $0.at <= span.lowerBound }?.offsetAfter
            let within = ruled.filter { $0.at > span.lowerBound && $0.at <= span.upperBound }
            let isRuled =
                before == zone.offset(at: span.lowerBound)
                && within.map { [$0.at.seconds, $0.offsetAfter] } == changes.map { [$0.at.seconds, $0.offsetAfter] }
            // Egypt: the last Thursday of October, 24:00, is at times the first of November, and no weekday of a
            // month says so.
            let isSayable = ![tail.daylight?.begins, tail.daylight?.ends].contains {
                $0?.week == 5 && ($0?.time ?? 0) >= 86_400
            }
            self = isRuled && isSayable ? .yearly : .changes(changes.count)
        }
    }

    /// Returns the VTIMEZONEs of a calendar's text.
    static func definitions(in bytes: [UInt8]) -> [TimeZoneDefinition] {
        var log = ProblemLog(limit: 100)
        let text = SourceText(bytes, log: &log)
        let tree = ComponentTree(text, limits: CalendarReader.Limits(), log: &log)
        let zones = tree.calendars.flatMap(\.zones).compactMap {
            TimeZoneDefinition.read($0, in: text.bytes, log: &log)?.definition
        }
        #expect(log.problems.isEmpty)
        return zones
    }
}

extension SystemTimeZone {
    func definition(_ span: ClosedRange<Instant>) -> TimeZoneDefinition {
        definition(from: span.lowerBound, to: span.upperBound)
    }

    /// Returns times at regular steps and around each change, without those that the clock shows for the second time,
    /// which no DTSTART can name.
    func instants(in span: ClosedRange<Instant>, every step: Int) -> [Instant] {
        let changes = transitions(from: span.lowerBound, to: span.upperBound)
        let regular = stride(from: span.lowerBound.seconds, through: span.upperBound.seconds, by: step)
            .map { Instant(seconds: $0) }
        let around = changes.flatMap { change in [-3600, -1, 0, 3600].map { change.at.adding(seconds: $0) } }
        return (regular + around).filter { instant in
            guard span.contains(instant) else { return false }
            let change = transitions(from: instant.adding(seconds: -86_400), to: instant).last
            return change.map { instant.seconds >= $0.at.seconds + $0.offsetBefore - $0.offsetAfter } ?? true
        }
    }
}

extension TimeZoneDefinition {
    /// The definition without the names by which zones with the same time may differ.
    var anonymous: [Observance] {
        observances.map { observance in
            var copy = observance
            copy.name = nil
            return copy
        }
    }
}

extension Instant {
    init(midnight day: CivilDate) { self.init(utc: CivilDateTime(startOf: day)) }
}

extension Event {
    /// Creates an event at an instant by a zone's clock, with the instant in UTC as its title.
    init(uid: String, at instant: Instant, in zone: TimeZoneReference) {
        self.init(uid: uid, start: .zoned(zone.rules.civil(at: instant), zone), summary: instant.basic)
        timestamp = Instant(seconds: 0)
    }
}

/// Runs `zones.py` with the interpreter that KALENDS_PYTHON names.
enum ZoneOracle {
    static let python = ProcessInfo.processInfo.environment["KALENDS_PYTHON"]

    static func run(_ reader: String, _ files: [String]) async throws -> [String] {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Oracles/zones.py")
        // The same tzdata as ours.
        let directory = ProcessInfo.processInfo.environment["TZDIR"] ?? "/usr/share/zoneinfo"
        let result = try await runProgram(
            "/usr/bin/env", [try #require(python), script.path, reader] + files,
            environment: ["PYTHONTZPATH": directory])
        try #require(result.status == 0, "\(reader): \(result.error)")
        return result.output.split(separator: "\n").map(String.init)
    }
}
