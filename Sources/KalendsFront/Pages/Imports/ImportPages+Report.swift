// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore
import Pages

extension Imports.Report {
    /// The maximum number of problems that a page lists.
    private static let mostProblems = 200

    /// The report as its page shows it.
    ///
    /// - Parameters:
    /// - zone: the zone of floating times.
    /// - start: the number of the first item.
    /// - leftOut: the items that the person has deselected on other parts of the list.
    /// - choice: the person's choices, which replace those of the import's request.
    func page(
        in zone: TimeZoneReference, start: Int, _ leftOut: LeftOut, choosing choice: ImportChoice
    ) -> ImportPage.Report {
        var others = leftOut
        others.set(start..<start + items.count, to: [])
        return ImportPage.Report(
            id: listed.id, fileName: nil, counts: ImportPage.Counts(listed.counts ?? Imports.Counts()),
            first: listed.span?.from, last: listed.span?.to,
            items: items.enumerated().map { index, item in
                Self.item(item, start + index, isLeftOut: leftOut.contains(start + index), zone)
            }, start: start, count: items.count, next: next.map(String.init),
            problems: problems.prefix(Self.mostProblems).map(FileProblem.init),
            moreProblems: (problemsLeftOut ?? 0) + max(0, problems.count - Self.mostProblems),
            leftOut: others.text, leftOutCount: others.count, dropped: droppedOfPage,
            kept: Set((choice.extras ?? Set(keep)).compactMap { ImportPage.Dropped.Kind(text: $0.rawValue) }),
            makesTasks: (choice.todos ?? todos) == .tasks)
    }

    /// What was left out, with everything about people in one line.
    private var droppedOfPage: [ImportPage.Dropped] {
        var counts: [ImportPage.Dropped.Kind: Int] = [:]
        var others: [ImportPage.Dropped] = []
        for one in dropped {
            switch EventExtra(property: ByteString(one.property)) {
            case .attendees: counts[.attendees, default: 0] += one.count
            case .attachments: counts[.attachments, default: 0] += one.count
            case .reminders, nil: others.append(.init(kind: .other, property: one.property, count: one.count))
            }
        }
        let known: [ImportPage.Dropped.Kind] = [.attendees, .attachments]
        return known.compactMap { kind in counts[kind].map { .init(kind: kind, count: $0) } } + others
    }

    private static func item(
        _ item: Imports.Item, _ number: Int, isLeftOut: Bool, _ zone: TimeZoneReference
    ) -> ImportPage.Item {
        var span: TimeSpan?
        if let first = item.start?.date {
            span = .days(first: first, until: item.end?.date ?? first.adding(days: 1))
        } else if let start = item.start?.instant(floatingIn: zone.rules) {
            let end = max(start, item.end?.instant(floatingIn: zone.rules) ?? start)
            span = .timed(start: start, end: end, zone: zone.identifier)
        }
        return ImportPage.Item(
            id: item.id, number: number, isLeftOut: isLeftOut, title: item.summary ?? "", span: span,
            change: ImportPage.Change(text: item.change.rawValue) ?? .skipped)
    }
}

extension ImportPage.Counts {
    init(_ counts: Imports.Counts) {
        self.init(
            created: counts.created, updated: counts.updated, unchanged: counts.unchanged, skipped: counts.skipped,
            todos: counts.todos, tasks: counts.tasks, journals: counts.journals)
    }
}

extension FileProblem {
    init(_ problem: Problem) {
        // Both have the same words.
        let severity = Severity(text: problem.severity.rawValue) ?? .error
        self.init(line: problem.line, severity: severity, sentence: problem.sentence)
    }
}
