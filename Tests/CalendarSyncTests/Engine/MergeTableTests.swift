// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import TestSupport
import Testing

@testable import CalendarSync

/// Every case of the merge, as in docs/sync-merge.md.
@Suite(.serialized) struct MergeTableTests {
    static let base = Entry(title: "Visit", span: span(10))

    static func span(_ hour: Int, minutes: Int = 0) -> TimeSpan {
        let start = Instant(seconds: 1_800_000_000 + hour * 3_600 + minutes * 60)
        return .timed(start: start, end: start.adding(seconds: 3_600), zone: "Europe/Berlin")
    }

    static let series = Entry(title: "Visit", span: span(10), repetition: Repetition(rrule: "FREQ=DAILY;COUNT=10"))
    static let second = Instant(seconds: 1_800_000_000 + 34 * 3_600)

    enum Item: String, CaseIterable {
        case task = "task, shift, follow-up"
        case appointment = "appointment"
        case oneWay = "appointment, `twoWay: false`"
    }

    /// The change on a side, and when it was made, in seconds of that side's server.
    struct Side {
        var name: String
        var at = 0
        var change: (inout Entry) -> Void = { _ in }
    }

    static func merged(
        _ item: Item, here: ThreeStates.LocalState, there: ThreeStates.RemoteState, base: Entry?, ours: Int = 0,
        theirs: Int = 0
    ) -> Merged {
        let rule = FieldRule(
            mayMove: item == .appointment, ours: Instant(seconds: 10_000 + ours),
            theirs: Instant(seconds: 10_000 + theirs),
            tie: 300, frozen: [])
        return ThreeStates(base: base.map { Agreement(ours: $0, theirs: $0) }, here: here, there: there)
            .merged(rule, isAppointment: item != .task)
    }

    static func text(_ merged: Merged) -> String {
        var parts: [String] = []
        for edit in merged.incoming {
            switch edit {
            case .times: parts.append("move it here")
            case .occurrenceTimes: parts.append("move the occurrence here")
            case .occurrenceRestored: parts.append("put the occurrence back here")
            default: parts.append("\(edit)")
            }
        }
        switch merged.action {
        case .agree: if parts.isEmpty { parts.append("nothing") }
        case .create(_, let again): parts.append(again ? "make it again, next generation" : "make it")
        case .update(_, let reason):
            let fields = merged.fields.map(\.rawValue).filter { merged.incoming.isEmpty || $0 != "times" }
            parts.append("write \(fields.joined(separator: ", ")) (\(reason.rawValue))")
        case .delete: parts.append("delete it there")
        case .stayAway: parts.append("it stays away")
        case .forget: parts.append("both are gone")
        case .wait: parts.append("wait for a person")
        case .holdBack: parts.append("leave it, held back")
        }
        for finding in merged.findings {
            let kept = finding.fields.first?.kept.rawValue ?? ""
            let state = finding.isOpen ? "open" : "resolved"
            parts.append("record `\(finding.kind.rawValue)`, \(state), kept: \(kept)")
        }
        return parts.joined(separator: "; ")
    }

    static func present(_ entry: Entry, _ side: Side) -> Entry {
        var entry = entry
        side.change(&entry)
        return entry
    }

