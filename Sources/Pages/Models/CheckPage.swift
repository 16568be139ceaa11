// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// `/app/check`: the problems of a calendar file, which is not stored.
public struct CheckPage: Page {
    public struct Verdict: Sendable {
        public enum Outcome: String, Sendable, CaseIterable { case fine, untroubled, partly, refused }

        /// The name of the calendar app.
        public var app: String
        public var outcome: Outcome
        public var reasons: [Sentence]

        public init(app: String, outcome: Outcome, reasons: [Sentence]) {
            (self.app, self.outcome, self.reasons) = (app, outcome, reasons)
        }
    }

    public struct Result: Sendable {
        public var bytes: Int
        public var events: Int
        public var calendarName: String?
        public var writtenBy: String?
        public var first: CivilDate?
        public var last: CivilDate?
        public var problems: [FileProblem]
        public var moreProblems: Int
        public var verdicts: [Verdict]
        /// The reason why nothing could be read; nil when something was read.
        public var refusal: Sentence?

        public init(
            bytes: Int, events: Int, calendarName: String? = nil, writtenBy: String? = nil,
            first: CivilDate? = nil, last: CivilDate? = nil, problems: [FileProblem], moreProblems: Int = 0,
            verdicts: [Verdict], refusal: Sentence? = nil
        ) {
            (self.bytes, self.events, self.calendarName, self.writtenBy) = (bytes, events, calendarName, writtenBy)
            (self.first, self.last, self.problems, self.moreProblems) = (first, last, problems, moreProblems)
            (self.verdicts, self.refusal) = (verdicts, refusal)
        }
    }

    public var result: Result?
    public var mostBytes: Int
    public var draft: Draft

    public init(result: Result? = nil, mostBytes: Int = 64 << 20, draft: Draft = Draft()) {
        (self.result, self.mostBytes, self.draft) = (result, mostBytes, draft)
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        let file = Field(
            "file", words["checkFile"], .file(accept: ".ics,.ical,.ifb,.vcs,.csv,text/calendar"),
            hint: words("importFileHint", ["size": paper.size(mostBytes)]))
        return PageContent(
            template: "check", title: words["checkTitle"], section: .check,
            content: [
                "form": paper.form(
                    "check", "/app/check", [file], submit: "actCheck", draft: draft, isUpload: true, behaviour: "upload"
                ),
                "result": result.map { shown(paper, $0) } ?? .nothing,
            ], scripts: ["drop"], problems: paper.problems(draft, in: "check", [file]))
    }

    private func shown(_ paper: RenderContext, _ result: Result) -> Node {
        let (words, times) = (paper.words, paper.times)
        let errors = result.problems.count { if case .error = $0.severity { true } else { false } }
        let badge =
            result.refusal != nil
            ? paper.badge(.bad, "checkUnreadable")
            : errors > 0
                ? paper.badge(.bad, "checkFaults")
                : result.problems.isEmpty ? paper.badge(.good, "checkGood") : paper.badge(.warning, "checkWarnings")
        return [
            "badge": badge, "refusal": result.refusal.map(paper.phrase) ?? .nothing,
            "facts": paper.facts([
                paper.fact("checkSize", plain(paper.size(result.bytes))),
                paper.fact("checkEvents", plain(words.number(result.events))),
                paper.fact("checkCalendar", named(result.calendarName)),
                paper.fact("checkWriter", named(result.writtenBy)),
                paper.fact("checkFirst", timed(result.first.map(times.dayNode))),
                paper.fact("checkLast", timed(result.last.map(times.dayNode))),
            ]),
            "verdicts": .rows(
                result.verdicts.map { verdict in
                    let tone: BadgeTone =
                        switch verdict.outcome {
                        case .fine: .good
                        case .untroubled: .off
                        case .partly: .warning
                        case .refused: .bad
                        }
                    return [
                        "app": .text(verdict.app), "badge": paper.badge(tone, "verdict_" + verdict.outcome.rawValue),
                        "reasons": .list(verdict.reasons.map(paper.phrase)),
                    ]
                }),
            // A file that could not be read was refused as a whole.
            "showsProblems": .flag(!result.problems.isEmpty || result.refusal == nil),
            "problems": result.problems.isEmpty ? .nothing : paper.problemTable(result.problems),
            "noProblems": result.problems.isEmpty && result.refusal == nil ? .text(words["checkNoProblems"]) : .nothing,
            "more": result.moreProblems > 0 ? .text(words("moreProblems", count: result.moreProblems)) : .nothing,
        ]
    }
}
