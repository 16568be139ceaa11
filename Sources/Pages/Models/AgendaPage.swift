// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// `/feeds/{token}/{name}.ics?view=agenda|month&date=YYYY-MM-DD`: what a feed shows, for whoever has its address.
public struct AgendaPage: Page {
    public enum View: String, Sendable, CaseIterable {
        case agenda, month

        /// The days that the view shows, including the last one; a month shows days of its neighbours as well.
        public func days(from day: CivilDate) -> ClosedRange<CivilDate> {
            let days = CalendarPage.days(of: self == .month ? .month : .agenda, from: day)
            return self == .month ? days.lowerBound.adding(days: -6)...days.upperBound.adding(days: 6) : days
        }
    }

    public var name: String
    /// The last day on which the address works, if another has replaced it.
    public var lastDay: CivilDate?
    public var view: View
    /// The first day of an agenda, or any day of a month.
    public var day: CivilDate
    public var entries: [PageEntry]
    /// False where the feed shows more on these days.
    public var isWhole = true
    /// The feed's address; nil where it is not offered: in a frame, and when another address has replaced it.
    public var url: String?
    public var links: [FeedPage.AppLink]

    public init(
        name: String, lastDay: CivilDate? = nil, view: View, day: CivilDate, entries: [PageEntry],
        url: String? = nil, links: [FeedPage.AppLink] = []
    ) {
        (self.name, self.lastDay, self.view, self.day) = (name, lastDay, view, day)
        (self.entries, self.url, self.links) = (entries, url, links)
    }

    public var showsSecret: Bool { true }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let (words, times) = (paper.words, paper.times)
        let shown = view.days(from: day)
        let caption =
            view == .month
            ? times.monthTitle(day)
            : words("spanDays", ["from": times.date(shown.lowerBound), "to": times.date(shown.upperBound)])
        let steps =
            view == .month
            ? (day.firstOfMonth(adding: -1), day.firstOfMonth(adding: 1))
            : (day.adding(days: -30), day.adding(days: 30))
        return PageContent(
            template: "feed-agenda", title: name, isName: true, section: .nowhere,
            content: [
                "caption": .text(caption),
                "notice": .text(lastDay.map { words("agendaLastDay", ["day": times.date($0)]) }),
                "before": ["href": .text(link(steps.0)), "label": .text(words["calendarBefore"])],
                "after": ["href": .text(link(steps.1)), "label": .text(words["calendarAfter"])],
                "today": ["href": .text(link(times.today)), "label": .text(words["dayToday"])],
                "views": .list(
                    View.allCases.map {
                        [
                            "label": .text(words["view_" + $0.rawValue]), "href": .text(link(day, as: $0)),
                            "isHere": .flag($0 == view),
                        ]
                    }),
                "month": view == .month
                    ? paper.month(day, entries, caption: caption) { link($0, as: .agenda) } : .nothing,
                "agenda": view == .month
                    ? .nothing
                    : paper.agenda(
                        entries, from: shown.lowerBound, to: shown.upperBound, isWhole: isWhole, showsKinds: false),
                "part": isWhole ? .nothing : .text(words["agendaPart"]), "zone": paper.zoneNote,
                "empty": entries.isEmpty ? paper.emptyState("previewEmptyTitle", "agendaEmptyText") : .nothing,
                "adding": url.map { ["url": .text($0), "apps": .list(links.map { paper.app($0) })] } ?? .nothing,
            ], isForStrangers: true)
    }

    /// A link to other days at the same address, which the link does not repeat.
    private func link(_ day: CivilDate, as view: View? = nil) -> String {
        "?view=\((view ?? self.view).rawValue)&date=\(day.description)"
    }
}
