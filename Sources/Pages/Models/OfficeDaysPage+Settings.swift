// SPDX-License-Identifier: Apache-2.0

import Calendar

extension OfficeDaysPage {
    func settingFields(_ paper: RenderContext) -> [Field] {
        let words = paper.words
        let targets =
            [
                Choice(value: "", label: words["officeTargetNone"]),
                Choice(value: "feed", label: words["officeTargetFeed"]),
                Choice(value: "device", label: words["officeTargetDevice"]),
            ] + connections.map { Choice(value: "connection:\($0.id)", label: $0.name.shown) }
        let weekdays = (0..<7).map { Choice(value: Self.weekdays[$0], label: words.choice("weekdays", $0)) }
        return [
            Field(
                "enabled", words["officeEnabled"], .check, value: settings.isEnabled ? "true" : nil,
                hint: words["officeEnabledHint"]),
            Field("target", words["officeTarget"], .choice(targets), value: settings.target),
            Field(
                "officeTitle", words["officeOfficeTitle"], Field.text(), value: settings.officeTitle, isRequired: true,
                most: 200),
            Field(
                "remoteTitle", words["officeRemoteTitle"], Field.text(), value: settings.remoteTitle, isRequired: true,
                most: 200),
            Field(
                "eventType", words["officeEventType"],
                .radio(paper.choices([("timed", "officeTimed"), ("allDay", "officeAllDay")])),
                value: settings.isAllDay ? "allDay" : "timed"),
            Field("start", words["officeStart"], Field.time, value: settings.start, isRequired: true),
            Field("end", words["officeEnd"], Field.time, value: settings.end, isRequired: true),
            Field(
                "trackedDays", words["officeTracked"], .checks(weekdays),
                values: settings.trackedDays.map { Self.weekdays[$0] }),
            Field(
                "busy", words["officeBusy"], .check, value: settings.isBusy ? "true" : nil,
                hint: words["officeBusyHint"]),
            Field(
                "timeZoneMode", words["officeZone"],
                .radio(paper.choices([("device", "officeZoneDevice"), ("homeOffice", "officeZoneHome")])),
                value: settings.usesHomeOfficeZone ? "homeOffice" : "device"),
            Field(
                "homeOfficeTimeZone", words["officeHomeZone"], Field.text(), value: settings.homeOfficeZone,
                hint: words["zoneHint"], most: 64),
            Field(
                "createRemoteEvents", words["officeRemoteEvents"], .check,
                value: settings.createsRemoteEvents ? "true" : nil),
            Field(
                "monthlyGoal", words["officeGoalField"], Field.number, value: String(settings.monthlyGoal), least: 0,
                most: 31),
            Field(
                "officeAddress", words["officeAddress"], Field.text(), value: settings.officeAddress,
                hint: words["officeAddressHint"], most: 1000),
            Field(
                "holidays", words["officeHolidays"], .area,
                value: settings.holidays.map(\.description).joined(separator: "\n"),
                hint: words["officeHolidaysHint"], most: 8000),
        ]
    }

    static let weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
}
