// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// The totals of a report, gathered while the events are decided.
struct ImportCounts: Sendable {
    /// How many problems of a kind are listed individually; each item also has its own reason.
    private static let listed = 2000
    /// The number of entries with a property that is left out for which the lines are listed.
    static let linesOfProperty = 20

    private var counts: [ImportPlan.Change: Int] = [:]
    /// The first and the last day on which the file has an event.
    private var span = Imports.Span()
    private var reasons: [Marked<Problem>] = []
    private var unseen: [Marked<Problem>] = []
    private var items = 0
    private var kinds: [Imports.Item.Kind: Int] = [:]
    private var leftOut: LeftOut = [:]
    /// The lines at which the first entries that lose a property begin, by property.
    private var lines: [ByteString: [Int]] = [:]

    func count(_ change: ImportPlan.Change) -> Int { counts[change] ?? 0 }

    /// Whether anything is private to the importer.
    private(set) var hasPrivate = false

    mutating func add(_ item: ImportPlan.Item, _ zone: any TimeZoneRules) {
        items += 1
        counts[item.change, default: 0] += 1
        kinds[Imports.Item.Kind(item), default: 0] += 1
        if !item.isShared { hasPrivate = true }
        if item.change != .skipped {
            leftOut.merge(item.leftOut, uniquingKeysWith: +)
            for property in item.leftOut.keys where lines[property, default: []].count < Self.linesOfProperty {
                lines[property, default: []].append(item.line)
            }
        }
        if let end = item.event.effectiveEnd {
            // A to-do without a start counts at its due time.
            let start = item.event.start ?? end
            let from = zone.civil(at: start.instant(floatingIn: zone)).date
            // The end is exclusive: an event that ends at midnight does not touch the day that begins then.
            let to = max(from, zone.civil(at: end.instant(floatingIn: zone).adding(seconds: -1)).date)
            (span.from, span.to) = (min(span.from ?? from, from), max(span.to ?? to, to))
        }
        if let reason = item.reason, reasons.count < Self.listed {
            reasons.append(
                Marked(
                    value: Problem(
                        line: item.line, uid: item.event.uid, severity: .warning,
                        code: item.change == .skipped ? "event-skipped" : "event-matched", sentence: reason),
                    isShared: item.isShared, storedUID: item.storedUID))
        }
        if item.event.isPrivate, item.record?.importedBy == nil, item.change != .skipped, unseen.count < Self.listed {
            unseen.append(
                Marked(
                    value: Problem(
                        line: item.line, uid: item.event.uid, severity: .warning, code: "private-event",
                        sentence: Sentence(
                            .privateUnseen, "It is marked private and no user imported it, so no feed shows it."))))
        }
    }

    /// Returns the counts and the span, which a list of imports also shows.
    func outline(_ summary: ImportSummary) -> Imports.Outline {
        var outline = Imports.Outline(span: span, isShared: !hasPrivate)
        outline.counts.events = items + summary.skipped
        outline.counts.created = count(.created)
        outline.counts.updated = count(.updated)
        outline.counts.unchanged = count(.unchanged)
        outline.counts.skipped = count(.skipped) + summary.skipped
        outline.counts.todos = kinds[.todo] ?? 0
        outline.counts.tasks = kinds[.task] ?? 0
        outline.counts.journals = kinds[.journal] ?? 0
        return outline
    }

    /// What was left out of the events that were not skipped, by property, including files that are too large to be read.
    private func dropped(_ summary: ImportSummary) -> [Imports.Dropped] {
        var (all, lines) = (leftOut, lines)
        let unread = summary.problems.filter { $0.code == "attachment-dropped" }
        if !unread.isEmpty {
            all["ATTACH", default: 0] += unread.reduce(0) { $0 + ($1.unlisted ?? 1) }
            lines["ATTACH", default: []] += unread.map(\.line)
        }
        return all.sorted { $0.key < $1.key }.map { property, count in
            let found = (lines[property] ?? []).sorted().prefix(Self.linesOfProperty)
            return Imports.Dropped(property: property.string, count: count, lines: Array(found))
        }
    }

    /// Returns the zones, the problems and what was left out; together with the outline, they are the report without its
    /// state and items.
    ///
    func details(_ summary: ImportSummary, _ index: ImportIndex, _ choice: ImportChoice) -> Imports.Details {
        let problems = summary.problems.map { problem in
            // A problem that cannot be assigned to an event that everybody may see might concern a private one.
            let isShared = problem.uid.map { index.contains($0) && !index.isPrivate($0) } ?? false
            return Marked(value: problem, isShared: isShared)
        }
        return Imports.Details(
            timeZones: summary.zones, dropped: dropped(summary),
            keep: EventExtra.choices.filter { choice.extras?.contains($0) == true },
            todos: choice.todos ?? .keep, problems: problems + reasons + unseen)
    }
}
