// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge

@testable import CalendarSync

/// Events in the life of a connection besides edits and runs.
extension World {
    /// A person undoes a run.
    func undo(_ move: Move) async throws {
        let runs = store.runs.values.filter { $0.state == .done && $0.held == nil }.sorted {
            $0.id.utf8.count < $1.id.utf8.count || $0.id.utf8.count == $1.id.utf8.count && $0.id < $1.id
        }
        guard !runs.isEmpty else { return }
        let run = runs[move.a % runs.count]
        note("undo \(run.id)")
        for line in store.journal where line.run == run.id {
            undone.insert(line.item)
            // The person asks for it.
            deletedThere[line.item] = nil
        }
        do {
            _ = try await sync().undo(run: run.id, as: freshRun())
        } catch is SimulatedStore.Killed {
            note("killed")
        }
        try check(deletedBefore: 0, linked: nil)
    }

    /// A person chooses the other calendar; events stay where they are.
    func switchCalendar() {
        current = 1 - current
        note("switch to \(calendar.name)")
        // As the server does it: nothing says yet to which calendar the links belong.
        if store.position == nil { store.links = [:] }
        // Only the marks show which events there were ours, and copies are recognized by their ids.
        for (id, stored) in calendar.events
        where !stored.isOurs && stored.mark?.connection == connection
            && stored.mark?.installation.isSameText(as: circle.installation) == true
        {
            if id.hasPrefix("z-copy") {
                if !calendar.tellsCopies { calendar.events[id]?.mark = nil }
            } else {
                calendar.events[id]?.isOurs = true
                calendar.foreign[id] = nil
            }
        }
        for stored in calendar.live where isMine(stored) {
            if let item = stored.mark?.item { deletedThere[item] = nil }
        }
        // A deletion that no run has seen is not known in the other calendar.
        deletedThere = deletedThere.filter { item, _ in
            store.links[item].map { $0.externalID == nil && ($0.state == .ignored || $0.state == .conflict) } ?? false
        }
        listen()
    }

    // MARK: Backups

    func takeBackup() {
        guard connection == "n" else { return }
        note("backup")
        backups.append(
            Backup(
                items: store.items,
                records: Dictionary(uniqueKeysWithValues: worlds.map { ($0.connection, $0.store.records) })))
    }

    /// The database becomes an older one: either its records of connections, or all of it.
    func restoreBackup(_ move: Move) {
        guard connection == "n", !backups.isEmpty else { return }
        let backup = backups[move.a % backups.count]
        let isWhole = move.b % 2 == 0
        note("restore \(isWhole ? "everything" : "the records of connections")")
        if isWhole { store.items = backup.items }
        // A connection that was made later never was.
        if let other, backup.records[other.connection] == nil { self.other = nil }
        restore(backup.records)
    }

    /// What is stored of each connection becomes what it once was, or nothing.
    private func restore(_ records: [String: SimulatedStore.Records]) {
        for world in worlds {
            world.store.records = records[world.connection] ?? SimulatedStore.Records()
            world.forgetRestored()
            world.loseCopies()
        }
        // What was in the later database is lost with it; what is left anywhere may not be lost after this.
        // That is: in a record, or where it was typed.
        let stored = texts(ofEvents: false)
        let events = Dictionary(
            worlds.flatMap(\.calendars).flatMap { calendar in
                calendar.live.map { ("\(calendar.name)/\($0.id)", $0.entry) }
            },
            uniquingKeysWith: { $1 })
        typed = typed.filter { key, value in
            if stored.contains(value) { return true }
            let words = key.split(separator: " ")
            guard words.count > 1, words[0] == "there", let entry = events[String(words[1])] else { return false }
            return World.texts(of: entry).contains { $0.isSameText(as: value) }
        }
    }

