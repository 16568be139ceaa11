// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// `/app/circles/{circle}/conflicts`: the circle's open and resolved conflicts.
public struct ConflictsPage: Page {
    public enum Kind: String, Sendable, CaseIterable { case bothChanged, deletedThere, editedThere, unreadable }

    /// One side of a conflict, in the form in which a person compares it with the other.
    public struct Side: Sendable {
        public var title: String
        /// Nil for an event that was deleted.
        public var span: TimeSpan?
        public var place: String?
        public var notes: String?

        /// The maximum number of characters in notes: a page shows many conflicts, and notes may be long.
        public static let mostNotes = 2_000

        public init(title: String, span: TimeSpan?, place: String? = nil, notes: String? = nil) {
            (self.title, self.span, self.place) = (title, span, place)
            self.notes = notes.map { notes in
                let shown = String(notes.unicodeScalars.prefix(Self.mostNotes))
                return shown.utf8.count < notes.utf8.count ? shown + "…" : shown
            }
        }
    }

    public struct Conflict: Sendable {
        public enum Kept: Sendable { case ours, theirs, nothing }
        public enum Outcome: String, Sendable, CaseIterable { case kalends, calendar, both, dismissed, automatic }

        public var id: String
        public var kind: Kind
        public var connection: ConnectionSummary
        public var at: Int
        public var ours: Side
        public var theirs: Side
        /// The side whose version both calendars hold until a person decides.
        public var kept: Kept
        /// How many occurrences of a series are in conflict; the sides show the first; 1 for an event as a whole.
        public var occurrences: Int
        /// The original start of the only occurrence of a series in conflict, in milliseconds since 1970; nil for
        /// an event as a whole, and for several.
        public var occurrence: Int?
        /// Whether both sides may be kept.
        public var offersBoth: Bool
        /// Nil for an open conflict.
        public var outcome: Outcome?
        public var resolvedAt: Int?

        public init(
            id: String, kind: Kind, connection: ConnectionSummary, at: Int, ours: Side, theirs: Side, kept: Kept,
            occurrences: Int = 1, occurrence: Int? = nil, offersBoth: Bool = true, outcome: Outcome? = nil,
            resolvedAt: Int? = nil
        ) {
            (self.id, self.kind, self.connection, self.at, self.ours) = (id, kind, connection, at, ours)
            (self.theirs, self.kept, self.occurrences) = (theirs, kept, occurrences)
            self.occurrence = occurrence
            self.offersBoth = offersBoth && kind == .bothChanged
            (self.outcome, self.resolvedAt) = (outcome, resolvedAt)
        }
    }

    public var open: [Conflict]
    /// The conflicts that were resolved most recently.
    public var resolved: [Conflict]

    public init(open: [Conflict], resolved: [Conflict]) {
        (self.open, self.resolved) = (open, resolved)
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        return PageContent(
            template: "conflicts", title: words["conflictsTitle"], section: .conflicts,
            content: [
                "open": .rows(open.map { card(paper, $0) }),
                "none": open.isEmpty ? paper.emptyState("conflictsEmptyTitle", "conflictsEmptyText") : .nothing,
                "resolved": resolved.isEmpty
                    ? .nothing
                    : paper.table(
                        words["resolvedCaption"], ["columnEvent", "columnWhatHappened", "columnOutcome", "columnWhen"],
                        resolved.map { own in
                            [
                                .name(own.ours.title), .text(words["conflict_\(own.kind.rawValue)"]),
                                .text(words["outcome_" + (own.outcome ?? .automatic).rawValue]),
                                .time(paper.times.moment(own.resolvedAt ?? own.at)),
                            ]
                        }),
            ])
    }

    private func card(_ paper: RenderContext, _ own: Conflict) -> Node {
        let words = paper.words
        let path = paper.circlePath("/conflicts/\(own.id.pathSegment)")
        let there = own.connection.provider.name
        func resolve(_ key: String, _ keep: String, _ style: ButtonStyle = .plain) -> Node {
            paper.act(key, path + "/resolve", ["keep": keep], style: style, about: own.ours.title)
        }
        let (isOurs, isTheirs): (Bool, Bool) =
            switch own.kept {
            case .ours: (true, false)
            case .theirs: (false, true)
            case .nothing: (false, false)
            }
        let isGone: Bool = if case .deletedThere = own.kind { true } else { false }
        return [
            "title": .text(own.ours.title.isEmpty ? words["untitled"] : own.ours.title),
            "id": .text("conflict-\(own.id)"),
            "text": words.sentence(
                "conflictText_\(own.kind.rawValue)",
                [
                    "provider": .text(there), "when": .time(paper.times.moment(own.at)),
                    "app": .text(paper.frame.brand.name),
                ]),
            "done": .text(
                isOurs
                    ? words("conflictKeptOurs", ["provider": there])
                    : isTheirs ? words("conflictKeptTheirs", ["provider": there]) : words["conflictKeptNothing"]),
            "sides": .list([
                side(
                    paper, own.ours, words("conflictHere", ["app": paper.frame.brand.name]), isKept: isOurs,
                    resolve(isTheirs ? "actKeepOther" : "actKeepThis", "kalends", isOurs ? .primary : .plain)),
                side(
                    paper, own.theirs, words("conflictThere", ["provider": there]), isKept: isTheirs,
                    isGone: isGone,
                    resolve(isOurs ? "actKeepOther" : "actKeepThis", "calendar", isTheirs ? .primary : .plain)),
            ]),
            "count": own.occurrences > 1
                ? .text(words("conflictOccurrences", count: own.occurrences)) : oneDay(paper, own.occurrence),
            "both": own.offersBoth ? resolve("actKeepBoth", "both") : .nothing,
            "dismiss": paper.act("actDismiss", path + "/dismiss", style: .quiet, about: own.ours.title),
        ]
    }

    private func oneDay(_ paper: RenderContext, _ start: Int?) -> Node {
        guard let start else { return .nothing }
        let day = paper.times.weekdayDate(paper.times.zone.local(start).day)
        return .text(paper.words("conflictOneDay", ["day": day]))
    }

    /// - Parameter isGone: whether keeping this side deletes the other one.
    private func side(
        _ paper: RenderContext, _ side: Side, _ whose: String, isKept: Bool, isGone: Bool = false, _ act: Node
    ) -> Node {
        let when = side.span.map { paper.when($0, paper.times.weekdayDate) }
        return [
            "hint": isGone ? .text(paper.words("conflictGoneHint", ["app": paper.frame.brand.name])) : .nothing,
            "whose": .text(whose), "kept": isKept ? paper.badge(.good, "badgeKept") : .nothing,
            "name": .text(side.title), "when": .text(when ?? paper.words["conflictGone"]), "place": .text(side.place),
            "notes": .text(side.notes), "act": act,
        ]
    }
}
