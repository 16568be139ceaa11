// SPDX-License-Identifier: Apache-2.0

package import ICalBridge

extension Imports {
    /// How many of a file's entries an import treats in each way, and their kinds.
    package struct Counts: JSONFormed {
        package var events = 0
        package var created = 0
        package var updated = 0
        package var unchanged = 0
        package var skipped = 0
        package var todos = 0
        package var tasks = 0
        package var journals = 0

        package init() {}

        package static let form = JSONForm<Self>([
            .init("events", \.events), .init("created", \.created), .init("updated", \.updated),
            .init("unchanged", \.unchanged), .init("skipped", \.skipped),
            .init("todos", \.todos).described("How many of the events are to-dos that are kept as such."),
            .init("tasks", \.tasks).described("How many of the events are to-dos that are tasks."),
            .init("journals", \.journals).described("How many of the events are journal entries."),
        ])
    }

    /// The first and the last day on which a file has an event; nil for a file without dated events.
    package struct Span: JSONFormed {
        package var from: CivilDate?
        package var to: CivilDate?

        package init() {}

        package static let form = JSONForm<Self>([.init("from", \.from), .init("to", \.to)])
    }

    /// The stored part of a report that a list of imports also shows.
    struct Outline: JSONFormed {
        var counts = Counts()
        var span = Span()
        /// Whether nothing of the import is private to the importer.
        var isShared = false

        static let form = JSONForm<Self>([
            .init("counts", \.counts), .init("span", \.span), .init("shared", \.isShared),
        ])
    }

    /// The stored part of a report besides its outline and its items.
    struct Details: JSONFormed {
        var timeZones: [TimeZoneResolution] = []
        var dropped: [Dropped] = []
        var keep: [EventExtra] = []
        var todos = ToDoChoice.keep
        var problems: [Marked<Problem>] = []

        static let form = JSONForm<Self>([
            .init("timeZones", \.timeZones), .init("dropped", \.dropped), .init("keep", \.keep),
            .init("todos", \.todos), .init("problems", \.problems),
        ])
    }

    /// How often a property was left out of the events that are not skipped.
    package struct Dropped: JSONFormed {
        package var property = ""
        package var count = 0
        package var lines: [Int] = []

        package init() {}
        init(property: String, count: Int, lines: [Int]) {
            (self.property, self.count, self.lines) = (property, count, lines)
        }

        package static let form = JSONForm<Self>([
            .init("property", \.property), .init("count", \.count),
            .init("lines", \.lines).described(
                "The lines of the file at which the first \(ImportCounts.linesOfProperty) entries begin that have it."),
        ])
    }

    /// What an import does with one event of the file.
    package struct Item: JSONFormed {
        package enum Change: String, CaseIterable, JSONPart { case created, updated, unchanged, skipped }
        package enum Kind: String, CaseIterable, JSONPart { case event, todo, task, journal }

        package var id = ""
        package var uid = ""
        package var change = Change.created
        package var kind = Kind.event
        /// The title, or the beginning of a long title: it only has to identify the event.
        package var summary: String?
        package var start: ShownTime?
        package var end: ShownTime?
        /// Nil for an event that is clearly new or unchanged.
        package var reason: String?

        package init() {}

        package static let form = JSONForm<Self>([
            .init("itemId", \.id), .init("uid", \.uid), .init("change", \.change),
            .init("kind", \.kind).described("A `task` is a to-do that becomes one."), .init("summary", \.summary),
            .init("start", \.start).documented(.eventTime), .init("end", \.end).documented(.eventTime),
            .init("reason", \.reason),
        ])
    }

    /// The state of an import that has been made, that is under way, or that failed.
    package enum State: String, CaseIterable, JSONPart {
        case reading, previewed, committing, committed, undone, failed
    }

    /// An import as a list shows it to a caller.
    package struct Listed: JSONFormed {
        package var id = ""
        package var circleID = ""
        package var userID: String?
        package var state = State.previewed
        /// The part that is done, from 0 to 1; nil when the import failed.
        package var progress: Double?
        package var createdAt = Moment(milliseconds: 0)
        package var committedAt: Moment?
        package var undoneAt: Moment?
        package var counts: Counts?
        package var span: Span?
        /// The reason why the import failed, as the answer gave it: null for those who may not see it.
        package var problem: JSONValue?
        /// Whether the preview still exists after a commit that failed.
        package var canBeCommittedAgain = false

        package init() {}

        package var isUnderWay: Bool { state == .reading || state == .committing }

        package static let form = JSONForm<Self>([
            .init("id", \.id), .init("circleId", \.circleID).documented(.identifier),
            .init("userId", \.userID).documented(JSONSchema.identifier.orNull), .init("state", \.state),
            .init("progress", \.progress).documented(
                JSONSchema(["type": "number", "minimum": 0, "maximum": 1]).orNull.described(
                    "Null when the import failed.")),
            .init("createdAt", \.createdAt), .init("committedAt", \.committedAt), .init("undoneAt", \.undoneAt),
            .init("counts", \.counts).described("Null until the file has been read."),
            .init("span", \.span).described("Also null for a caller who may not see the whole import."),
            .optional("problem", \.problem).documented(.either(.named("Problem"), JSONSchema(["type": "null"]))),
        ])
    }

