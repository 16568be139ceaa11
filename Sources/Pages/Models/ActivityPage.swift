// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// `/app/circles/{circle}/activity`: who changed what in a circle, by day, with what it was before and after.
public struct ActivityPage: Page {
    public enum Author: Sendable {
        case person(String)
        /// The host application, with one of its keys.
        case application
        case operatorAtHand, server
    }

    /// The way by which a change came in.
    public enum Way: String, Sendable, CaseIterable {
        case api, page, caldav, google, outlook, phone, `import`, subscription, server
    }

    /// What was changed; items by their kind.
    public enum Subject: String, Sendable, CaseIterable {
        case task, shift, appointment, followUp, item, occurrence, circle, member, patient, feed, subscription
        case connection, conflict, `import`, event
    }

    public enum Change: String, Sendable, CaseIterable {
        case created, updated, deleted
        /// A changed day of a series is as its series again.
        case reset
    }

    /// The state of an item at one time; its fields are nil where they are unknown, and where a single day has them from its
    /// series.
    public struct State: Sendable {
        public var title: String?
        /// Nil for something to do, whenever that is.
        public var span: TimeSpan?
        public var status: ItemPage.Status?
        public var patient: String?
        public var person: String?
        public var place: String?
        public var zone: String?
        /// The rule by which it is repeated, in a form in which only the same rules are equal.
        public var rule: String?
        /// Minutes before the start; nil for an item that has none.
        public var reminders: [Int]?
        public var notes: String?

        public init(title: String? = nil, span: TimeSpan?) { (self.title, self.span) = (title, span) }
    }

    public struct Entry: Sendable {
        public var number: Int
        public var at: Int
        public var author: Author
        public var way: Way
        public var subject: Subject
        public var change: Change
        public var name: String?
        /// The path of what was changed, below `/app`; nil if it has none.
        public var path: String?
        /// Nil for what did not exist, and for what is not known.
        public var before: State?
        public var after: State?
        /// Whether the change undid another one.
        public var isUndo = false
        public var isUndone = false
        /// Whether it is undone with another change of its series.
        public var isPart = false
        public var mayUndo = false

        public init(
            number: Int, at: Int, author: Author, way: Way, subject: Subject, change: Change, name: String? = nil,
            path: String? = nil, before: State? = nil, after: State? = nil
        ) {
            (self.number, self.at, self.author, self.way, self.subject) = (number, at, author, way, subject)
            (self.change, self.name, self.path, self.before, self.after) = (change, name, path, before, after)
        }
    }

    /// Why a change was not undone.
    public enum Problem: Sendable {
        /// Somebody changed the same, at a time in milliseconds since 1970; nil where that is not known.
        case changedSince(Author?, at: Int?)
        case undone, notKept, impossible
    }

    /// The latest first.
    public var entries: [Entry]
    /// Whether there are earlier ones.
    public var isMore: Bool
    /// Whether this is a later part of the list.
    public var isLater: Bool
    public var problem: Problem?
    /// The item whose changes are listed, as in the path of its page; nil for all changes of the circle.
    public var item: String?
    /// For how many days a change can be undone.
    public var keptDays: Int

    public init(
        entries: [Entry], isMore: Bool = false, isLater: Bool = false, problem: Problem? = nil, keptDays: Int
    ) {
        (self.entries, self.isMore, self.isLater, self.problem) = (entries, isMore, isLater, problem)
        self.keptDays = keptDays
    }

