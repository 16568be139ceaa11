// SPDX-License-Identifier: Apache-2.0

/// Something about a line of a calendar file.
public struct FileProblem: Sendable {
    public enum Severity: String, Sendable, CaseIterable { case error, warning, repaired }

    /// 0 for what is about the whole file.
    public var line: Int
    public var severity: Severity
    /// In the reader's words.
    public var message: String

    public init(line: Int, severity: Severity, message: String) {
        self.line = line
        self.severity = severity
        self.message = message
    }
}

extension Paper {
    func problemTable(_ problems: [FileProblem]) -> Node {
        table(
            words["fileProblemsCaption"], ["columnLine", "columnSeverity", "columnProblem"],
            problems.map { problem in
                let tone: BadgeTone =
                    switch problem.severity {
                    case .error: .bad
                    case .warning: .warning
                    case .repaired: .good
                    }
                return [
                    problem.line > 0 ? .number(problem.line) : .text(words["wholeFile"]),
                    .badge(badge(tone, "severity_" + problem.severity.rawValue)), .name(problem.message),
                ]
            })
    }
}

extension ImportPage {
    func shown(_ paper: Paper, _ report: Report, isChoice: Bool) -> [String: Node] {
        let (words, times) = (paper.words, paper.times)
        let counts = report.counts
        let figures: [(String, Int)] = [
            ("created", counts.created), ("updated", counts.updated), ("unchanged", counts.unchanged),
            ("skipped", counts.skipped),
        ]
        var lead: Node = .nothing
        if let first = report.first, let last = report.last {
            lead = words.sentence(
                report.fileName == nil ? "importSpan" : "importSpanOf",
                [
                    "file": .strong(report.fileName ?? ""), "from": .time(times.dayNode(first)),
                    "to": .time(times.dayNode(last)),
                ])
        }
        let items = report.items.enumerated().map { index, item -> Node in
            let canLeaveOut: Bool =
                switch item.change {
                case .created, .updated: isChoice
                case .unchanged, .skipped: false
                }
            let tone: BadgeTone =
                switch item.change {
                case .created: .good
                case .updated: .busy
                case .unchanged: .off
                case .skipped: .warning
                }
            return [
                "id": .text("item-\(index)"), "value": .number(item.number), "canLeaveOut": .flag(canLeaveOut),
                "isLeftOut": .flag(item.isLeftOut),
                "title": .text(item.title.isEmpty ? words["untitled"] : item.title),
                "when": item.span.map { .text(paper.when($0, times.weekdayDate)) } ?? .nothing,
                "badge": paper.badge(tone, "import_" + item.change.rawValue),
            ]
        }
        return [
            "lead": lead,
            "figures": .list(
                figures.map {
                    ["number": .text(words.number($0.1)), "label": .text(words("importCount_\($0.0)", count: $0.1))]
                }),
            "report": true,
            "items": items.isEmpty ? .nothing : .map(["rows": .list(items)]),
            "commit": isChoice ? commit(paper, report) : .nothing,
            "cancel": isChoice
                ? paper.act("actThrowAway", path(paper, report.id) + "/discard", style: .quiet) : .nothing,
            "next": isChoice
                ? .nothing
                : report.next.map {
                    paper.linkButton("actMore", path(paper, report.id) + "?cursor=\($0.pathSegment)")
                } ?? .nothing,
            "fileProblems": report.problems.isEmpty ? .nothing : paper.problemTable(report.problems),
            "moreProblems": report.moreProblems > 0
                ? .text(words("moreProblems", count: report.moreProblems)) : .nothing,
        ]
    }

    /// How many events an earlier part has.
    private static let eventsOfPart = 1000

    /// The form around the list: it brings everything in, or turns to another part with what was left out so far.
    private func commit(_ paper: Paper, _ report: Report) -> Node {
        let words = paper.words
        let turn = paper.href(path(paper, report.id) + "/page")
        let earlier = report.start > 0 ? String(max(0, report.start - Self.eventsOfPart)) : nil
        return [
            "action": .text(paper.href(path(paper, report.id) + "/commit")), "turn": .text(turn),
            "left": .text(report.leftOut), "first": .number(report.start), "count": .number(report.count),
            "note": report.leftOutCount > 0
                ? .text(words("importLeftOutElsewhere", count: report.leftOutCount)) : .nothing,
            "earlier": earlier.map { ["to": .text($0)] } ?? .nothing,
            "later": report.next.map { ["to": .text($0)] } ?? .nothing,
        ]
    }
}
