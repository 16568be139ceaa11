// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// `/app/office-days?month=YYYY-MM-DD`: the office days of a month, and their settings.
public struct OfficeDaysPage: Page {
    public enum Status: String, Sendable, CaseIterable {
        case inOffice, remote
        case neither = "none"
    }
    public enum Source: String, Sendable, CaseIterable { case visits, person, endOfDay }
    public enum Problem: String, Sendable, CaseIterable {
        case permissionRevoked, calendarGone, calendarReadOnly, needsReconnect, switchedOff
    }

    public struct Day: Sendable {
        public var day: CivilDate
        public var status: Status
        public var source: Source?
        public var minutes: Int
        /// The title of the day's event; nil for a day without an event.
        public var eventTitle: String?

        public init(day: CivilDate, status: Status, source: Source? = nil, minutes: Int = 0, eventTitle: String? = nil)
        {
            (self.day, self.status, self.source, self.minutes) = (day, status, source, minutes)
            self.eventTitle = eventTitle
        }
    }

    public struct Settings: Sendable {
        public var isEnabled: Bool
        /// `feed`, `device`, `connection:ID`, or empty.
        public var target: String
        public var officeTitle: String
        public var remoteTitle: String
        public var isAllDay: Bool
        public var isBusy: Bool
        public var usesHomeOfficeZone: Bool
        public var homeOfficeZone: String?
        /// The start and the end as `HH:MM`.
        public var start: String
        public var end: String
        /// The tracked weekdays; Monday is 0.
        public var trackedDays: Set<Int>
        public var createsRemoteEvents: Bool
        public var monthlyGoal: Int
        public var officeAddress: String?
        public var holidays: [CivilDate]

        public init(
            isEnabled: Bool = false, target: String = "", officeTitle: String = "Office Day",
            remoteTitle: String = "Remote Work", isAllDay: Bool = false, isBusy: Bool = false,
            usesHomeOfficeZone: Bool = false, homeOfficeZone: String? = nil, start: String = "09:00",
            end: String = "17:00", trackedDays: Set<Int> = [0, 1, 2, 3, 4], createsRemoteEvents: Bool = true,
            monthlyGoal: Int = 15, officeAddress: String? = nil, holidays: [CivilDate] = []
        ) {
            (self.isEnabled, self.target, self.officeTitle) = (isEnabled, target, officeTitle)
            (self.remoteTitle, self.isAllDay, self.isBusy) = (remoteTitle, isAllDay, isBusy)
            (self.usesHomeOfficeZone, self.homeOfficeZone, self.start) = (usesHomeOfficeZone, homeOfficeZone, start)
            (self.end, self.trackedDays, self.createsRemoteEvents) = (end, trackedDays, createsRemoteEvents)
            (self.monthlyGoal, self.officeAddress, self.holidays) = (monthlyGoal, officeAddress, holidays)
        }
    }

    public var settings: Settings
    /// The connections that events can be written to, by their ids.
    public var connections: [Named]
    public var month: CivilDate
    /// The days of the month that is shown.
    public var days: [Day]
    /// The days of the next two weeks.
    public var upcoming: [Day]
    public var problem: Problem?
    /// The path that the banner's button opens.
    public var fixPath: String?
    public var lastSyncAt: Int?
    public var managedEvents: Int
    /// The day whose status the person is about to set; nil when no day is selected.
    public var picked: CivilDate?
    public var draft: Draft
    /// The group of settings to which the draft belongs; nil for all of them.
    public var part: Part?

