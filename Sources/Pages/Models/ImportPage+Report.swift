// SPDX-License-Identifier: Apache-2.0

public import Calendar

/// A problem in a line of a calendar file.
public struct FileProblem: Sendable {
    public enum Severity: String, Sendable, CaseIterable { case error, warning, repaired }

    /// The line's number; 0 for a problem of the whole file.
    public var line: Int
    public var severity: Severity
    public var sentence: Sentence

    public init(line: Int, severity: Severity, sentence: Sentence) {
        self.line = line
        self.severity = severity
        self.sentence = sentence
    }
}

extension RenderContext {
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
                    .badge(badge(tone, "severity_" + problem.severity.rawValue)), .phrase(phrase(problem.sentence)),
                ]
            })
    }
}

extension ImportPage {
    func shown(_ paper: RenderContext, _ report: Report, isChoice: Bool) -> [String: Node] {
        let (words, times) = (paper.words, paper.times)
        let counts = report.counts
        let figures: [(String, Int)] = [
            ("created", counts.created), ("updated", counts.updated), ("unchanged", counts.unchanged),
            ("skipped", counts.skipped),
        ]
        let kinds = [("todos", counts.todos), ("tasks", counts.tasks), ("journals", counts.journals)]
            .filter { $0.1 > 0 }
        var lead: Node = .nothing
        if let first = report.first, let last = report.last {
            lead = words.sentence(
                report.fileName == nil ? "importSpan" : "importSpanOf",
                [
                    "file": .strong(report.fileName ?? ""), "from": .time(times.dayNode(first)),
                    "to": .time(times.dayNode(last)),
                ])
        }
        let groups = isChoice ? Self.groups(of: report.items) : []
        var groupOf: [Int: Int] = [:]
        for group in groups { for item in group { groupOf[item.number] = group[0].number } }
        let items = report.items.enumerated().map { index, item -> Node in
            let canLeaveOut = isChoice && item.change.bringsSomething
            let tone: BadgeTone =
                switch item.change {
                case .created: .good
                case .updated: .busy
                case .unchanged: .off
                case .skipped: .warning
                }
            return [
                "id": .text("item-\(index)"), "value": .number(item.number), "canLeaveOut": .flag(canLeaveOut),
                "isLeftOut": .flag(item.isLeftOut), "group": .text(groupOf[item.number].map(String.init)),
                "title": .text(item.title.isEmpty ? words["untitled"] : item.title),
                "when": item.span.map { .text(paper.when($0, times.weekdayDate)) } ?? .nothing,
                "badge": paper.badge(tone, "import_" + item.change.rawValue),
            ]
        }
        return [
            "lead": lead,
            "figures": .list(
                (figures + kinds).map {
                    ["number": .text(words.number($0.1)), "label": .text(words("importCount_\($0.0)", count: $0.1))]
                }),
            "report": true,
            "items": items.isEmpty ? .nothing : .map(["rows": .list(items)]),
            "groups": .rows(
                groups.map { group in
                    [
                        "value": .number(group[0].number),
                        "title": .text(group[0].title.isEmpty ? words["untitled"] : group[0].title),
                        "count": .text(words("countEvents", count: group.count)),
                        "isLeftOut": .flag(group.allSatisfy(\.isLeftOut)),
                    ]
                }),
            "dropped": dropped(paper, report, isChoice: isChoice),
            "todos": isChoice && counts.todos + counts.tasks > 0
                ? ["makesTasks": .flag(report.makesTasks), "label": .text(words["importToDosAsTasks"])] : .nothing,
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

    /// The maximum number of titles that can be left out as a whole.
    private static let mostGroups = 12

    /// Groups of several events with the same title, if there are also other events; the largest group first.
    private static func groups(of items: [Item]) -> [[Item]] {
        let choices = items.filter(\.change.bringsSomething)
        var all: [[UInt8]: [Item]] = [:]
        for item in choices { all[Array(item.title.utf8), default: []].append(item) }
        guard all.count > 1 else { return [] }
        let several = all.values.filter { $0.count > 1 }
        return Array(several.sorted { ($1.count, $0[0].number) < ($0.count, $1[0].number) }.prefix(mostGroups))
    }

    /// The parts of the events that are not stored, and which of them the person can choose to keep.
    private func dropped(_ paper: RenderContext, _ report: Report, isChoice: Bool) -> Node {
        let words = paper.words
        let choices: [Dropped.Kind] = [.attendees, .attachments].filter { kind in
            isChoice && (report.kept.contains(kind) || report.dropped.contains { $0.kind == kind })
        }
        guard !report.dropped.isEmpty || !choices.isEmpty else { return .nothing }
        return [
            "names": .list(
                report.dropped.map {
                    .text(words("importDropped_" + $0.kind.rawValue, count: $0.count, ["property": $0.property]))
                }),
            "keepable": .rows(
                choices.map { kind in
                    [
                        "value": .text(kind.rawValue), "label": .text(words["importKeep_" + kind.rawValue]),
                        "isKept": .flag(report.kept.contains(kind)),
                    ]
                }),
        ]
    }

    /// The number of events in each earlier part.
    private static let eventsOfPart = 1000

    /// The form around the list: it imports everything that is selected, or shows another part and keeps the selection.
    private func commit(_ paper: RenderContext, _ report: Report) -> Node {
        let words = paper.words
        let turn = paper.href(path(paper, report.id) + "/page")
        let earlier = report.start > 0 ? String(max(0, report.start - Self.eventsOfPart)) : nil
        return [
            "action": .text(paper.href(path(paper, report.id) + "/commit")), "turn": .text(turn),
            "left": .text(report.leftOut), "first": .number(report.start), "count": .number(report.count),
            "note": report.leftOutCount > 0
                ? .text(words("importLeftOutElsewhere", count: report.leftOutCount)) : .nothing,
            "chosen": .text(words["importChosen"]), "elsewhere": .number(report.leftOutCount),
            "all": .number(report.counts.created + report.counts.updated),
            "earlier": earlier.map { ["to": .text($0)] } ?? .nothing,
            "later": report.next.map { ["to": .text($0)] } ?? .nothing,
        ]
    }
}

extension ImportPage.Change {
    /// Whether the item changes anything, so that it can be left out.
    var bringsSomething: Bool {
        switch self {
        case .created, .updated: true
        case .unchanged, .skipped: false
        }
    }
}
