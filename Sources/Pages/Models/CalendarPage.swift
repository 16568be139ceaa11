// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// `/app/circles/{circle}?view=month|week|agenda&date=YYYY-MM-DD&q=&kind=&person=&patient=&feed=`: the calendar.
public struct CalendarPage: Page {
    public enum View: String, Sendable, CaseIterable { case month, week, agenda }

    public struct Filter: Sendable {
        public var kinds: Set<EntryKind>
        public var person: String?
        public var patient: String?
        public var feed: String?
        /// The text that is searched for in titles; nil when nothing is.
        public var text: String?

        /// - Parameter kinds: the kinds to show; empty for all kinds.
        public init(
            kinds: Set<EntryKind> = [], person: String? = nil, patient: String? = nil, feed: String? = nil,
            text: String? = nil
        ) {
            (self.kinds, self.person, self.patient, self.feed) = (kinds, person, patient, feed)
            self.text = text
        }
    }

    public var view: View
    public var day: CivilDate
    public var filter: Filter
    public var people: [Named]
    public var patients: [Named]
    public var feeds: [Named]
    /// The entries on `days(of:from:)` and some days around them, or those that a search found, in order of their start.
    public var entries: [PageEntry]
    /// False if there may be more entries than the page was given.
    public var isWhole: Bool

    public init(
        view: View, day: CivilDate, filter: Filter = Filter(), people: [Named], patients: [Named], feeds: [Named],
        entries: [PageEntry], isWhole: Bool = true
    ) {
        (self.view, self.day, self.filter, self.people, self.patients) = (view, day, filter, people, patients)
        (self.feeds, self.entries, self.isWhole) = (feeds, entries, isWhole)
    }

    /// Reads a date of the query; nil for any other text, and for years that the page does not show.
    public static func day(_ text: String) -> CivilDate? {
        let shown = CivilDate(uncheckedYear: 1900, month: 2, day: 1)...CivilDate(uncheckedYear: 2199, month: 11, day: 1)
        return CivilDate(iso: text).flatMap { shown.contains($0) ? $0 : nil }
    }

    /// The days in which a search looks: a year before a day, and a year after it.
    public static func searched(around day: CivilDate) -> ClosedRange<CivilDate> {
        day.adding(days: -365)...day.adding(days: 365)
    }

    /// The days that a view shows, including the last one.
    ///
    /// - Parameter start: the first day of a week.
    public static func days(
        of view: View, from day: CivilDate, weeksFrom start: WeekStart = .monday
    ) -> ClosedRange<CivilDate> {
        switch view {
        case .month: day.startOfMonth...day.endOfMonth
        case .week: start.start(of: day)...start.start(of: day).adding(days: 6)
        case .agenda: day...day.adding(days: 29)
        }
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        var content: [String: Node] = [
            "legend": legend(paper), "filter": filterForm(paper), "isFiltered": .flag(isFiltered),
            "all": paper.linkButton("calendarShowAll", paper.circlePath(), style: .quiet),
            "jump": searchForm(
                paper, "jump", Field("date", words["calendarJump"], Field.date, value: day.description),
                submit: "calendarJumpGo", values: [("view", view.rawValue)]),
            "search": searchForm(
                paper, "search",
                Field(
                    "q", words["calendarSearch"], .line(type: "search", autocomplete: "off"), value: filter.text,
                    most: Self.longestSearch),
                submit: "calendarSearchGo", values: [("view", view.rawValue), ("date", day.description)]),
            "views": .list(
                View.allCases.map {
                    var other = self
                    other.filter.text = nil
                    return [
                        "label": .text(words["view_" + $0.rawValue]),
                        "href": .text(other.link(paper, to: day, as: $0)),
                        "isHere": .flag($0 == view && filter.text == nil),
                    ]
                }),
            "isSearching": .flag(filter.text != nil), "isPart": isWhole ? .nothing : .text(words["calendarPart"]),
        ]
        content.merge(filter.text == nil ? days(paper) : matches(paper)) { $1 }
        return PageContent(
            template: "calendar", title: paper.frame.circle?.name ?? "", isName: true, section: .calendar,
            content: content)
    }