    public init(
        settings: Settings, connections: [Named], month: CivilDate, days: [Day], upcoming: [Day],
        problem: Problem? = nil, fixPath: String? = nil, lastSyncAt: Int? = nil, managedEvents: Int = 0,
        picked: CivilDate? = nil, draft: Draft = Draft()
    ) {
        (self.settings, self.connections, self.month, self.days) = (settings, connections, month, days)
        (self.upcoming, self.problem, self.fixPath, self.lastSyncAt) = (upcoming, problem, fixPath, lastSyncAt)
        (self.managedEvents, self.picked, self.draft) = (managedEvents, picked, draft)
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let (words, times) = (paper.words, paper.times)
        let caption = words("officeMonthCaption", ["month": times.month(month)])
        let office = days.count { if case .inOffice = $0.status { true } else { false } }
        // While office days are switched off, no event is planned.
        let planned = upcoming.filter { day in
            guard settings.isEnabled else { return false }
            return if case .neither = day.status { day.eventTitle != nil } else { true }
        }
        return PageContent(
            template: "office-days", title: words["officeTitle"], section: .office,
            content: [
                "banner": problem.map { problem in
                    [
                        "text": .text(words("officeBanner", ["cause": words["officeCause_" + problem.rawValue]])),
                        "fix": paper.linkButton("actFix", fixPath ?? "/app/office-days#settings", style: .primary),
                    ]
                } ?? .nothing,
                "badge": settings.isEnabled
                    ? (problem == nil ? paper.badge(.good, "badgeOn") : paper.badge(.warning, "badgePaused"))
                    : paper.badge(.off, "badgeOff"),
                "line": lastSyncAt.map { words.sentence("officeLine", ["when": .time(times.moment($0))]) } ?? .nothing,
                "starting": showsMonth
                    ? .nothing
                    : .map([
                        "steps": .list(
                            (1...3).map { number in
                                [
                                    "number": .number(number),
                                    "text": .text(words("officeStep_\(number)", ["app": paper.frame.brand.name])),
                                    "link": number == 1
                                        ? paper.linkButton("officeStepPhone", "/app/connectors/apple")
                                        : number == 2
                                            ? paper.linkButton("officeStepSettings", "/app/office-days#settings")
                                            : .nothing,
                                ]
                            })
                    ]),
                "showsMonth": .flag(showsMonth),
                "caption": .text(times.monthTitle(month)),
                "before": [
                    "href": .text(link(paper, month.firstOfMonth(adding: -1))), "label": .text(words["calendarBefore"]),
                ],
                "after": [
                    "href": .text(link(paper, month.firstOfMonth(adding: 1))), "label": .text(words["calendarAfter"]),
                ],
                "goal": goal(paper, office),
                "month": paper.month(month, caption: caption) { day in cell(paper, day) },
                "picked": picked.map { pick(paper, $0) } ?? .nothing,
                "upcoming": planned.isEmpty ? .nothing : upcomingTable(paper, planned),
                "noUpcoming": planned.isEmpty ? paper.emptyState("officeEmptyTitle", "officeEmptyText") : .nothing,
                "settings": settingGroups(paper),
                "reset": paper.act("actResetOffice", "/app/office-days/reset"),
                "cleanup": managedEvents > 0 ? paper.question("cleanup", "actCleanUp", style: .danger) : .nothing,
                "cleanupDialog": managedEvents > 0
                    ? paper.dialog(
                        "cleanup", words["askCleanUp"], [words("askCleanUpText", count: managedEvents)],
                        paper.form("cleanup-form", "/app/office-days/cleanup", [], submit: "actCleanUp", style: .danger)
                    )
                    : .nothing,
            ],
            scripts: ["preview"], problems: settingProblems(paper))
    }

    /// Whether there is something to see in a month: office days are switched on, or have been.
    private var showsMonth: Bool {
        settings.isEnabled || picked != nil || days.contains { $0.status != .neither }
    }

    private func link(_ paper: RenderContext, _ day: CivilDate) -> String {
        paper.href("/app/office-days?month=\(day.description)")
    }

    private func goal(_ paper: RenderContext, _ office: Int) -> Node {
        [
            "text": .text(
                paper.words("officeGoal", count: office, ["goal": paper.words.number(settings.monthlyGoal)])),
            "value": .number(min(office, settings.monthlyGoal)), "most": .number(max(1, settings.monthlyGoal)),
        ]
    }

    private func cell(_ paper: RenderContext, _ day: CivilDate) -> [String: Node] {
        let own = days.first { $0.day == day }
        let status = own?.status ?? .neither
        let isHoliday = settings.holidays.contains(day)
        var cell: [String: Node] = [
            "pick": [
                "href": .text(paper.href("/app/office-days?month=\(month.description)&day=\(day.description)#day")),
                "label": .text(paper.words["officeChange"]), "title": .text(paper.times.weekdayDate(day)),
            ]
        ]
        switch status {
        case .neither: cell["word"] = isHoliday ? .text(paper.words["officeHoliday"]) : .nothing
        case .inOffice, .remote:
            cell["status"] = .text(status.rawValue)
            cell["word"] = .text(paper.words["office_" + status.rawValue])
        }
        return cell
    }

    private func pick(_ paper: RenderContext, _ day: CivilDate) -> Node {
        let words = paper.words
        let own = days.first { $0.day == day }
        var why: Node = .nothing
        if let source = own?.source {
            why = words.sentence("officeWhy_" + source.rawValue, ["time": .text(duration(paper, own?.minutes ?? 0))])
        }
        return [
            "why": why,
            "form": paper.form(
                "day-form", "/app/office-days/days/\(day.description)",
                [
                    Field(
                        "status", TimeWords.title(words("officeDayWas", ["day": paper.times.weekdayDate(day)])),
                        .radio(
                            Status.allCases.map { Choice(value: $0.rawValue, label: words["office_" + $0.rawValue]) }
                                + [Choice(value: "", label: words["officeAsMeasured"])]),
                        value: (own?.status ?? .neither).rawValue)
                ], submit: "actSave"),
        ]
    }

    func duration(_ paper: RenderContext, _ minutes: Int) -> String {
        paper.words("durationHours", ["hours": String(minutes / 60), "minutes": String(minutes % 60)])
    }

    private func upcomingTable(_ paper: RenderContext, _ planned: [Day]) -> Node {
        paper.table(
            paper.words["officeUpcoming"], ["columnDay", "columnStatus", "columnEvent"],
            planned.map { day in
                [
                    .time(paper.times.dayNode(day.day)), .text(paper.words["office_" + day.status.rawValue]),
                    day.eventTitle.map { .name($0) } ?? .text(paper.words["officeNoEvent"]),
                ]
            }, isHidden: true)
    }
}
