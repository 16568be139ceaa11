// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore
import OfficeDays

extension OfficeSettings {
    /// Changes settings as a body requests; null restores the default.
    ///
    /// - Returns: the faults of the body.
    mutating func change(_ body: JSONValue) -> [Fault] { Array(Self.fields.read(body, into: &self)) }

    /// The fields of the body that sets or changes the settings.
    static let fields: [ItemPart<OfficeSettings>] = [
        field("enabled", \.enabled, .flag.documented(Schema.bool.defaulting(to: false))),
        field("target", \.target, InputType(Target.schema, Target.read)),
        field("officeTitle", \.officeTitle, title), field("remoteTitle", \.remoteTitle, title),
        field("eventType", \.eventType, .choice), field("availability", \.availability, .choice),
        field("timeZoneMode", \.timeZoneMode, .choice), .edited("deviceTimeZone", \.deviceTimeZone, zoneName),
        .edited("homeOfficeTimeZone", \.homeOfficeTimeZone, zoneName),
        .taken("officeHours", hours) { $1.readHours(&$0) },
        field(
            "trackedDays", \.trackedDays,
            InputType.list(
                .array(of: .choice(OfficeWeekday.self)), .notAChoice,
                "This must be a list of some of \(OfficeWeekday.allCases.map(\.rawValue).joined(separator: ", "))."
            ) { $0.string.flatMap { OfficeWeekday(text: $0) } }.made { Set($0) }),
        field(
            "holidays", \.holidays,
            InputType.list(
                .array(of: .date, maximum: mostHolidays), of: 0...mostHolidays, .tooMany,
                "This must be a list of at most \(mostHolidays) dates.",
                each: (.invalidDate, "This must be a day that exists, as YYYY-MM-DD.")
            ) { item in
                item.string.flatMap { CivilDate(iso: $0) }.flatMap {
                    FieldReader.years.contains($0.year) ? $0 : nil
                }
            }.made { Set($0) }),
        .edited("holidayCalendar", \.holidayCalendar, .identifier),
        field("createRemoteEvents", \.createRemoteEvents, .flag),
        field("monthlyGoal", \.monthlyGoal, .number(monthlyGoals)),
        .edited("officeAddress", \.officeAddress, .looseText(), emptyClears: true),
    ]

    private static func field<Value: Sendable>(
        _ name: String, _ path: any WritableKeyPath<OfficeSettings, Value> & Sendable, _ type: InputType<Value>
    ) -> ItemPart<OfficeSettings> { .taken(name, path, type, nullAs: OfficeSettings()) }

    private static let title = InputType.text().documented(.text(longestTitle))
    private static let zoneName = InputType.timeZone.documented(zone).made { $0.identifier }

    /// Reads the hours; either of them may be left unchanged.
    private mutating func readHours(_ fields: inout FieldReader) {
        guard let value = fields.value("officeHours") else {
            if fields.given("officeHours") == .null { officeHours = .usual }
            return
        }
        var hours = FieldReader(value, at: "/officeHours")
        let (start, end) = (Self.minutes("start", &hours), Self.minutes("end", &hours))
        hours.finish()
        fields.add(hours.faults)
        guard hours.faults.isEmpty else { return }
        if let new = OfficeHours(start: start ?? officeHours.start, end: end ?? officeHours.end) {
            officeHours = new
        } else {
            fields.fault("officeHours/end", code: .order, "Office hours must end later than they start.")
        }
    }

    private static func minutes(_ name: String, _ hours: inout FieldReader) -> Int? {
        let found = hours.text(name, maximum: 5).flatMap { OfficeHours.minutes($0) }
        if hours.has(name), found == nil, hours.faults.isEmpty {
            hours.fault(name, code: .invalidTime, "This must be a time of day, as HH:MM.")
        }
        return found
    }
}

extension OfficeSettings.Target {
    /// Reads one of `{feed: true}`, `{device: true}` and `{connectionId}`.
    fileprivate static func read(_ name: String, _ isRequired: Bool, _ outer: inout FieldReader) -> Self? {
        guard let value = outer.value(name) else { return nil }
        var fields = FieldReader(value, at: "/" + name)
        let (feed, device, connection) = (
            fields.bool("feed"), fields.bool("device"), fields.identifier("connectionId")
        )
        fields.finish()
        outer.add(fields.faults)
        guard fields.faults.isEmpty else { return nil }
        switch (feed, device, connection) {
        case (true, nil, nil): return .feed
        case (nil, true, nil): return .device
        case (nil, nil, let id?): return .connection(id)
        default:
            outer.fault(name, "This must be one of {feed: true}, {device: true} and {connectionId}.")
            return nil
        }
    }
}
