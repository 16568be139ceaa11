// SPDX-License-Identifier: Apache-2.0

import Calendar
import Hummingbird
import KalendsCore
import OfficeDays
import Pages
import Storage

/// Where a person worked: a month with each day's status, the person's own entries for days, and the settings.
struct OfficeDayPages: Sendable {
    private static let path = "/app/office-days"
    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .session) { try await Self.page($0) }
        routes.page(.post, Self.path, for: .session, back: Self.path, Self.save)
        routes.page(.post, "\(Self.path)/reset", for: .session, back: Self.path) { visit in
            let now = visit.services.now()
            let before = try await visit.readOwn { user, _ in try user.officeDays(now: now).settings }.0
            _ = try await visit.services.officeDiary.change(
                of: try visit.user(), if: .none, for: try visit.caller()
            ) { settings in
                settings = settings.withDefaults
                return []
            }
            return try await Self.page(
                visit, done: Notice(.officeReset, undo: (path: Self.path, values: before.form)))
        }
        routes.page(.post, "\(Self.path)/cleanup", for: .session, back: Self.path) { visit in
            _ = try await visit.services.officeDiary.cleanUp(of: try visit.user(), for: try visit.caller())
            return visit.redirect(to: Self.path, done: .officeCleanedUp)
        }
        routes.page(.post, "\(Self.path)/days/{date}", for: .session, back: Self.path, Self.say)
    }

    private static func say(_ visit: PageVisit) async throws -> Response {
        let text = try visit.id("date")
        guard let date = CivilDate(iso: text), FieldReader.years.contains(date.year) else { throw Refusal.noSuchPath }
        var fields = FieldReader(["status": visit.typed("status")])
        let status = fields.choice("status", DayStatus.self)
        try fields.end()
        _ = try await visit.services.officeDiary.say(
            status, on: date, of: try visit.user(), for: try visit.caller())
        return visit.redirect(to: "\(path)?month=\(date.startOfMonth.description)", done: .officeDaySaid)
    }

    private static func save(_ visit: PageVisit) async throws -> Response {
        let body = body(visit)
        do {
            _ = try await visit.services.officeDiary.change(
                of: try visit.user(), if: .none, for: try visit.caller()
            ) { $0.change(body) }
            return visit.redirect(to: path, done: .officeSaved)
        } catch let refusal as Refusal {
            let part = part(visit)
            let names = part?.names ?? OfficeDaysPage.Part.allCases.flatMap(\.names)
            guard let draft = Draft(refusal, of: visit.form, names, fields: [("connectionId", "target")]) else {
                throw refusal
            }
            return try await page(visit, draft, of: part)
        }
    }

    /// The group of settings that was sent; nil for all of them.
    private static func part(_ visit: PageVisit) -> OfficeDaysPage.Part? {
        visit.form["part"].flatMap { OfficeDaysPage.Part(text: $0) }
    }

    /// The form as a body for the API, with the settings of its group.
    private static func body(_ visit: PageVisit) -> JSONValue {
        let form = visit.form
        func text(_ name: String) -> JSONValue { .string(form[name] ?? "") }
        let goal = visit.typed("monthlyGoal")
        let target: JSONValue =
            switch form["target"] ?? "" {
            case "": .null
            case "feed": ["feed": true]
            case "device": ["device": true]
            case let other: ["connectionId": .string(String(other.drop { !$0.is(":") }.dropFirst()))]
            }
        let all: [(field: String, member: ByteString, value: JSONValue)] = [
            ("enabled", "enabled", .bool(form.isOn("enabled"))), ("target", "target", target),
            ("officeTitle", "officeTitle", text("officeTitle")), ("remoteTitle", "remoteTitle", text("remoteTitle")),
            ("eventType", "eventType", text("eventType")),
            ("start", "officeHours", ["start": text("start"), "end": text("end")]),
            (
                "trackedDays", "trackedDays",
                .array(form.all("trackedDays").flatMap { $0.pieces(separatedBy: ",") }.map { .string(String($0)) })
            ),
            ("busy", "availability", form.isOn("busy") ? "busy" : "free"),
            ("timeZoneMode", "timeZoneMode", text("timeZoneMode")),
            ("homeOfficeTimeZone", "homeOfficeTimeZone", visit.typed("homeOfficeTimeZone")),
            ("createRemoteEvents", "createRemoteEvents", .bool(form.isOn("createRemoteEvents"))),
            ("monthlyGoal", "monthlyGoal", goal.string.flatMap { Int($0) }.map(JSONValue.integer) ?? goal),
            ("officeAddress", "officeAddress", visit.typed("officeAddress")),
            (
                "holidays", "holidays",
                .array(
                    (form["holidays"] ?? "").split(whereSeparator: \.isNewline).map { $0.withoutOuterBlanks }
                        .filter { !$0.isEmpty }.map { .string(String($0)) })
            ),
        ]
        let sent = part(visit)?.names
        var members: [ByteString: JSONValue] = [:]
        for (field, member, value) in all where sent?.contains(where: { $0.isSameText(as: field) }) ?? true {
            members[member] = value
        }
        // Without a choice the target of events stays as it is.
        if target == .null { members["target"] = nil }
        return .object(members)
    }

    private static func page(
        _ visit: PageVisit, _ draft: Draft = Draft(), of part: OfficeDaysPage.Part? = nil, done notice: Notice? = nil
    ) async throws -> Response {
        let (now, quotas) = (visit.services.now(), visit.services.settings.quotas)
        let asked = visit.query["month"].flatMap { CivilDate(iso: $0) }.flatMap { shown($0) }
        let picked = visit.query["day"].flatMap { CivilDate(iso: $0) }.flatMap { shown($0) }
        let read = try await visit.readOwn { user, visitor in
            let office = try user.officeDays(now: now)
            let month = (asked ?? PageZone(visitor.zone).local(now).day).startOfMonth
            let last = month.firstOfMonth(adding: 1).adding(days: -1)
            let status = try office.status
            let problem = status.banner?.problem
            // These two are explained where the phone's connection is.
            let isOnPhone = problem == .permissionRevoked || problem == .switchedOff
            var page = OfficeDaysPage(
                settings: office.settings.page, connections: try connections(of: user, quotas), month: month,
                days: try office.days(month...last)
                    .map(\.page),
                upcoming: try office.preview.map(\.page),
                problem: problem.flatMap { OfficeDaysPage.Problem(text: $0.rawValue) },
                fixPath: isOnPhone ? "/app/connectors/apple" : nil,
                lastSyncAt: status.profile.lastSyncAt, managedEvents: status.counts.managed, picked: picked,
                draft: draft)
            page.part = part
            return page
        }
        return try await visit.page(
            read, status: draft.status, path: "\(path)?month=\(read.0.month.description)", notice: notice)
    }

    /// The day, if its year is one that the API accepts; otherwise nil.
    private static func shown(_ day: CivilDate) -> CivilDate? {
        FieldReader.years.contains(day.year) ? day : nil
    }

    /// The connections whose calendars can take events.
    private static func connections(of user: AuthorizedUser, _ quotas: Quotas) throws -> [Named] {
        try user.circles(limit: 100).flatMap { circle in
            try user.connections(in: circle.id, limit: quotas.connectionsPerUser)
                .filter { $0.provider != .apple && $0.calendarID != nil }
                .map { Named(id: $0.id, name: $0.label ?? $0.calendarName ?? circle.name) }
        }
    }
}

