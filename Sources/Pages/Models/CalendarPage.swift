// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// `/app/circles/{circle}?view=month|week|agenda&date=YYYY-MM-DD&kind=&person=&patient=&feed=`: the calendar.
public struct CalendarPage: Page {
    public enum View: String, Sendable, CaseIterable { case month, week, agenda }

    public struct Filter: Sendable {
        public var kinds: Set<EntryKind>
        public var person: String?
        public var patient: String?
        public var feed: String?

        /// - Parameter kinds: the kinds to show; empty for all kinds.
        public init(kinds: Set<EntryKind> = [], person: String? = nil, patient: String? = nil, feed: String? = nil) {
            (self.kinds, self.person, self.patient, self.feed) = (kinds, person, patient, feed)
        }
    }

    public var view: View
    public var day: CivilDate
    public var filter: Filter
    public var people: [Named]
    public var patients: [Named]
    public var feeds: [Named]
    /// The entries on `days(of:from:)`, in the order of their start.
    public var entries: [PageEntry]

    public init(
        view: View, day: CivilDate, filter: Filter = Filter(), people: [Named], patients: [Named], feeds: [Named],
        entries: [PageEntry]
    ) {
        (self.view, self.day, self.filter, self.people, self.patients) = (view, day, filter, people, patients)
        (self.feeds, self.entries) = (feeds, entries)
    }

    /// Reads a date of the query; nil for any other text, and for years that the page does not show.
    public static func day(_ text: String) -> CivilDate? {
        let shown = CivilDate(uncheckedYear: 1900, month: 2, day: 1)...CivilDate(uncheckedYear: 2199, month: 11, day: 1)
        return CivilDate(iso: text).flatMap { shown.contains($0) ? $0 : nil }
    }

    /// The days that a view shows, including the last one.
    public static func days(of view: View, from day: CivilDate) -> ClosedRange<CivilDate> {
        switch view {
        case .month: day.startOfMonth...day.endOfMonth
        case .week: day.adding(days: -day.mondayBasedWeekday)...day.adding(days: 6 - day.mondayBasedWeekday)
        case .agenda: day...day.adding(days: 29)
        }
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let (words, times) = (paper.words, paper.times)
        let shown = Self.days(of: view, from: day)
        let name = paper.frame.circle?.name ?? ""
        let caption =
            view == .month
            ? times.month(day)
            : words("spanDays", ["from": times.date(shown.lowerBound), "to": times.date(shown.upperBound)])
        let steps: (CivilDate, CivilDate) =
            switch view {
            case .month: (day.firstOfMonth(adding: -1), day.firstOfMonth(adding: 1))
            case .week: (day.adding(days: -7), day.adding(days: 7))
            case .agenda: (day.adding(days: -30), day.adding(days: 30))
            }
        return PageContent(
            template: "calendar", title: name, isName: true, place: .calendar,
            content: [
                "caption": .text(caption),
                "before": ["href": .text(link(paper, to: steps.0)), "label": .text(words["calendarBefore"])],
                "after": ["href": .text(link(paper, to: steps.1)), "label": .text(words["calendarAfter"])],
                "today": ["href": .text(link(paper, to: times.today)), "label": .text(words["dayToday"])],
                "views": .list(
                    View.allCases.map {
                        [
                            "label": .text(words["view_" + $0.rawValue]), "href": .text(link(paper, to: day, as: $0)),
                            "isHere": .flag($0 == view),
                        ]
                    }),
                "legend": legend(paper), "filter": filterForm(paper), "isFiltered": .flag(isFiltered),
                "all": paper.linkButton("calendarShowAll", paper.circlePath(), style: .quiet),
                "month": view == .month
                    ? paper.month(day, entries, caption: caption) { link(paper, to: $0, as: .week) } : .nothing,
                "agenda": view == .month
                    ? .nothing : paper.agenda(entries, from: shown.lowerBound, to: shown.upperBound),
                "empty": entries.isEmpty
                    ? paper.emptyState("calendarEmptyTitle", isFiltered ? "calendarEmptyFiltered" : "calendarEmptyText")
                    : .nothing,
            ])
    }

    /// The visible kinds, each in its colour and with a link that filters by it.
    private func legend(_ paper: RenderContext) -> Node {
        let shown = Set(entries.map(\.kind))
        let kinds = EntryKind.allCases.filter { shown.contains($0) }
        return .rows(
            kinds.map { kind in
                var only = self
                only.filter.kinds = [kind]
                return [
                    "kind": .text(kind.rawValue), "label": .text(paper.words[kind.words]),
                    "href": .text(only.link(paper, to: day)), "isHere": .flag(filter.kinds == [kind]),
                ]
            })
    }

    private var isFiltered: Bool {
        !filter.kinds.isEmpty || filter.person != nil || filter.patient != nil || filter.feed != nil
    }

    private func link(_ paper: RenderContext, to day: CivilDate, as view: View? = nil) -> String {
        var query = "?view=\((view ?? self.view).rawValue)&date=\(day.description)"
        for kind in EntryKind.allCases where filter.kinds.contains(kind) { query += "&kind=\(kind.rawValue)" }
        for (name, value) in [("person", filter.person), ("patient", filter.patient), ("feed", filter.feed)] {
            if let value { query += "&\(name)=\(value.pathSegment)" }
        }
        return paper.href(paper.circlePath(query))
    }

    private func filterForm(_ paper: RenderContext) -> Node {
        let words = paper.words
        func any(_ key: String, _ all: [Named]) -> [Choice] {
            [Choice(value: "", label: words[key])] + all.map { Choice(value: $0.id, label: $0.name.shown) }
        }
        let kinds: [EntryKind] = [.task, .shift, .appointment, .followUp, .imported]
        var fields = [
            Field(
                "kind", words["filterKind"], .checks(kinds.map { Choice(value: $0.rawValue, label: words[$0.words]) }),
                values: filter.kinds.map(\.rawValue), hint: words["filterKindHint"]),
            Field("person", words["filterPerson"], .choice(any("filterAnybody", people)), value: filter.person),
            Field("patient", words["filterPatient"], .choice(any("filterAnybody", patients)), value: filter.patient),
        ]
        if !feeds.isEmpty {
            fields.append(
                Field(
                    "feed", words["filterFeed"], .choice(any("filterNoFeed", feeds)), value: filter.feed,
                    hint: words["filterFeedHint"]))
        }
        return paper.form(
            "filter", paper.circlePath(), fields, submit: "filterApply", style: .plain,
            values: ["view": view.rawValue, "date": day.description], isSearch: true)
    }
}
