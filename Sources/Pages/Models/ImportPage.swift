// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// `/app/circles/{circle}/import` and `…/import/{import}`: an import from file to report.
public struct ImportPage: Page {
    public struct Counts: Sendable {
        public var created: Int
        public var updated: Int
        public var unchanged: Int
        public var skipped: Int
        /// Of all of these, the to-dos that stay to-dos, those that are tasks, and the journal entries.
        public var todos: Int
        public var tasks: Int
        public var journals: Int

        public init(
            created: Int, updated: Int, unchanged: Int, skipped: Int, todos: Int = 0, tasks: Int = 0, journals: Int = 0
        ) {
            self.created = created
            self.updated = updated
            self.unchanged = unchanged
            self.skipped = skipped
            (self.todos, self.tasks, self.journals) = (todos, tasks, journals)
        }
    }

    public enum Change: String, Sendable, CaseIterable { case created, updated, unchanged, skipped }

    public struct Item: Sendable {
        public var id: String
        /// The item's position in the whole list, counted from 0.
        public var number: Int
        public var isLeftOut: Bool
        public var title: String
        public var span: TimeSpan?
        public var change: Change

        public init(
            id: String, number: Int, isLeftOut: Bool = false, title: String, span: TimeSpan?, change: Change
        ) {
            self.id = id
            self.number = number
            self.isLeftOut = isLeftOut
            self.title = title
            self.span = span
            self.change = change
        }
    }

    /// Properties of the events that are not stored.
    public struct Dropped: Sendable {
        public enum Kind: String, Sendable, CaseIterable { case attendees, attachments, other }

        public var kind: Kind
        /// The property's name; only for `other`.
        public var property: String
        public var count: Int

        public init(kind: Kind, property: String = "", count: Int) {
            self.kind = kind
            self.property = property
            self.count = count
        }
    }

    public struct Report: Sendable {
        public var id: String
        public var fileName: String?
        public var counts: Counts
        public var first: CivilDate?
        public var last: CivilDate?
        public var items: [Item]
        /// The number of this part's first item, and how many items the part has.
        public var start: Int
        public var count: Int
        /// The cursor of the next part of the items; nil on the last part.
        public var next: String?
        public var problems: [FileProblem]
        public var moreProblems: Int
        /// The items on other parts that the person leaves out, encoded for this part's forms, and their number.
        public var leftOut: String
        public var leftOutCount: Int
        public var dropped: [Dropped]
        /// The people and files that the person wants to keep.
        public var kept: Set<Dropped.Kind>
        /// Whether to-dos become tasks.
        public var makesTasks: Bool

        public init(
            id: String, fileName: String?, counts: Counts, first: CivilDate?, last: CivilDate?, items: [Item],
            start: Int = 0, count: Int = 0, next: String? = nil, problems: [FileProblem], moreProblems: Int = 0,
            leftOut: String = "", leftOutCount: Int = 0, dropped: [Dropped] = [], kept: Set<Dropped.Kind> = [],
            makesTasks: Bool = false
        ) {
            self.id = id
            self.fileName = fileName
            self.counts = counts
            self.first = first
            self.last = last
            self.items = items
            self.start = start
            self.count = count
            self.next = next
            self.problems = problems
            self.moreProblems = moreProblems
            self.leftOut = leftOut
            self.leftOutCount = leftOutCount
            self.dropped = dropped
            self.kept = kept
            self.makesTasks = makesTasks
        }
    }

    /// An earlier import, as the list shows it.
    public struct Earlier: Sendable {
        public enum State: String, Sendable, CaseIterable { case underWay, previewed, committed, undone, failed }

        public var id: String
        /// Milliseconds since 1970.
        public var at: Int
        public var state: State
        public var counts: Counts
        /// Whether the reader may undo the import.
        public var canUndo: Bool

        public init(id: String, at: Int, state: State, counts: Counts, canUndo: Bool) {
            self.id = id
            self.at = at
            self.state = state
            self.counts = counts
            self.canUndo = canUndo
        }
    }

    public enum State: Sendable {
        case start
        /// Progress in percent.
        case reading(id: String, progress: Int)
        case committing(id: String, progress: Int)
        case previewed(Report)
        case committed(Report)
        /// Titles of the events that were edited later, which remain.
        case undone(kept: [String])
        /// The reason, as a code of docs/limits.md.
        case failed(code: Draft.Problem.Code, detail: String?)
    }

