// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import OfficeDays

extension Components {
    private static let officeZone = Schema(["type": "string", "description": "A time zone's IANA name."])
    private static let officeTime = Schema(["type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"])
    private static let officeTarget = Schema.object([
        .optional("feed", .bool), .optional("device", .bool), .optional("connectionId", .identifier),
    ]).described("The target of events: `{feed: true}`, `{device: true}` or `{connectionId}`.")
    private static let officeHours = Schema.object([
        .optional("start", officeTime), .optional("end", officeTime),
    ]).described("The hours of timed events; the end must be later than the start.")
    private static let goal = Schema.integer(OfficeSettings.monthlyGoals)
    private static let officeEventTime = Schema.string
        .described("A time; for all-day events a date, and as the end the day after the last.")

    static let officeDays: [(String, Schema)] = [
        (
            "OfficeSettingsInput",
            .input(
                .optional("enabled", Schema.bool.defaulting(to: false)), .optional("target", officeTarget),
                .optional("officeTitle", Schema.text(OfficeSettings.longestTitle)),
                .optional("remoteTitle", Schema.text(OfficeSettings.longestTitle)),
                .optional("eventType", .choice(OfficeSettings.EventType.self)),
                .optional("availability", .choice(OfficeSettings.Availability.self)),
                .optional("timeZoneMode", .choice(OfficeSettings.TimeZoneMode.self)),
                .optional("deviceTimeZone", officeZone), .optional("homeOfficeTimeZone", officeZone),
                .optional("officeHours", officeHours),
                .optional("trackedDays", .array(of: .choice(OfficeWeekday.self))),
                .optional("holidays", .array(of: .date, maximum: OfficeSettings.mostHolidays)),
                .optional("holidayCalendar", .identifier), .optional("createRemoteEvents", .bool),
                .optional("monthlyGoal", goal), .optional("officeAddress", .optionalText()),
                example: [
                    "enabled": .bool(true), "deviceTimeZone": "America/New_York", "target": ["feed": .bool(true)],
                ])
        ),
        (
            "OfficeSettings",
            .output(
                .required("enabled", .bool), .required("target", officeTarget), .required("officeTitle", .string),
                .required("remoteTitle", .string), .required("eventType", .choice(OfficeSettings.EventType.self)),
                .required("availability", .choice(OfficeSettings.Availability.self)),
                .required("timeZoneMode", .choice(OfficeSettings.TimeZoneMode.self)),
                .required("deviceTimeZone", officeZone.orNull), .required("homeOfficeTimeZone", officeZone.orNull),
                .required("officeHours", officeHours),
                .required("trackedDays", .array(of: .choice(OfficeWeekday.self))),
                .required("holidays", .array(of: .date)), .required("holidayCalendar", Schema.string.orNull),
                .required("createRemoteEvents", .bool), .required("monthlyGoal", goal),
                .required("officeAddress", Schema.string.orNull))
        ),
        (
            "OfficeVisitInput",
            .input(
                .required("startAt", .instant), .required("endAt", .instant),
                example: ["startAt": "2026-03-02T09:00:00-05:00", "endAt": "2026-03-02T12:30:00-05:00"])
        ),
        (
            "OfficeVisit",
            .output(
                .required("id", .identifier), .required("startAt", .instant), .required("endAt", .instant),
                .required("createdAt", .instant), .required("updatedAt", .instant))
        ),
        ("OfficeDayInput", .input(.required("status", .choice(DayStatus.self)), example: ["status": "inOffice"])),
        (
            "OfficeDay",
            .output(
                .required("date", .date), .required("status", .choice(DayStatus.self)),
                .required("source", Schema.choice(DaySource.self).orNull),
                .required("officeMinutes", Schema.count.described("Whole minutes of visits, rounded down.")),
                .optional("event", .named("OfficeEvent")))
        ),
        (
            "OfficeEvent",
            .output(
                .required("uid", .string), .required("title", .string), .required("start", officeEventTime),
                .required("end", officeEventTime), .required("allDay", .bool),
                .required("state", .choice(OfficeEvent.State.self)),
                .required("availability", .choice(OfficeSettings.Availability.self)),
                .required("location", Schema.string.orNull), .required("notes", .string))
        ),
        (
            "OfficeStatus",
            .output(
                .required("state", .choice(OfficeState.self)),
                .required(
                    "banner",
                    .output(
                        .required("problem", .choice(OfficeProblem.self)), .required("text", .string),
                        .required("button", .string), .required("action", .choice(OfficeBanner.Action.self))
                    ).orNull),
                .required("lastSyncAt", Schema.instant.orNull),
                .required("lastSyncStatus", Schema.one(of: ["success", "partial", "failed"]).orNull),
                .required("enabledAt", Schema.instant.orNull),
                .required(
                    "counts",
                    .output(
                        .required("officeDaysThisMonth", .count), .required("remoteDaysThisMonth", .count),
                        .required("monthlyGoal", goal), .required("managed", .count), .required("unmanaged", .count),
                        .required("removed", .count), .required("writes", .count), .required("errors", .count))))
        ),
    ]
}
