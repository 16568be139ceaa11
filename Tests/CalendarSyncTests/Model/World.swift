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

    /// An invariant that a history breaks.
    struct Violation: Error, CustomStringConvertible {
        var description: String
    }

    /// The state that all connections of the circle share.
    final class Circle: @unchecked Sendable {
        let items = SimulatedItems()
        /// A calendar to which each connection may switch.
        let shared = SimulatedCalendar("shared")
        var clock = 1_000_000
        var ids = 0
        var made = 0
        var trace: [String] = []
        /// The values that each person typed and nobody on the same side replaced: they must be stored somewhere.
        var typed: [String: String] = [:]
        /// Features of the servers; see `History.server`.
        var server = 0
        /// How many connections there have been.
        var connections = 1
        /// The name of this installation, which follows from the sealing key.
        var installation = "i"
    }

    /// The state at the time of the backup.
    struct Backup {
        var items: [ItemKey: SimulatedStore.Item]
        /// The records by connection.
        var records: [String: SimulatedStore.Records]
    }

    let circle: Circle
    let connection: String
    let calendars: [SimulatedCalendar]
    /// The index of the chosen calendar in `calendars`.
    var current = 0
    let store: SimulatedStore
    var brake = DeletionLimit(events: 2, fraction: 5)
    var window = TimeRange(from: Instant(seconds: 0), to: Instant(seconds: 200 * World.day))
    var twoWay = true
    var filter = "all"
    /// Whether persons say that they share a calendar; otherwise a run asks them.
    var sharesIt = true
    /// Items whose event a person deleted, with the number of the item's edits at that time.
    var deletedThere: [ItemKey: Int] = [:]
    /// Items for which a person undid a run: both sides are back at what they once agreed on, and need not be equal.
    var undone: Set<ItemKey> = []
    /// Another connection of the circle, of another person.
    var other: World?
    var backups: [Backup] = []
    /// Whether the database ever became an older one: events that it does not know stay where they are.
    var wasRestored = false
    var isVerbose = false

    static let day = 86_400

    init(_ circle: Circle = Circle(), connection: String = "n") {
        self.circle = circle
        self.connection = connection
        calendars = [SimulatedCalendar(connection == "n" ? "cal" : "cal-\(connection)"), circle.shared]
        store = SimulatedStore(circle.items)
        listen()
    }

    var calendar: SimulatedCalendar { calendars[current] }
    var worlds: [World] { [self] + (other.map { [$0] } ?? []) }

    var clock: Int {
        get { circle.clock }
        set { circle.clock = newValue }
    }
    var ids: Int {
        get { circle.ids }
        set { circle.ids = newValue }
    }
    var made: Int {
        get { circle.made }
        set { circle.made = newValue }
    }
    var typed: [String: String] {
        get { circle.typed }
        set { circle.typed = newValue }
    }
    var trace: [String] { circle.trace }
    var foreign: [String: Entry] {
        get { calendar.foreign }
        set { calendar.foreign = newValue }
    }

    /// Sets the features of the servers.
    func configure(_ server: Int) {
        circle.server = server
        twoWay = server & 4 == 0
        sharesIt = server & 2 == 0
        for calendar in calendars {
            calendar.isNarrow = server & 8 != 0
            calendar.rewrites = server & 1 != 0
            calendar.hasCursor = server & 2 == 0
            calendar.hasIdentities = server & 16 == 0
            calendar.tellsCopies = calendar.hasIdentities
        }
    }

    /// Makes the calendars listen to this connection for the next move.
    func listen() {
        // An event that was deleted, restored, and then omitted is found when it changes next.
        calendar.mayOmit = { [unowned self] id in self.store.links.values.contains { $0.externalID == id } }
        calendar.person = { [unowned self] in self.race() }
        calendar.isShownOtherwise = { [unowned self] in self.isShownOtherwise($0) }
    }

    /// Whether this connection made an event.
    func isMine(_ stored: SimulatedCalendar.Stored) -> Bool { stored.isOurs && stored.mark?.connection == connection }

    /// Deletions of this connection, in all calendars.
    var deletions: [(id: String, at: Int, connection: String)] {
        calendars.flatMap(\.deletions).filter { $0.connection == connection }
    }

    // MARK: Runs

    func policy() -> SyncPolicy {
        SyncPolicy(
            installation: circle.installation, connection: connection, circle: "c",
            otherConnections: Set((0...99).map { $0 == 0 ? "n" : "n\($0)" }).subtracting([ByteString(connection)]),
            sharesIt: sharesIt,
            fingerprint: Fingerprint(
                account: "a", calendar: calendar.name, pastDays: 30, futureDays: 400, filter: filter, mapping: 1),
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
        let before = deletions.count
        do {
            let outcome = try await sync().run(freshRun())
            try check(deletedBefore: before, linked: linked)
            try checkWritten()
            return outcome.record
        } catch is SimulatedStore.Killed {
            note("killed")
            try check(deletedBefore: before, linked: linked)
            return nil
        }
    }

    func freshRun() -> RunRecord {
        ids += 1
        return RunRecord(id: "run\(ids)", trigger: .manual, startedAt: Instant(seconds: clock))
    }

    /// Approves the held run, if there is one.
    func approve() async throws {
        guard
            let held = store.runs.values.filter({ $0.state == .held }).max(by: {
                $0.id.utf8.count < $1.id.utf8.count || $0.id.utf8.count == $1.id.utf8.count && $0.id < $1.id
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

    /// Returns a span; no two are the same.
    func freshSpan(_ near: Int, zone: String = "UTC") -> TimeSpan {
        made += 1
        let start = Instant(seconds: (10 + near % 50) * World.day + made * 60)
        return .timed(start: start, end: start.adding(seconds: 1_800), zone: zone)
    }

    func note(_ text: @autoclosure () -> String) {
        let line = connection == "n" ? text() : "\(connection): \(text())"
        circle.trace.append(line)
        if isVerbose { print("   ", line) }
    }

    // MARK: Invariants that hold at each moment

    /// - Parameter linked: nil for a run whose deletions were all requested by a person.
    func check(deletedBefore: Int, linked: Int?) throws {
        for calendar in calendars {
            if let trespass = calendar.trespasses.first { throw Violation(description: "3: \(trespass) is not ours") }
            for (id, entry) in calendar.foreign {
                guard let stored = calendar.events[id], stored.isLive, stored.entry == entry else {
                    throw Violation(description: "3: the foreign event \(id) is not what its person left")
                }
            }
        }
        var items: [ItemKey: [String]] = [:]
        for stored in calendar.live where isMine(stored) {
            guard let item = stored.mark?.item else { continue }
            items[item, default: []].append(stored.id)
        }
        for (item, ids) in items where ids.count > 1 {
            let leftovers = Set((store.links[item]?.leftovers ?? []).map { ByteString($0.id) })
            guard ids.count(where: { !leftovers.contains($0) }) <= 1 else {
                throw Violation(description: "1: \(item.name) has the events \(ids)")
            }
        }
        guard let linked else { return }
        let approved = store.runs.values.contains { $0.held != nil }
        let recent = deletions.count { clock - $0.at < World.day }
        if deletions.count > deletedBefore, !approved, recent > brake.events, recent * brake.fraction > linked {
            throw Violation(description: "8: \(recent) events of \(linked) were deleted within a day")
        }
    }

    // MARK: Invariants of rest

    /// Ends the faults and makes a few quiet runs; then the sides are equal, nothing is lost, and nothing more is
    /// written.
    func settle() async throws {
        for world in worlds {
            world.store.commitsLeft = nil
            for calendar in world.calendars {
                calendar.faults = []
                calendar.visible = nil
            }
        }
        for _ in 0..<5 {
            clock += 2 * World.day
            for world in worlds {
                world.listen()
                try await world.run()
                try await world.approve()
            }
        }
        for world in worlds { try await world.run() }
        let writes = worlds.flatMap(\.calendars).map(\.writes)
        let revisions = store.items.mapValues(\.revision)
        for world in worlds { try await world.run() }
        guard writes == worlds.flatMap(\.calendars).map(\.writes), revisions == store.items.mapValues(\.revision) else {
            throw Violation(description: "5: a quiet run wrote something")
        }
        for world in worlds { try world.checkEqual() }
        if let lost = firstLost() { throw Violation(description: "2: \(lost.value), typed at \(lost.key), is nowhere") }
    }

    private func checkEqual() throws {
        for item in forms {
            let live = calendar.live.filter { isMine($0) && $0.mark?.item == item }
            let link = store.links[item]
            guard let ours = meant(item) else {
                if let event = live.first, link?.state != .untracked, link?.state != .conflict,
                    link?.lastID != event.id, !(wasRestored && link == nil), event.entry.overlaps(window)
                {
                    throw Violation(description: "4: \(item.name) is gone, and its event \(event.id) is not")
                }
                continue
            }
            let entry = calendar.rewritten(calendar.expressible(ours.entry).entry.canonical)
            guard entry.overlaps(window) else { continue }
            if let edits = deletedThere[item], store.items[item.whole]?.edits == edits {
                guard live.isEmpty else { throw Violation(description: "6: \(item.id) came back unasked") }
                continue
            }
            // A person took it out of the bin and moved it where nobody looks.
            if let event = live.first, !event.entry.overlaps(window), link?.lastID == event.id,
                link?.state == .ignored || link?.state == .conflict
            {
                continue
            }
            guard let link, let event = live.first else {
                if link?.state == .ignored || link?.state == .conflict { continue }
                throw Violation(description: "4: \(item.name) has no event; \(link.map { "\($0.state)" } ?? "no link")")
            }
            if event.isUnreadable { continue }
            let isOpen = store.conflicts.values.contains {
                $0.item == item && $0.isToldOrLeft && $0.kind == .editedThere
            }
            guard !isOpen, link.state != .quarantined else { continue }
            if undone.contains(item) {
                let shown = calendar.expressible(ours.entry).entry.canonical
                guard link.agreed?.ours == shown, link.agreed?.theirs == event.entry.canonical else {
                    throw Violation(
                        description: "4: after an undo, the sides of \(item.id) are not what they agreed on")
                }
                continue
            }
            let theirs = event.entry.canonical.withDeleted(as: entry)
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

    /// Returns the first value that a person typed and that is in no event, item, journal or record.
    func firstLost() -> (key: String, value: String)? {
        let known = texts(ofEvents: true)
        return typed.sorted { $0.key < $1.key }.first { !known.contains($0.value) }
    }

    /// Returns the titles and times of an entry and its occurrences.
    static func texts(of entry: Entry) -> [String] {
        var texts = [entry.title, entry.span.text]
        for case .changed(let changed) in entry.occurrences.values { texts += [changed.title, changed.span.text] }
        return texts
    }

    /// Returns all stored texts and times, with those of the calendars.
    func texts(ofEvents: Bool) -> Set<ByteString> {
        var texts: [String] = []
        func add(_ entry: Entry?) { texts += entry.map(World.texts) ?? [] }
        for item in store.items.values { add(item.entry) }
        for world in worlds {
            for event in world.calendars.flatMap(\.live) where ofEvents { add(event.entry) }
            for line in world.store.journal {
                add(line.before)
                add(line.after)
            }
            for conflict in world.store.conflicts.values {
                add(conflict.ours)
                add(conflict.theirs)
                for field in conflict.fields { texts += [field.kalends ?? "", field.calendar ?? "", field.base ?? ""] }
            }
        }
        return Set<ByteString>(texts)
    }
}

/// The starts of simple series, computed independently.
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