    public var state: State
    /// The largest file, in bytes.
    public var mostBytes: Int
    public var draft: Draft
    /// Earlier imports, the latest first; only on the first page.
    public var earlier: [Earlier]

    public init(state: State, mostBytes: Int = 64 << 20, draft: Draft = Draft(), earlier: [Earlier] = []) {
        self.state = state
        self.mostBytes = mostBytes
        self.draft = draft
        self.earlier = earlier
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        var sheet = PageContent(template: "import", title: words["importTitle"], section: .imports, content: [:])
        let steps = ["importStepFile", "importStepLook", "importStepDone"]
        switch state {
        case .start, .failed:
            sheet.content["stepper"] = paper.stepper(steps, at: 0)
            if case .failed(let code, let detail) = state {
                let problem = Draft.Problem(field: "", code: code, detail: detail)
                sheet.problems = paper.problems(Draft(problems: [problem]), in: "import")
            }
            begin(paper, &sheet)
        case .reading(let id, let progress), .committing(let id, let progress):
            let isReading: Bool = if case .reading = state { true } else { false }
            sheet.content["stepper"] = paper.stepper(steps, at: isReading ? 0 : 1)
            sheet.content["progress"] = [
                "source": .text(paper.href(path(paper, id) + "/progress")),
                "label": .text(words[isReading ? "importReading" : "importCommitting"]),
                "text": .text(words("percent", ["number": String(progress)])), "value": .number(progress),
            ]
            sheet.content["leave"] = .text(words["importLeave"])
            sheet.scripts = ["progress"]
            sheet.reloads = 3
        case .previewed(let report):
            sheet.problems = paper.problems(draft, in: "import")
            sheet.content["stepper"] = paper.stepper(steps, at: 1)
            sheet.content.merge(shown(paper, report, isChoice: true)) { _, new in new }
            sheet.scripts = ["choose"]
        case .committed(let report):
            sheet.content["stepper"] = paper.stepper(steps, at: 3)
            sheet.content["done"] = [
                "text": .text(
                    words("importDone", count: report.counts.created + report.counts.updated)),
                "undo": paper.act("actUndoImport", path(paper, report.id) + "/undo"),
                "calendar": paper.linkButton("actSeeCalendar", paper.circlePath(), style: .primary),
            ]
            sheet.content.merge(shown(paper, report, isChoice: false)) { _, new in new }
        case .undone(let kept):
            sheet.content["done"] = [
                "text": .text(words["importWasUndone"]),
                "again": paper.linkButton("actImportAnother", paper.circlePath("/import")),
                "calendar": paper.linkButton("actSeeCalendar", paper.circlePath(), style: .primary),
            ]
            sheet.content["kept"] =
                kept.isEmpty
                ? .nothing : ["text": .text(words["importKept"]), "names": .list(kept.map { .text($0) })]
        }
        return sheet
    }

    func path(_ paper: RenderContext, _ id: String) -> String { paper.circlePath("/import/\(id.pathSegment)") }

    private func begin(_ paper: RenderContext, _ sheet: inout PageContent) {
        let words = paper.words
        let file = Field(
            "file", words["importFile"], .file(accept: ".ics,.ical,.ifb,.vcs,.csv,.zip,text/calendar"),
            hint: words("importFileHint", ["size": paper.size(mostBytes)]))
        let address = Field("url", words["importAddress"], Field.address, hint: words["importAddressHint"])
        sheet.content["start"] = [
            "file": paper.form(
                "import", paper.circlePath("/import"), [file], submit: "actLookAtFile", draft: draft, isUpload: true,
                behaviour: "upload"),
            "address": paper.form(
                "fetch", paper.circlePath("/import"), [address], submit: "actLookAtAddress", style: .plain, draft: draft
            ),
        ]
        sheet.scripts = ["drop"]
        sheet.content["earlier"] = earlier.isEmpty ? .nothing : ["table": earlierTable(paper)]
        sheet.problems += paper.problems(
            Draft(problems: draft.problems.filter { $0.field != "url" }), in: "import", [file])
        sheet.problems += paper.problems(
            Draft(problems: draft.problems.filter { $0.field == "url" }), in: "fetch", [address])
    }
}
