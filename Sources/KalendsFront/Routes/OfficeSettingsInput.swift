// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import KalendsCore
import OfficeDays

/// The body that sets or changes the settings for office days: the named settings and the faults.
struct OfficeSettingsInput: Sendable {
    private var edits: [@Sendable (inout OfficeSettings) -> Fault?] = []
    private var faults: [Fault] = []

    /// Changes settings as the body requests; null restores the default.
    ///
    /// - Returns: the faults of the body.
    func apply(to settings: inout OfficeSettings) -> [Fault] {
        var all = faults
        for edit in edits { if let fault = edit(&settings) { all.append(fault) } }
        return all
    }

    init(_ body: JSONValue) {
        var fields = FieldReader(body)
        let usual = OfficeSettings()
        set("enabled", body, fields.bool("enabled"), or: usual.enabled) { $0.enabled = $1 }
        set("target", body, fields.officeTarget(), or: usual.target) { $0.target = $1 }
        set("officeTitle", body, fields.title("officeTitle"), or: usual.officeTitle) { $0.officeTitle = $1 }
        set("remoteTitle", body, fields.title("remoteTitle"), or: usual.remoteTitle) { $0.remoteTitle = $1 }
        let type = fields.choice("eventType", OfficeSettings.EventType.self)
        set("eventType", body, type, or: usual.eventType) { $0.eventType = $1 }
        let availability = fields.choice("availability", OfficeSettings.Availability.self)
        set("availability", body, availability, or: usual.availability) { $0.availability = $1 }
        let mode = fields.choice("timeZoneMode", OfficeSettings.TimeZoneMode.self)
        set("timeZoneMode", body, mode, or: usual.timeZoneMode) { $0.timeZoneMode = $1 }
        let (device, home) = (fields.timeZone("deviceTimeZone"), fields.timeZone("homeOfficeTimeZone"))
        set("deviceTimeZone", body, device?.identifier, or: nil) { $0.deviceTimeZone = $1 }
        set("homeOfficeTimeZone", body, home?.identifier, or: nil) { $0.homeOfficeTimeZone = $1 }
        readHours(body, &fields)
        set("trackedDays", body, fields.weekdays("trackedDays"), or: usual.trackedDays) { $0.trackedDays = $1 }
        set("holidays", body, fields.dates("holidays"), or: usual.holidays) { $0.holidays = $1 }
        set("holidayCalendar", body, fields.identifier("holidayCalendar"), or: nil) { $0.holidayCalendar = $1 }
        let remote = fields.bool("createRemoteEvents")
        set("createRemoteEvents", body, remote, or: usual.createRemoteEvents) { $0.createRemoteEvents = $1 }
        let goal = fields.integer("monthlyGoal", in: OfficeSettings.monthlyGoals)
        set("monthlyGoal", body, goal, or: usual.monthlyGoal) { $0.monthlyGoal = $1 }
        // An empty text removes the address, as null does.
        let address = fields.text("officeAddress")
        let isTaken = body["officeAddress"]?.string?.isEmpty == true
        set("officeAddress", isTaken ? ["officeAddress": .null] : body, address, or: nil) { $0.officeAddress = $1 }
        fields.finish()
        faults = Array(fields.faults)
    }

    /// - Parameter usual: the meaning of null.
    private mutating func set<Value: Sendable>(
        _ name: String, _ body: JSONValue, _ value: Value?, or usual: Value,
        _ assign: @escaping @Sendable (inout OfficeSettings, Value) -> Void
    ) {
        guard let value = body[name] == .null ? usual : value else { return }
        edits.append { settings in
            assign(&settings, value)
            return nil
        }
    }

    /// The same for a field that may be empty.
    private mutating func set<Value: Sendable>(
        _ name: String, _ body: JSONValue, _ value: Value?, or usual: Value?,
        _ assign: @escaping @Sendable (inout OfficeSettings, Value?) -> Void
    ) {
        guard body[name] == .null || value != nil else { return }
        let value = body[name] == .null ? usual : value
        edits.append { settings in
            assign(&settings, value)
            return nil
        }
    }

    /// Reads the hours; either of them may be left unchanged.
    private mutating func readHours(_ body: JSONValue, _ fields: inout FieldReader) {
        guard let value = fields.value("officeHours") else {
            set("officeHours", body, nil, or: OfficeHours.usual) { $0.officeHours = $1 }
            return
        }
        var hours = FieldReader(value, at: "/officeHours")
        var minutes: [Int?] = []
        for name in ["start", "end"] {
            let text = hours.text(name, maximum: 5)
            let found = text.flatMap { OfficeHours.minutes($0) }
            if hours.has(name), found == nil, hours.faults.isEmpty {
                hours.fault(name, code: .invalidTime, "This must be a time of day, as HH:MM.")
            }
            minutes.append(found)
        }
        hours.finish()
        fields.add(hours.faults)
        guard hours.faults.isEmpty else { return }
        let (start, end) = (minutes[0], minutes[1])
        edits.append { settings in
            let new = OfficeHours(start: start ?? settings.officeHours.start, end: end ?? settings.officeHours.end)
            guard let new else {
                return Fault(
                    pointer: "/officeHours/end", code: .order, message: "Office hours must end later than they start.")
            }
            settings.officeHours = new
            return nil
        }
    }
}

extension FieldReader {
    /// A title, which must have visible characters if it is present.
    fileprivate mutating func title(_ name: String) -> String? {
        has(name) ? text(name, isRequired: true) : text(name)
    }

    /// One of `{feed: true}`, `{device: true}` and `{connectionId}`.
    fileprivate mutating func officeTarget() -> OfficeSettings.Target? {
        guard let value = value("target") else { return nil }
        var fields = FieldReader(value, at: "/target")
        let (feed, device, connection) = (
            fields.bool("feed"), fields.bool("device"), fields.identifier("connectionId")
        )
        fields.finish()
        add(fields.faults)
        guard fields.faults.isEmpty else { return nil }
        switch (feed, device, connection) {
        case (true, nil, nil): return .feed
        case (nil, true, nil): return .device
        case (nil, nil, let id?): return .connection(id)
        default:
            fault("target", "This must be one of {feed: true}, {device: true} and {connectionId}.")
            return nil
        }
    }

    fileprivate mutating func weekdays(_ name: String) -> Set<OfficeWeekday>? {
        guard let value = value(name) else { return nil }
        let found = value.array?.compactMap { $0.string.flatMap { OfficeWeekday(text: $0) } } ?? []
        guard let count = value.array?.count, found.count == count else {
            let known = OfficeWeekday.allCases.map(\.rawValue).joined(separator: ", ")
            fault(name, code: .notAChoice, "This must be a list of some of \(known).")
            return nil
        }
        return Set(found)
    }

    fileprivate mutating func dates(_ name: String) -> Set<CivilDate>? {
        guard let value = value(name) else { return nil }
        guard let items = value.array, items.count <= OfficeSettings.mostHolidays else {
            fault(name, code: .tooMany, "This must be a list of at most \(OfficeSettings.mostHolidays) dates.")
            return nil
        }
        var dates: Set<CivilDate> = []
        for (index, item) in items.enumerated() {
            if let date = item.string.flatMap({ CivilDate(iso: $0) }), Self.years.contains(date.year) {
                dates.insert(date)
            } else {
                fault("\(name)/\(index)", code: .invalidDate, "This must be a day that exists, as YYYY-MM-DD.")
            }
        }
        return dates
    }
}