    /// An import with its problems and one part of its items, as far as the caller may see them.
    package struct Report: JSONFormed {
        package var listed = Listed()
        package var timeZones: [TimeZoneResolution] = []
        package var dropped: [Dropped] = []
        package var keep: [EventExtra] = []
        package var todos = ToDoChoice.keep
        package var shown = ImportShown.Part.shared
        package var problems: [Problem] = []
        /// The number of further problems; nil if there are none.
        package var problemsLeftOut: Int?
        package var items: [Item] = []
        /// The number of the first item of the next part; nil on the last part. JSON has a cursor instead.
        package var next: Int?
        /// The first of the items that an undo kept, and the number of all of them; nil unless it has just been undone.
        package var kept: [ImportUndo.Kept.Item]?
        package var keptCount: Int?

        package init() {}

        package static let form = JSONForm<Self>(
            Listed.form.within(\.listed) + [
                .init("timeZones", \.timeZones),
                .init("dropped", \.dropped).described(
                    "The properties, such as `ATTENDEE`, that are left out of the events that are not skipped."),
                .init("keep", \.keep).documented(
                    JSONSchema.array(of: .one(of: EventExtra.choices.map(\.rawValue))).described(
                        "The properties that the importer wants to keep.")),
                .init("todos", \.todos).described("What becomes of to-dos."),
                .init("shown", \.shown).described(
                    "The part of the report that the caller may see: `all` for the person who made it and "
                        + "the host application; for others, who see it only once it is committed, `shared`, "
                        + "which leaves out everything that is private to that person."),
                .init("problems", \.problems).documented(.array(of: .named("ImportProblem"))),
                .optional("problemsLeftOut", \.problemsLeftOut).documented(
                    JSONSchema.integer(1...Int.max).described(
                        "The number of further problems, when their list exceeds one mebibyte.")),
                .init("items", \.items).documented(.array(of: .named("ImportItem"))),
                .optional("kept", \.kept).described(
                    "The items that an undo kept because they had been edited; at most a thousand."),
                .optional("keptCount", \.keptCount).described("The number of items that an undo kept."),
            ])
    }
}

extension Imports.Item {
    init(_ item: ImportPlan.Item) {
        self.init()
        (id, uid, change, reason) = (item.id, item.event.uid, item.change, item.reason?.text)
        kind = Kind(item)
        summary = item.event.summary.map { title in
            guard title.utf8.count > 1000 else { return title }
            return String(String.UnicodeScalarView(title.unicodeScalars.prefix(500))) + "…"
        }
        (start, end) = (item.event.start.map(ShownTime.init), item.event.effectiveEnd.map(ShownTime.init))
    }
}

extension Imports.Item.Kind {
    init(_ item: ImportPlan.Item) {
        switch item.event.kind {
        case .event, .freeBusy: self = .event
        case .toDo: self = item.isTask ? .task : .todo
        case .journal: self = .journal
        }
    }
}

extension EventExtra: JSONPart {}

extension ToDoChoice: JSONPart {}

extension Problem.Severity: JSONPart {}

extension Problem.Code: JSONPart {
    package static var schema: JSONSchema { .string }
    package init?(json: JSONValue) {
        guard let text = json.string else { return nil }
        self.init(rawValue: text)
    }
    package var json: JSONValue { .string(rawValue) }
}

extension Problem: JSONFormed {
    package init() { self.init(line: 0, severity: .error, code: "", sentence: Sentence(ofOthers: "")) }

    package static let form = JSONForm<Self>([
        .init("line", \.line), .optional("column", \.column).documented(.count), .optional("uid", \.uid),
        .init("severity", \.severity), .init("code", \.code), .init("message", \.message), .optional("text", \.text),
        .derived("reference") { $0.code.reference },
    ])
}

extension TimeZoneResolution.How: JSONPart {}

extension TimeZoneResolution: JSONFormed {
    package init() { self.init(tzid: "", resolvedTo: nil, how: .assumed) }

    package static let form = JSONForm<Self>([
        .init("tzid", \.tzid), .init("resolvedTo", \.resolvedTo), .init("how", \.how),
    ])
}