extension OfficeSettings {
    fileprivate var page: OfficeDaysPage.Settings {
        OfficeDaysPage.Settings(
            isEnabled: enabled, target: target.page, officeTitle: officeTitle, remoteTitle: remoteTitle,
            isAllDay: eventType == .allDay, isBusy: availability == .busy,
            usesHomeOfficeZone: timeZoneMode == .homeOffice, homeOfficeZone: homeOfficeTimeZone,
            start: OfficeHours.text(officeHours.start), end: OfficeHours.text(officeHours.end),
            trackedDays: Set(
                OfficeWeekday.allCases.enumerated().filter { trackedDays.contains($0.element) }.map(\.offset)),
            createsRemoteEvents: createRemoteEvents, monthlyGoal: monthlyGoal, officeAddress: officeAddress,
            holidays: holidays.sorted().map { CivilDate(daysSinceEpoch: $0.daysSinceEpoch) })
    }

    /// The fields that the form sends while it shows these settings.
    fileprivate var form: [String: String] {
        var values = [
            "target": target.page, "officeTitle": officeTitle, "remoteTitle": remoteTitle,
            "eventType": eventType.rawValue, "start": OfficeHours.text(officeHours.start),
            "end": OfficeHours.text(officeHours.end),
            "trackedDays": OfficeWeekday.allCases.filter(trackedDays.contains).map(\.rawValue).joined(separator: ","),
            "timeZoneMode": timeZoneMode.rawValue, "homeOfficeTimeZone": homeOfficeTimeZone ?? "",
            "monthlyGoal": String(monthlyGoal), "officeAddress": officeAddress ?? "",
            "holidays": holidays.sorted().map(\.description).joined(separator: "\n"),
        ]
        if enabled { values["enabled"] = "true" }
        if availability == .busy { values["busy"] = "true" }
        if createRemoteEvents { values["createRemoteEvents"] = "true" }
        return values
    }
}

extension OfficeSettings.Target {
    /// The value of the target in the page's choice.
    fileprivate var page: String {
        switch self {
        case .feed: "feed"
        case .device: "device"
        case .connection(let id): "connection:\(id)"
        }
    }
}

extension OfficeDiary.ShownDay {
    fileprivate var page: OfficeDaysPage.Day {
        OfficeDaysPage.Day(
            day: day.date, status: .init(text: day.status.rawValue) ?? .neither,
            source: day.source.flatMap { .init(text: $0.rawValue) }, minutes: day.officeMinutes,
            eventTitle: day.event?.title)
    }
}
