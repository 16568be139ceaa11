// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge

@testable import CalendarSync

/// One connection, on one task, with a person on each side, and everything that can go wrong between them.
///
/// A move is three small numbers, taken modulo what exists, so that any part of a history is a history.
final class World: @unchecked Sendable {
    struct Move: Hashable {
        var kind: Int
        var a: Int
        var b: Int
    }

    /// What is broken about a history.
    struct Violation: Error, CustomStringConvertible {
        var description: String
    }

    let calendar = SimulatedCalendar()
    let store = SimulatedStore()
    var clock = 1_000_000
    var ids = 0
    var made = 0
    var trace: [String] = []
    var brake = Brake(events: 2, fraction: 5)
    var window = SyncWindow(from: Instant(seconds: 0), to: Instant(seconds: 200 * World.day))
    var twoWay = true
    var filter = "all"
    /// What each person typed and nobody of the same side replaced: it has to be found somewhere.
    var typed: [String: String] = [:]
    /// Items whose event a person deleted, with the edits that the item had then.
    var deletedThere: [ItemKey: Int] = [:]
    /// Contents of events that are not ours.
    var foreign: [String: Entry] = [:]
    var isVerbose = false

    static let day = 86_400

    init() {
        // An event that was deleted, restored, and then omitted is found when it changes next.
        calendar.mayOmit = { [unowned self] id in self.store.links.values.contains { $0.externalID == id } }
        calendar.person = { [unowned self] in self.race() }
    }

    // MARK: Runs

    func policy() -> SyncPolicy {
        SyncPolicy(
            installation: "i", connection: "n", circle: "c",
            fingerprint: Fingerprint(
                account: "a", calendar: "cal", pastDays: 30, futureDays: 400, filter: filter, mapping: 1),
            window: window, twoWay: twoWay, brake: brake, batch: 2)
    }

    func sync() -> SyncRun {
        calendar.clock = clock
        store.clock = clock
        return SyncRun(
            provider: calendar, store: store, policy: policy(), now: { [clock] in Instant(seconds: clock) },
            makeID: { [unowned self] in
                self.ids += 1
                return "id\(self.ids)"
            })
    }

    @discardableResult
    func run() async throws -> RunRecord? {
        let linked = store.links.values.count { $0.externalID != nil && $0.state != .untracked }
        let before = calendar.deletions.count
        ids += 1
        let record = RunRecord(id: "run\(ids)", trigger: .manual, startedAt: Instant(seconds: clock))
        do {
            let outcome = try await sync().run(record)
            try check(deletedBefore: before, linked: linked)
            return outcome.record
        } catch is SimulatedStore.Killed {
            note("killed")
            try check(deletedBefore: before, linked: linked)
            return nil
        }
    }

    /// Approves what is held, if anything is.
    func approve() async throws {
        guard
            let held = store.runs.values.filter({ $0.state == .held }).max(by: {
                $0.id.utf8.count < $1.id.utf8.count || $0.id < $1.id
            })
        else { return }
        for run in store.runs.values where run.state == .held { store.runs[run.id]?.state = .done }
        do { _ = try await sync().run(held, isApproved: true) } catch is SimulatedStore.Killed {}
    }

    // MARK: Values

    func fresh(_ letter: String) -> String {
        made += 1
        return "\(letter)\(made)"
    }

    /// No two times are the same.
    func freshSpan(_ near: Int) -> Span {
        made += 1
        let start = Instant(seconds: (10 + near % 50) * World.day + made * 60)
        return .timed(start: start, end: start.adding(seconds: 1_800), zone: "UTC")
    }

    func note(_ text: @autoclosure () -> String) {
        let line = text()
        trace.append(line)
        if isVerbose { print("   ", line) }
    }

    // MARK: Invariants that hold at each moment

    func check(deletedBefore: Int, linked: Int) throws {
        if let trespass = calendar.trespasses.first { throw Violation(description: "3: \(trespass) is not ours") }
        for (id, entry) in foreign {
            guard let stored = calendar.events[id], stored.isLive, stored.entry == entry else {
                throw Violation(description: "3: the foreign event \(id) is not what its person left")
            }
        }
        var items: [ItemKey: [String]] = [:]
        for stored in calendar.live where stored.isOurs {
            guard let item = stored.mark?.item else { continue }
            items[item, default: []].append(stored.id)
        }
        for (item, ids) in items where ids.count > 1 {
            let leftovers = Set((store.links[item]?.leftovers ?? []).map { ByteString($0.id) })
            guard ids.count(where: { !leftovers.contains($0) }) <= 1 else {
                throw Violation(description: "1: \(item.id) has the events \(ids)")
            }
        }
        let approved = store.runs.values.contains { $0.held != nil }
        let recent = calendar.deletions.count { clock - $0.at < World.day }
        if calendar.deletions.count > deletedBefore, !approved, recent > brake.events, recent * brake.fraction > linked
        {
            throw Violation(description: "8: \(recent) events of \(linked) were deleted within a day")
        }
    }