    private func forgetRestored() {
        wasRestored = true
        for calendar in calendars { calendar.deletions.removeAll { $0.connection == connection } }
        undone.formUnion(store.journal.filter { $0.reason == RunSession.undone }.map(\.item))
        for item in deletedThere.keys {
            guard let link = store.links[item], link.state == .linked, let id = link.externalID,
                store.position?.fingerprint.calendar == calendar.name,
                calendar.events[id]?.isLive == false, let ours = meant(item),
                link.agreed?.ours == calendar.expressible(ours.entry).entry.canonical,
                !calendar.events.values.contains(where: { $0.id != id && isMine($0) && $0.mark?.item == item })
            else {
                deletedThere[item] = nil
                continue
            }
            deletedThere[item] = store.items[item.whole]?.edits
        }
    }

    // MARK: Disasters

    /// The database is lost, alone or with its key; or a mailbox is moved, and its events get other ids.
    func disaster(_ move: Move) {
        guard connection == "n" else { return }
        switch move.a % 4 {
        case 0:
            note("lose the database")
            for world in worlds { world.undone = [] }
            restore([:])
        case 1:
            note("lose the database and its key")
            // What the installation of another name has made is somebody else's now, and stays.
            for calendar in worlds.flatMap(\.calendars) {
                for (id, stored) in calendar.events where stored.isOurs {
                    calendar.events[id]?.isOurs = false
                    if stored.isLive { calendar.foreign[id] = stored.entry }
                }
            }
            circle.installation += "i"
            for world in worlds { world.undone = [] }
            backups = []
            restore([:])
        default:
            guard !calendar.hasIdentities, worlds.allSatisfy({ $0.calendar !== calendar || $0.recognizable() > 1 })
            else { return }
            note("move the mailbox of \(calendar.name)")
            calendar.moveMailbox()
            backups = []
            let prefix = "there \(calendar.name)/"
            typed = Dictionary(
                uniqueKeysWithValues: typed.map { key, value in
                    guard key.hasPrefix(prefix) else { return (key, value) }
                    let words = key.split(separator: " ")
                    return ((words[0...1].joined(separator: " ") + "' " + words[2...].joined(separator: " ")), value)
                })
        }
    }

    /// The number of events by which a moved mailbox can be told from one event that was deleted and of which there is a
    /// copy: the engine knows them, and no answer about them is missing.
    ///
    /// - Parameter isMoved: whether only events count that the engine knows by the ids that they had before the move.
    func recognizable(isMoved: Bool = false, without deleted: String? = nil) -> Int {
        guard store.position?.fingerprint.calendar == calendar.name else { return 0 }
        let open = Set(store.operations.values.filter { $0.state == .open }.map(\.item))
        return store.links.values.count { link in
            guard link.state != .untracked, !open.contains(link.item), let known = link.externalID else { return false }
            guard isMoved else { return calendar.events[known]?.isLive == true }
            return calendar.events[known] == nil
                && calendar.live.contains { event in
                    event.isOurs && event.mark?.item == link.item && event.id != deleted && event.id.hasPrefix(known)
                        && event.id.hasSuffix("'")
                }
        }
    }

    /// Where ids do not follow from marks, a copy cannot be told from an event whose id nobody has recorded: it is
    /// without a mark here.
    func loseCopies() {
        for world in worlds {
            for calendar in world.calendars where !calendar.hasIdentities {
                for (id, stored) in calendar.events where !stored.isOurs {
                    guard let mark = stored.mark, mark.connection == world.connection else { continue }
                    let isCurrent = world.store.position?.fingerprint.calendar == calendar.name
                    let link = isCurrent ? world.store.links[mark.item] : nil
                    let known = (link?.externalID ?? link?.lastID).flatMap { calendar.events[$0] }
                    if known == nil { calendar.events[id]?.mark = nil }
                }
            }
        }
    }

    // MARK: A second connection

    /// The person of another connection of the circle makes a move.
    func performOther(_ move: Move) async throws {
        guard connection == "n" else { return }
        let second: World
        if let other {
            second = other
        } else {
            circle.connections += 1
            second = World(circle, connection: "n\(circle.connections)")
            second.configure(circle.server)
            second.isVerbose = isVerbose
            other = second
        }
        if move.kind % World.kinds == 44 {
            second.listen()
            second.note("run")
            try await second.run()
        } else {
            try await second.perform(Move(kind: move.a, a: move.b / 8, b: move.b))
        }
        listen()
    }
}