    /// The maximum number of characters that are searched for.
    public static let longestSearch = 64

    /// The special days of the view.
    private func days(_ paper: RenderContext) -> [String: Node] {
        let (words, times) = (paper.words, paper.times)
        let shown = Self.days(of: view, from: day, weeksFrom: paper.frame.weekStart)
        let caption =
            view == .month
            ? times.monthTitle(day)
            : words("spanDays", ["from": times.date(shown.lowerBound), "to": times.date(shown.upperBound)])
        let steps: (CivilDate, CivilDate) =
            switch view {
            case .month: (day.firstOfMonth(adding: -1), day.firstOfMonth(adding: 1))
            case .week: (day.adding(days: -7), day.adding(days: 7))
            case .agenda: (day.adding(days: -30), day.adding(days: 30))
            }
        let isEmpty = !entries.contains {
            $0.span.firstDay(in: times.zone) <= shown.upperBound && $0.span.lastDay(in: times.zone) >= shown.lowerBound
        }
        return [
            "caption": .text(caption),
            "before": ["href": .text(link(paper, to: steps.0)), "label": .text(words["calendarBefore"])],
            "after": ["href": .text(link(paper, to: steps.1)), "label": .text(words["calendarAfter"])],
            "today": ["href": .text(link(paper, to: times.today)), "label": .text(words["dayToday"])],
            "month": view == .month
                ? paper.month(day, entries, caption: caption) { link(paper, to: $0, as: .week) } : .nothing,
            "agenda": view == .month ? .nothing : paper.agenda(entries, from: shown.lowerBound, to: shown.upperBound),
            "empty": isEmpty
                ? paper.emptyState("calendarEmptyTitle", isFiltered ? "calendarEmptyFiltered" : "calendarEmptyText")
                : .nothing,
        ]
    }

    /// What a search found, each entry on its first day.
    private func matches(_ paper: RenderContext) -> [String: Node] {
        let (words, times) = (paper.words, paper.times)
        let span = Self.searched(around: day)
        return [
            "caption": .text(words("calendarFound", count: entries.count)),
            "found": .text(
                words(
                    "calendarSearched",
                    [
                        "text": filter.text ?? "", "from": times.date(span.lowerBound),
                        "to": times.date(span.upperBound),
                    ])),
            "agenda": paper.agenda(entries, from: span.lowerBound, to: span.upperBound, isOnce: true),
            "endSearch": paper.linkButton("calendarEndSearch", paper.circlePath(query(to: day, text: nil))),
        ]
    }

    /// A form in one line, which keeps the filter.
    private func searchForm(
        _ paper: RenderContext, _ name: String, _ field: Field, submit: String, values: [(String, String)]
    ) -> Node {
        guard
            case .map(var form) = paper.form(
                name, paper.circlePath(), [field], submit: submit, style: .plain, isSearch: true)
        else { return .nothing }
        form["hidden"] = .list((values + kept).map { ["name": .text($0.0), "value": .text($0.1)] })
        return .map(form)
    }

    /// The filter as parameters of the query.
    private var kept: [(String, String)] {
        EntryKind.allCases.filter { filter.kinds.contains($0) }.map { ("kind", $0.rawValue) }
            + [("person", filter.person), ("patient", filter.patient), ("feed", filter.feed)]
            .compactMap { name, value in value.map { (name, $0) } }
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
        paper.href(paper.circlePath(query(to: day, as: view, text: filter.text)))
    }

    private func query(to day: CivilDate, as view: View? = nil, text: String?) -> String {
        let own = [("view", (view ?? self.view).rawValue), ("date", day.description)]
        let all = own + (text.map { [("q", $0)] } ?? []) + kept
        return "?" + all.map { "\($0.0)=\($0.1.pathSegment)" }.joined(separator: "&")
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