    // MARK: Invariants of rest

    /// After the faults are over, and a few quiet runs: the sides are equal, nothing is lost, nothing more is written.
    func settle() async throws {
        calendar.faults = []
        calendar.visible = nil
        store.commitsLeft = nil
        for _ in 0..<5 {
            clock += 2 * World.day
            try await run()
            try await approve()
        }
        try await run()
        let writes = calendar.writes
        let revisions = store.items.mapValues(\.revision)
        try await run()
        guard calendar.writes == writes, revisions == store.items.mapValues(\.revision) else {
            throw Violation(description: "5: a quiet run wrote something")
        }
        try checkEqual()
        try checkNothingLost()
    }

    private func checkEqual() throws {
        for item in Set(store.items.keys).union(store.links.keys).sorted() {
            let live = calendar.live.filter { $0.isOurs && $0.mark?.item == item }
            let link = store.links[item]
            guard let ours = store.ours(item) else {
                if let event = live.first, link?.state != .untracked, link?.state != .conflict,
                    link?.lastID != event.id
                {
                    throw Violation(description: "4: \(item.id) is gone, and its event \(event.id) is not")
                }
                continue
            }
            let entry = calendar.rewritten(calendar.expressible(ours.entry).entry.canonical)
            guard entry.overlaps(window) else { continue }
            if let edits = deletedThere[item], store.items[item]?.edits == edits {
                guard live.isEmpty else { throw Violation(description: "6: \(item.id) came back unasked") }
                continue
            }
            guard let link, let event = live.first else {
                if link?.state == .ignored || link?.state == .conflict { continue }
                throw Violation(description: "4: \(item.id) has no event; \(link.map { "\($0.state)" } ?? "no link")")
            }
            if event.isUnreadable { continue }
            let isOpen = store.conflicts.values.contains {
                $0.item == item && $0.state == .open && $0.kind == .editedThere
            }
            guard !isOpen, link.state != .quarantined else { continue }
            var theirs = event.entry.canonical
            // What a person deleted there stays away.
            for (start, occurrence) in theirs.occurrences where occurrence == .cancelled {
                if entry.occurrences[start] != .cancelled { theirs.occurrences[start] = entry.occurrences[start] }
            }
            guard theirs == entry else {
                throw Violation(
                    description:
                        "4: \(item.id) is \(World.text(entry)) here, \(World.text(theirs)) there; \(link.state)")
            }
            guard Expander.starts(entry) == Expander.starts(theirs) else {
                throw Violation(description: "9: \(item.id) takes place at other times")
            }
        }
    }

    static func text(_ entry: Entry) -> String {
        let occurrences = entry.occurrences.sorted { $0.key < $1.key }.map { start, occurrence in
            if case .changed(let changed) = occurrence { return "\(start)=\(changed.title)/\(changed.span.text)" }
            return "\(start)=cancelled"
        }
        return "[\(entry.title) | \(entry.notes) | \(entry.span.text) | \(entry.rule?.text ?? "") | \(occurrences)]"
    }

    private func checkNothingLost() throws {
        var texts: [String] = []
        func add(_ entry: Entry?) {
            guard let entry else { return }
            texts.append(entry.title)
            texts.append(entry.span.text)
            for occurrence in entry.occurrences.values {
                if case .changed(let changed) = occurrence { texts += [changed.title, changed.span.text] }
            }
        }
        for item in store.items.values { add(item.entry) }
        for event in calendar.live { add(event.entry) }
        for line in store.journal {
            add(line.before)
            add(line.after)
        }
        for conflict in store.conflicts.values {
            add(conflict.ours)
            add(conflict.theirs)
            for field in conflict.fields { texts += [field.kalends ?? "", field.calendar ?? "", field.base ?? ""] }
        }
        let known = Set<ByteString>(texts)
        for (place, value) in typed where !known.contains(value) {
            throw Violation(description: "2: \(value), typed at \(place), is nowhere")
        }
    }
}

/// The starts of simple series, by arithmetic of its own.
enum Expander {
    static func starts(_ entry: Entry) -> [Int] {
        guard case .timed(let start, _, _) = entry.span else { return [] }
        guard let rule = entry.repetition?.rrule else { return [start.seconds] }
        var parts: [String: String] = [:]
        for part in rule.split(separator: ";") {
            let sides = part.split(separator: "=").map(String.init)
            parts[sides[0]] = sides[1]
        }
        let step = (parts["FREQ"] == "WEEKLY" ? 7 : 1) * 86_400 * (Int(parts["INTERVAL"] ?? "1") ?? 1)
        let count = Int(parts["COUNT"] ?? "60") ?? 60
        var starts: [Int] = []
        for index in 0..<count {
            let begin = Instant(seconds: start.seconds + index * step)
            switch entry.occurrences[begin] {
            case .cancelled: break
            case .changed(let changed): starts.append(changed.span.start.seconds)
            case nil: starts.append(begin.seconds)
            }
        }
        return starts.sorted()
    }
}