    @Test("The table of whole events in the documentation is what the merge does")
    func events() throws {
        let titleHere = Side(name: "title edited") { $0.title = "Visit at home" }
        let moveHere = Side(name: "moved") { $0.span = Self.span(12) }
        let titleThere = Side(name: "title edited") { $0.title = "Dentist" }
        let moveThere = Side(name: "moved") { $0.span = Self.span(14) }
        let untouched = Side(name: "unchanged")
        let lateHere = Side(name: "moved, 6 minutes after there", at: 360) { $0.span = Self.span(12) }
        let soonHere = Side(name: "moved, 5 minutes after there", at: 300) { $0.span = Self.span(12) }
        let earlyHere = Side(name: "moved, before there", at: -360) { $0.span = Self.span(12) }
        let both = Side(name: "title edited and moved") {
            $0.title = "Dentist"
            $0.span = Self.span(14)
        }
        let pairs: [(Side, Side)] = [
            (untouched, untouched), (titleHere, untouched), (moveHere, untouched), (untouched, titleThere),
            (untouched, moveThere), (untouched, both), (titleHere, titleThere), (titleHere, moveThere),
            (moveHere, titleThere), (lateHere, moveThere), (soonHere, moveThere), (earlyHere, moveThere),
        ]
        var lines = [
            "| here | there | \(Item.allCases.map(\.rawValue).joined(separator: " | ")) |",
            "| --- | --- | --- | --- | --- |",
        ]
        func add(_ here: String, _ there: String, _ outcome: (Item) -> Merged) {
            let cells = Item.allCases.map { Self.text(outcome($0)) }
            lines.append("| \(here) | \(there) | \(cells.joined(separator: " | ")) |")
        }
        for (here, there) in pairs {
            add(here.name, there.name) { item in
                Self.merged(
                    item, here: .shown(Self.present(Self.base, here)), there: .present(Self.present(Self.base, there)),
                    base: Self.base, ours: here.at, theirs: there.at)
            }
        }
        add("edited alike", "edited alike") { item in
            let same = Self.present(Self.base, both)
            return Self.merged(item, here: .shown(same), there: .present(same), base: Self.base)
        }
        let edited = Self.present(Self.base, titleHere)
        let moved = Self.present(Self.base, moveThere)
        let renamed = Self.present(Self.base, titleThere)
        let base = Self.base
        add("new", "never there") { Self.merged($0, here: .shown(base), there: .none, base: nil) }
        add("unchanged", "deleted") { Self.merged($0, here: .shown(base), there: .gone, base: base) }
        add("edited", "deleted") { Self.merged($0, here: .shown(edited), there: .gone, base: base) }
        add("unchanged", "cannot be read") {
            Self.merged($0, here: .shown(base), there: .unreadable("It cannot be read."), base: base)
        }
        add("cancelled, or not shown", "unchanged") {
            Self.merged($0, here: .hidden, there: .present(base), base: base)
        }
        add("cancelled, or not shown", "edited") {
            Self.merged($0, here: .hidden, there: .present(renamed), base: base)
        }
        add("cancelled, or not shown", "deleted") { Self.merged($0, here: .hidden, there: .gone, base: base) }
        add("deleted", "unchanged") { Self.merged($0, here: .deleted, there: .present(base), base: base) }
        add("deleted", "title edited") { Self.merged($0, here: .deleted, there: .present(renamed), base: base) }
        add("deleted", "moved") { Self.merged($0, here: .deleted, there: .present(moved), base: base) }
        add("deleted", "deleted") { Self.merged($0, here: .deleted, there: .gone, base: base) }
        add("found without a base", "equal") { Self.merged($0, here: .shown(base), there: .present(base), base: nil) }
        add("found without a base", "another title") {
            Self.merged($0, here: .shown(base), there: .present(renamed), base: nil)
        }
        add("found without a base", "another time") {
            Self.merged($0, here: .shown(base), there: .present(moved), base: nil)
        }
        try expectTable("events", in: "docs/sync-merge.md", lines)
    }

    @Test("The table of occurrences in the documentation is what the merge does")
    func occurrences() throws {
        func change(_ hour: Int) -> CalendarSync.Occurrence {
            var changed = Self.series.plain(at: Self.second)
            changed.span = Self.span(24 + hour)
            return .changed(changed)
        }
        func with(_ occurrence: CalendarSync.Occurrence?) -> Entry {
            var entry = Self.series
            entry.occurrences[Self.second] = occurrence
            return entry
        }
        var cut = Self.series
        cut.repetition = Repetition(rrule: "FREQ=DAILY;COUNT=3")
        var weekly = Self.series
        weekly.repetition = Repetition(rrule: "FREQ=WEEKLY;COUNT=10")
        var shifted = Self.series
        shifted.span = Self.span(15)
        let cases: [(String, Entry, String, Entry, Entry)] = [
            ("unchanged", with(nil), "moved", with(change(14)), with(nil)),
            ("moved", with(change(12)), "unchanged", with(nil), with(nil)),
            ("moved", with(change(12)), "moved, later or within 5 minutes", with(change(14)), with(nil)),
            ("unchanged", with(nil), "deleted", with(.cancelled), with(nil)),
            ("moved", with(change(12)), "deleted", with(.cancelled), with(nil)),
            ("cancelled", with(.cancelled), "unchanged", with(nil), with(nil)),
            ("cancelled", with(.cancelled), "moved", with(change(14)), with(nil)),
            ("cancelled", with(.cancelled), "deleted", with(.cancelled), with(nil)),
            ("restored", with(nil), "unchanged", with(.cancelled), with(.cancelled)),
            ("unchanged", with(.cancelled), "restored", with(nil), with(.cancelled)),
            ("unchanged", with(change(12)), "put back", with(nil), with(change(12))),
            ("the rule is another", weekly, "unchanged", with(nil), with(nil)),
            ("the rule is another", weekly, "moved", with(change(14)), with(nil)),
            ("unchanged", with(nil), "the whole series is moved", shifted, with(nil)),
            ("unchanged", with(nil), "the rule is another", weekly, with(nil)),
            ("unchanged", with(nil), "the series is cut (\"this and following\")", cut, with(nil)),
        ]
        var lines = ["| here | there | appointment | appointment, `twoWay: false` |", "| --- | --- | --- | --- |"]
        for (here, ours, there, theirs, base) in cases {
            let cells = [Item.appointment, .oneWay].map { item in
                Self.text(Self.merged(item, here: .shown(ours), there: .present(theirs), base: base))
            }
            lines.append("| \(here) | \(there) | \(cells.joined(separator: " | ")) |")
        }
        try expectTable("occurrences", in: "docs/sync-merge.md", lines)
    }
}
