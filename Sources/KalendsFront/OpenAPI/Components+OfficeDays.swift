// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import OfficeDays

extension Components {
    static let officeDays: [(String, Schema)] = [
        (
            "OfficeSettingsInput",
            .input(
                .optional("enabled", Schema.bool.defaulting(to: false)),
                .optional("target", OfficeSettings.Target.schema),
                .optional("officeTitle", Schema.text(OfficeSettings.longestTitle)),
                .optional("remoteTitle", Schema.text(OfficeSettings.longestTitle)),
                .optional("eventType", .choice(OfficeSettings.EventType.self)),
                .optional("availability", .choice(OfficeSettings.Availability.self)),
                .optional("timeZoneMode", .choice(OfficeSettings.TimeZoneMode.self)),
                .optional("deviceTimeZone", OfficeSettings.zone), .optional("homeOfficeTimeZone", OfficeSettings.zone),
                .optional("officeHours", OfficeSettings.hours),
                .optional("trackedDays", .array(of: .choice(OfficeWeekday.self))),
                .optional("holidays", .array(of: .date, maximum: OfficeSettings.mostHolidays)),
                .optional("holidayCalendar", .identifier), .optional("createRemoteEvents", .bool),
                .optional("monthlyGoal", OfficeSettings.goal), .optional("officeAddress", .optionalText()),
                example: [
                    "enabled": .bool(true), "deviceTimeZone": "America/New_York", "target": ["feed": .bool(true)],
                ])
        ),
        ("OfficeSettings", OfficeSettings.view.schema),
        (
            "OfficeVisitInput",
            .input(
                .required("startAt", .instant), .required("endAt", .instant),
                example: ["startAt": "2026-03-02T09:00:00-05:00", "endAt": "2026-03-02T12:30:00-05:00"])
        ),
        ("OfficeVisit", OfficeDiary.ShownVisit.view.schema),
        ("OfficeDayInput", .input(.required("status", .choice(DayStatus.self)), example: ["status": "inOffice"])),
        ("OfficeDay", OfficeDiary.ShownDay.view.schema),
        ("OfficeEvent", OfficeEvent.view.schema),
        ("OfficeStatus", OfficeDiary.Status.view.schema),
    ]
}
