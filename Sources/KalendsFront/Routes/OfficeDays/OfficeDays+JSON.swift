// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore
import OfficeDays
import Storage

extension OfficeSettings: Viewed {
    static let zone = Schema(["type": "string", "description": "A time zone's IANA name."])
    static let goal = Schema.integer(monthlyGoals)
    private static let time = Schema(["type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"])
    static let hours = Schema.object([.optional("start", time), .optional("end", time)])
        .described("The hours of timed events; the end must be later than the start.")

    static let view = View<OfficeSettings>([
        .flag("enabled", \.enabled), .init("target", Target.schema) { $0.target.json },
        .text("officeTitle", \.officeTitle),
        .text("remoteTitle", \.remoteTitle), .choice("eventType", \.eventType),
        .choice("availability", \.availability), .choice("timeZoneMode", \.timeZoneMode),
        .text("deviceTimeZone", \.deviceTimeZone).documented(zone.orNull),
        .text("homeOfficeTimeZone", \.homeOfficeTimeZone).documented(zone.orNull),
        .init("officeHours", hours) {
            [
                "start": .string(OfficeHours.text($0.officeHours.start)),
                "end": .string(OfficeHours.text($0.officeHours.end)),
            ]
        },
        .choices("trackedDays") { OfficeWeekday.allCases.filter($0.trackedDays.contains) },
        .init("holidays", .array(of: .date)) { .array($0.holidays.sorted().map { .string($0.description) }) },
        .text("holidayCalendar", \.holidayCalendar), .flag("createRemoteEvents", \.createRemoteEvents),
        .count("monthlyGoal", \.monthlyGoal).documented(goal), .text("officeAddress", \.officeAddress),
    ])
}

extension OfficeSettings.Target {
    static let schema = Schema.object([
        .optional("feed", .bool), .optional("device", .bool), .optional("connectionId", .identifier),
    ]).described("The target of events: `{feed: true}`, `{device: true}` or `{connectionId}`.")

    fileprivate var json: JSONValue {
        switch self {
        case .feed: ["feed": true]
        case .device: ["device": true]
        case .connection(let id): ["connectionId": .string(id)]
        }
    }
}

extension OfficeDiary.ShownDay: Viewed {
    static let view = View<Self>([
        .text("date", \.day.date.description).documented(.date), .choice("status", \.day.status),
        .choice("source", \.day.source),
        .count("officeMinutes", \.day.officeMinutes).described("Whole minutes of visits, rounded down."),
        .optional("event", .named("OfficeEvent"), { day in day.day.event.map { ($0, day.clock) } }) {
            OfficeEvent.view.json($0)
        },
    ])
}

extension OfficeEvent {
    static var view: View<(event: OfficeEvent, clock: any OfficeClock)> {
        let time = Schema.string.described("A time; for all-day events a date, and as the end the day after the last.")
        return View([
            .text("uid", \.event.uid), .text("title", \.event.title),
            .text("start") { $0.event.times($0.clock).start }.documented(time),
            .text("end") { $0.event.times($0.clock).end }.documented(time), .flag("allDay", \.event.isAllDay),
            .choice("state", \.event.state), .choice("availability", \.event.availability),
            .text("location", \.event.location), .text("notes", \.event.notes),
        ])
    }

    private func times(_ clock: any OfficeClock) -> (start: String, end: String) {
        switch span {
        case .allDay(let date): (date.description, date.adding(days: 1).description)
        case .timed(let start, let end, _): (clock.rfc3339(start), clock.rfc3339(end))
        }
    }
}

extension OfficeDiary.ShownVisit: Viewed {
    static let view = View<Self>([
        .id("id", \.visit.id),
        .text("startAt") { $0.clock.rfc3339($0.visit.startsAt / 1000) }.documented(.instant),
        .text("endAt") { $0.clock.rfc3339($0.visit.endsAt / 1000) }.documented(.instant),
        .instant("createdAt", \.visit.createdAt), .instant("updatedAt", \.visit.updatedAt),
    ])
}

extension OfficeDiary.Status: Viewed {
    static let view = View<Self>([
        .choice("state", \.state), .object("banner", \.banner, OfficeBanner.view),
        .instant("lastSyncAt", \.profile.lastSyncAt), .choice("lastSyncStatus", \.profile.lastSync),
        .instant("enabledAt", \.profile.enabledAt),
        .object(
            "counts", \.self,
            View([
                .count("officeDaysThisMonth", \.counts.office), .count("remoteDaysThisMonth", \.counts.remote),
                .count("monthlyGoal", \.goal).documented(OfficeSettings.goal), .count("managed", \.counts.managed),
                .count("unmanaged", \.counts.unmanaged), .count("removed", \.counts.removed),
                .count("writes", \.profile.writes), .count("errors", \.profile.errors),
            ])),
    ])
}

extension OfficeBanner: Viewed {
    static let view = View<OfficeBanner>([
        .choice("problem", \.problem), .text("text", \.text), .text("button", \.button), .choice("action", \.action),
    ])
}

extension OfficeClock {
    /// The instant in RFC 3339, with the zone's offset at that instant.
    fileprivate func rfc3339(_ second: Int) -> String {
        Instant(seconds: second).rfc3339(offset: secondsEast(at: second))
    }
}
