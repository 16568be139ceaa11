// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import KalendsCore
import Pages
import Storage

extension Imports.Report {
    /// The most problems that a page lists.
    private static let mostProblems = 200

    /// The report as its page shows it.
    ///
    /// - Parameters:
    /// - zone: the zone of floating times.
    /// - start: the number of the first item.
    /// - leftOut: the items that the person has deselected on other parts of the list.
    /// - kept: what the person wants to keep; nil for what the import was asked to keep.
    func page(
        in zone: TimeZoneReference, start: Int, _ leftOut: LeftOut, keeping kept: Set<EventExtra>?
    ) throws -> ImportPage.Report {
        let members = JSONValue.object(try json)
        func count(_ name: String) -> Int { members["counts"]?[name]?.integer ?? 0 }
        func day(_ name: String) -> CivilDate? {
            members["span"]?[name]?.string.flatMap { CivilDate(iso: String($0.prefix(10))) }
        }
        var others = leftOut
        others.set(start..<start + items.count, to: [])
        return ImportPage.Report(
            id: listed.record.id, fileName: nil,
            counts: ImportPage.Counts(
                created: count("created"), updated: count("updated"), unchanged: count("unchanged"),
                skipped: count("skipped")), first: day("from"), last: day("to"),
            items: items.enumerated().compactMap { place, item in
                Self.item(item, start + place, isLeftOut: leftOut.contains(start + place), zone)
            }, start: start, count: items.count, next: next.map(String.init),
            problems: problems.prefix(Self.mostProblems).compactMap(FileProblem.init),
            moreProblems: problemsLeftOut + max(0, problems.count - Self.mostProblems),
            leftOut: others.text, leftOutCount: others.count, dropped: droppedOfPage,
            kept: Set((kept ?? keptExtras).compactMap { ImportPage.Dropped.Kind(text: $0.rawValue) }))
    }

    private var keptExtras: Set<EventExtra> {
        Set((keep.array ?? []).compactMap { $0.string.flatMap { EventExtra(choice: $0) } })
    }

    /// What was left out, with all that is about people in one line.
    private var droppedOfPage: [ImportPage.Dropped] {
        var counts: [ImportPage.Dropped.Kind: Int] = [:]
        var others: [ImportPage.Dropped] = []
        for one in dropped.array ?? [] {
            guard let name = one["property"]?.string, let count = one["count"]?.integer else { continue }
            switch EventExtra(property: ByteString(name)) {
            case .attendees: counts[.attendees, default: 0] += count
            case .attachments: counts[.attachments, default: 0] += count
            case .reminders, nil: others.append(.init(kind: .other, property: name, count: count))
            }
        }
        let known: [ImportPage.Dropped.Kind] = [.attendees, .attachments]
        return known.compactMap { kind in counts[kind].map { .init(kind: kind, count: $0) } } + others
    }

    private static func item(
        _ json: JSONValue, _ number: Int, isLeftOut: Bool, _ zone: TimeZoneReference
    ) -> ImportPage.Item? {
        guard let id = json["itemId"]?.string,
            let change = json["change"]?.string.flatMap({ ImportPage.Change(text: $0) })
        else { return nil }
        var span: Pages.EntrySpan?
        if let first = json["start"]?["date"]?.string.flatMap({ CivilDate(iso: $0) }) {
            let end = json["end"]?["date"]?.string.flatMap { CivilDate(iso: $0) } ?? first.adding(days: 1)
            span = .days(first, max(first, end.adding(days: -1)))
        } else if let from = json["start"].flatMap({ instant($0, zone) }) {
            span = .timed(from: from, to: max(from, json["end"].flatMap { instant($0, zone) } ?? from))
        }
        return ImportPage.Item(
            id: id, number: number, isLeftOut: isLeftOut, title: json["summary"]?.string ?? "", span: span,
            change: change)
    }

    /// Milliseconds since 1970.
    private static func instant(_ time: JSONValue, _ zone: TimeZoneReference) -> Int? {
        if let utc = time["utc"]?.string { return Instant(rfc3339: utc)?.milliseconds }
        // A floating time is the time on a clock at the place.
        return time["dateTime"]?.string.flatMap { Instant(rfc3339: $0 + "Z") }
            .map { zone.rules.instant(of: $0.utc).milliseconds }
    }
}

extension FileProblem {
    /// Reads a problem from the JSON of a report.
    init?(_ json: JSONValue) {
        guard let message = json["message"]?.string,
            let severity = json["severity"]?.string.flatMap({ Severity(text: $0) })
        else { return nil }
        self.init(line: json["line"]?.integer ?? 0, severity: severity, message: message)
    }
}
