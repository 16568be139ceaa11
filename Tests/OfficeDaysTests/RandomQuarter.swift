// SPDX-License-Identifier: Apache-2.0

import Base
import Calendar
import OfficeDays
import TestSupport

/// Three months of a person's life, with settings, visits, words and edits at random times.
struct RandomQuarter {
    /// Zones whose clocks skip and repeat midnight, the hour before it, half an hour, or nothing.
    static let zones = [
        "America/New_York", "Europe/Berlin", "America/Nuuk", "America/Havana", "Atlantic/Azores", "Australia/Lord_Howe",
        "Asia/Kathmandu", "Pacific/Auckland", "America/Santiago", "Asia/Tokyo", "Africa/Casablanca",
        "Pacific/Kiritimati",
    ]

    enum Action {
        case visit(Visit)
        case unvisit(String)
        case word(CivilDate, DayStatus)
        case unword(CivilDate)
        case settings(OfficeSettings)
        case edited(CivilDate)
        case deleted(CivilDate)
        case cleanup, tick
    }

    let from: CivilDate
    let to: CivilDate
    private let first: OfficeSettings
    private var steps: [(now: Int, action: Action)] = []

    init(seed: UInt64, zone: String) {
        var numbers = SplitMix(seed: seed)
        let month = numbers.one(of: [1, 4, 7, 10])
        from = needed(CivilDate(year: Int.random(in: 2013...2032, using: &numbers), month: month, day: 1))
        to = from.adding(days: 75).endOfMonth
        var settings = OfficeSettings()
        settings.deviceTimeZone = zone
        first = settings
        var now = from.daysSinceEpoch * 86_400 + Int.random(in: -200_000...400_000, using: &numbers)
        settings.enabled = true
        Self.vary(&settings, &numbers, often: 3)
        if Bool.random(using: &numbers) { steps.append((now - 100_000, Self.visit(before: now - 100_000, &numbers))) }
        steps.append((now, .settings(settings)))
        while true {
            now += Int.random(in: 0...numbers.one(of: [600, 30_000, 90_000, 300_000]), using: &numbers)
            guard now < to.daysSinceEpoch * 86_400 + 200_000 else { break }
            let date = CivilDate(
                daysSinceEpoch: now.floorDivided(by: 86_400) + Int.random(in: -12...5, using: &numbers))
            switch Int.random(in: 0..<100, using: &numbers) {
            case 0..<45: steps.append((now, Self.visit(before: now, &numbers)))
            case 45..<50: steps.append((now, .unvisit("v\(Int.random(in: 0..<40, using: &numbers))")))
            case 50..<58: steps.append((now, .word(date, numbers.one(of: DayStatus.allCases))))
            case 58..<62: steps.append((now, .unword(date)))
            case 62..<72:
                Self.vary(&settings, &numbers, often: 9)
                steps.append((now, .settings(settings)))
            case 72..<76: steps.append((now, .edited(date)))
            case 76..<80: steps.append((now, .deleted(date)))
            case 80..<81: steps.append((now, .cleanup))
            default: steps.append((now, .tick))
            }
        }
    }

    /// A visit of seconds to half a day, some of them long past or of exactly an hour.
    private static func visit(before now: Int, _ numbers: inout SplitMix) -> Action {
        let length =
            numbers.one(of: [3599, 3600, 3601, 1800, 60, Int.random(in: 1...40_000, using: &numbers)])
        let late = [0, Int.random(in: 0...90_000, using: &numbers), Int.random(in: 0...2_000_000, using: &numbers)]
        let end = now - numbers.one(of: late)
        return .visit(needed(Visit(id: "v\(Int.random(in: 0..<60, using: &numbers))", start: end - length, end: end)))
    }

    private static func vary(_ settings: inout OfficeSettings, _ numbers: inout SplitMix, often one: Int) {
        func happens() -> Bool { Int.random(in: 0..<one, using: &numbers) == 0 }
        if happens() { settings.officeTitle = numbers.one(of: ["Office Day", "Büro", "HQ 🏢"]) }
        if happens() { settings.remoteTitle = numbers.one(of: ["Remote Work", "Home", "在宅勤務"]) }
        if happens() { settings.eventType = settings.eventType == .timed ? .allDay : .timed }
        if happens() { settings.availability = settings.availability == .free ? .busy : .free }
        if happens() {
            let (start, end) = numbers.one(
                of: [(540, 1020), (0, 60), (90, 150), (120, 180), (720, 735), (1380, 1439)])
            settings.officeHours = hours(start, end)
        }
        if happens() {
            settings.trackedDays = Set(
                OfficeWeekday.allCases.filter { _ in Int.random(in: 0..<4, using: &numbers) > 0 })
        }
        if happens() { settings.createRemoteEvents.toggle() }
        if happens() { settings.monthlyGoal = Int.random(in: 1...31, using: &numbers) }
        if happens() { settings.officeAddress = numbers.one(of: [nil, "1 Main St", "Hauptstraße 5"]) }
        if happens(), happens() { settings.deviceTimeZone = numbers.one(of: zones) }
        if happens() { settings.homeOfficeTimeZone = numbers.one(of: zones) }
        if happens(), settings.homeOfficeTimeZone != nil {
            settings.timeZoneMode = settings.timeZoneMode == .device ? .homeOffice : .device
        }
        if happens() {
            let year = Int.random(in: 2013...2032, using: &numbers)
            settings.holidays = Set(
                (0..<40).compactMap { _ in
                    CivilDate(
                        year: year, month: Int.random(in: 1...12, using: &numbers),
                        day: Int.random(in: 1...31, using: &numbers))
                })
        }
        if one > 3, happens() { settings.enabled.toggle() }
    }

