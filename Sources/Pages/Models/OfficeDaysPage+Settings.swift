// SPDX-License-Identifier: Apache-2.0

import Calendar

extension OfficeDaysPage {
    /// The settings in groups, each a form that is saved by itself.
    public enum Part: String, Sendable, CaseIterable {
        case calendar, events, days, zone

        /// The names of its form's fields.
        public var names: [String] {
            switch self {
            case .calendar: ["enabled", "target"]
            case .events: ["officeTitle", "remoteTitle", "eventType", "start", "end", "busy", "createRemoteEvents"]
            case .days: ["trackedDays", "monthlyGoal", "holidays", "officeAddress"]
            case .zone: ["timeZoneMode", "homeOfficeTimeZone"]
            }
        }

        fileprivate var form: String { "office-" + rawValue }
    }

    /// The groups with their headings and forms.
    func settingGroups(_ paper: RenderContext) -> Node {
        let words = paper.words
        return .list(
            Part.allCases.map { part in
                [
                    "title": .text(words["officeGroup_" + part.rawValue]),
                    "titles": part != .events
                        ? .nothing
                        : [
                            "office": .text(draft(of: part).values["officeTitle"] ?? settings.officeTitle),
                            "remote": .text(draft(of: part).values["remoteTitle"] ?? settings.remoteTitle),
                        ],
                    "form": paper.form(
                        part.form, "/app/office-days", fields(paper, of: part), submit: "actSave",
                        draft: draft(of: part), values: ["part": part.rawValue],
                        behaviour: part == .events ? "preview" : nil, about: words["officeGroup_" + part.rawValue]),
                ]
            })
    }

    /// The problems of the group that was sent, or of all.
    func settingProblems(_ paper: RenderContext) -> [Node] {
        Part.allCases.flatMap { paper.problems(draft(of: $0), in: $0.form, fields(paper, of: $0)) }
            + paper.problems(Draft(problems: draft.problems.filter { $0.field.isEmpty }), in: "")
    }

    /// The input in a group, with the problems of its fields.
    private func draft(of part: Part) -> Draft {
        guard self.part == nil || self.part == part else { return Draft() }
        return Draft(
            values: draft.values,
            problems: draft.problems.filter { problem in part.names.contains { $0.isSameText(as: problem.field) } })
    }

    private func fields(_ paper: RenderContext, of part: Part) -> [Field] {
        let all = settingFields(paper)
        return part.names.compactMap { name in all.first { $0.name.isSameText(as: name) } }
    }

    private func settingFields(_ paper: RenderContext) -> [Field] {
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
                hint: words["officeAddressHint"], most: TextLength.line),
            Field(
                "holidays", words["officeHolidays"], .area,
                value: settings.holidays.map(\.description).joined(separator: "\n"),
                hint: words["officeHolidaysHint"], most: 8000),
        ]
    }

    static let weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
}