    /// The maximum number of characters in notes: a page shows many changes, and notes may be long.
    private static let mostNotes = 300

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        let last = isMore ? entries.last : nil
        return PageContent(
            template: "activity", title: words["activityTitle"], section: .activity,
            content: [
                "kept": .text(words("activityKept", count: keptDays)),
                "only": item == nil
                    ? .nothing
                    : words.sentence("activityOnly", ["name": .strong(entries.lazy.compactMap(\.name).first ?? "")]),
                "alerts": problem.map { .list([paper.alert(.warning, sentence(paper, $0))]) } ?? .nothing,
                "days": .rows(days(paper)),
                "none": entries.isEmpty ? paper.emptyState("activityEmptyTitle", "activityEmptyText") : .nothing,
                "earlier": last.map {
                    paper.linkButton(
                        "activityEarlier", paper.circlePath("/activity?before=\($0.number)\(Self.query(item, "&"))"))
                } ?? .nothing,
                "latest": isLater
                    ? paper.linkButton("activityLatest", paper.circlePath("/activity\(Self.query(item, "?"))"))
                    : .nothing,
                "all": item == nil ? .nothing : paper.linkButton("activityAll", paper.circlePath("/activity")),
            ])
    }

    /// The part of a query that names an item; empty for none.
    static func query(_ item: String?, _ mark: String) -> String { item.map { "\(mark)item=\($0.pathSegment)" } ?? "" }

    private func days(_ paper: RenderContext) -> [Node] {
        var days: [(day: CivilDate, entries: [Entry])] = []
        for entry in entries {
            let day = paper.times.zone.local(entry.at).day
            if days.last?.day != day { days.append((day, [])) }
            days[days.count - 1].entries.append(entry)
        }
        return days.map { day, entries in
            [
                "iso": .text(day.description), "title": .text(paper.times.nearDate(day)),
                "full": .text(paper.times.fullDate(day)), "entries": .list(entries.map { row(paper, $0) }),
            ]
        }
    }

    private func row(_ paper: RenderContext, _ own: Entry) -> Node {
        let words = paper.words
        let name = own.name.map { $0.isEmpty ? words["untitled"] : $0 }
        return [
            "what": words.sentence(
                "activity_\(own.change.rawValue)",
                [
                    "who": who(paper, own.author), "what": .text(words["activityWhat_\(own.subject.rawValue)"]),
                    "name": name.map { name in
                        own.path.map { .link(name, to: paper.href($0)) } ?? .name(name)
                    } ?? .text(""),
                ]),
            "time": paper.times.moment(own.at), "way": .text(words["activityWay_\(own.way.rawValue)"]),
            "undo": own.isUndo ? paper.badge(.off, "activityIsUndo") : .nothing,
            "undone": own.isUndone ? paper.badge(.off, "activityIsUndone") : .nothing,
            "part": own.isPart ? .text(words["activityIsPart"]) : .nothing,
            "fields": .rows(fields(paper, own.before, own.after)),
            "act": own.mayUndo
                ? paper.act(
                    "actUndo", paper.circlePath("/activity/\(own.number)/undo"), style: .quiet, about: name)
                : .nothing,
        ]
    }

    private func who(_ paper: RenderContext, _ author: Author) -> Insert {
        switch author {
        case .person(let name): .name(name)
        case .application: .text(paper.words["activityApplication"])
        case .operatorAtHand: .text(paper.words["activityOperator"])
        case .server: .text(paper.words["activityServer"])
        }
    }

    private func sentence(_ paper: RenderContext, _ problem: Problem) -> Node {
        let words = paper.words
        switch problem {
        case .changedSince(let author?, let time?):
            return words.sentence(
                "activityChangedSince", ["who": who(paper, author), "when": .time(paper.times.moment(time))])
        case .changedSince: return words.sentence("activityChanged")
        case .undone: return words.sentence("activityAlready")
        case .notKept: return words.sentence("activityNotKept")
        case .impossible: return words.sentence("activityImpossible")
        }
    }

    /// The fields that differ; all of them for what came or went.
    private func fields(_ paper: RenderContext, _ before: State?, _ after: State?) -> [Node] {
        guard before != nil || after != nil else { return [] }
        let words = paper.words
        func row(_ key: String, _ text: (State) -> String?) -> Node? {
            let (old, new) = (before.flatMap(text) ?? "", after.flatMap(text) ?? "")
            guard old != new else { return nil }
            return [
                "label": .text(words[key]), "before": before == nil ? .nothing : side(words, old),
                "after": after == nil ? .nothing : side(words, new),
                "isBoth": .flag(before != nil && after != nil),
            ]
        }
        let isSeries = before?.rule != nil && after?.rule != nil
        return [
            row("activityName") { $0.title },
            row("itemTime") { paper.when($0.span, paper.times.weekdayDate) },
            row("itemStatus") { $0.status.map { words["status_" + $0.rawValue] } },
            isSeries && before?.rule != after?.rule
                ? ["label": .text(words["itemRepeats"]), "after": side(words, words["activityRepeatsOtherwise"])]
                : row("itemRepeats") { $0.rule.map { _ in words["itemRepeatsText"] } },
            row("itemPatient") { $0.patient }, row("itemPerson") { $0.person }, row("itemPlace") { $0.place },
            row("itemZone") { $0.zone },
            row("itemReminders") { $0.reminders.map(paper.reminders) },
            row("itemNotes") { own in
                own.notes.map { notes in
                    let shown = String(notes.unicodeScalars.prefix(Self.mostNotes))
                    return shown.utf8.count < notes.utf8.count ? shown + "…" : shown
                }
            },
        ].compactMap { $0 }
    }

    private func side(_ words: Words, _ text: String) -> Node {
        text.isEmpty ? ["nothing": .text(words["activityNothing"])] : ["text": .text(text)]
    }
}