    /// Returns the library's answer.
    func answer() throws -> JSONValue {
        var log = OfficeLog(settings: first, seed: "quarter")
        let context = OfficeContext.foundation
        var counts: [JSONValue] = []
        for (now, action) in steps {
            var writes = log.advance(to: now, context).writes
            switch action {
            case .visit(let visit): writes += log.put(visit, now: now, context).writes
            case .unvisit(let id): writes += log.removeVisit(id, now: now, context).writes
            case .word(let date, let status): writes += log.say(status, on: date, now: now, context).writes
            case .unword(let date): writes += log.say(nil, on: date, now: now, context).writes
            case .settings(let settings): writes += log.change(to: settings, now: now, context).writes
            case .edited(let date): writes += log.wasEdited(date).writes
            case .deleted(let date): writes += log.wasDeleted(date).writes
            case .cleanup: writes += log.cleanUp().writes
            case .tick: break
            }
            counts.append(.integer(writes.count))
        }
        let days = (from...to).map { log.day($0, context).json }
        return ["writes": .array(counts), "days": .array(days)]
    }

    /// The question for the model.
    var json: JSONValue {
        [
            "from": .string(from.description), "to": .string(to.description), "settings": first.json,
            "steps": .array(steps.map { $0.action.json(at: $0.now) }),
        ]
    }
}

extension RandomQuarter.Action {
    func json(at now: Int) -> JSONValue {
        switch self {
        case .visit(let visit):
            [
                "now": .integer(now), "do": "visit", "id": .string(visit.id), "start": .integer(visit.start),
                "end": .integer(visit.end),
            ]
        case .unvisit(let id): ["now": .integer(now), "do": "unvisit", "id": .string(id)]
        case .word(let date, let status):
            ["now": .integer(now), "do": "word", "date": .string(date.description), "status": .string(status.rawValue)]
        case .unword(let date): ["now": .integer(now), "do": "unword", "date": .string(date.description)]
        case .settings(let settings): ["now": .integer(now), "do": "settings", "settings": settings.json]
        case .edited(let date): ["now": .integer(now), "do": "edited", "date": .string(date.description)]
        case .deleted(let date): ["now": .integer(now), "do": "deleted", "date": .string(date.description)]
        case .cleanup: ["now": .integer(now), "do": "cleanup"]
        case .tick: ["now": .integer(now), "do": "tick"]
        }
    }
}

extension OfficeSettings {
    var json: JSONValue {
        [
            "enabled": .bool(enabled), "officeTitle": .string(officeTitle), "remoteTitle": .string(remoteTitle),
            "eventType": .string(eventType.rawValue), "availability": .string(availability.rawValue),
            "timeZoneMode": .string(timeZoneMode.rawValue), "deviceTimeZone": JSONValue(deviceTimeZone),
            "homeOfficeTimeZone": JSONValue(homeOfficeTimeZone),
            "officeHours": [
                "start": .string(OfficeHours.text(officeHours.start)),
                "end": .string(OfficeHours.text(officeHours.end)),
            ],
            "trackedDays": .array(OfficeWeekday.allCases.filter(trackedDays.contains).map { .string($0.rawValue) }),
            "holidays": .array(holidays.sorted().map { .string($0.description) }),
            "createRemoteEvents": .bool(createRemoteEvents), "monthlyGoal": .integer(monthlyGoal),
            "officeAddress": JSONValue(officeAddress),
        ]
    }
}

extension OfficeDay {
    var json: JSONValue {
        var members: [ByteString: JSONValue] = [
            "date": .string(date.description), "status": .string(status.rawValue),
            "source": JSONValue(source?.rawValue), "officeMinutes": .integer(officeMinutes),
        ]
        if let event {
            let (start, end, zone): (JSONValue, JSONValue, JSONValue) =
                switch event.span {
                case .allDay(let date): (.string(date.description), .string(date.adding(days: 1).description), .null)
                case .timed(let start, let end, let zone): (.integer(start), .integer(end), .string(zone))
                }
            members["event"] = [
                "uid": .string(event.uid), "title": .string(event.title), "start": start, "end": end,
                "allDay": .bool(event.isAllDay), "availability": .string(event.availability.rawValue),
                "location": JSONValue(event.location), "notes": .string(event.notes),
                "state": .string(event.state.rawValue), "zone": zone,
            ]
        }
        return .object(members)
    }
}
