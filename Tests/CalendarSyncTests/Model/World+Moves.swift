// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge

@testable import CalendarSync

extension World {
    static let kinds = 53

    func perform(_ move: Move) async throws {
        calendar.clock = clock
        store.clock = clock
        listen()
        switch move.kind % World.kinds {
        case 0, 1: create(move)
        case 2:
            edit(move, "title here") {
                $0.title = self.fresh("k")
                return ("title", $0.title)
            }
        case 3: edit(move, "move here") { self.moveHere(&$0, move.b) }
        case 4:
            edit(move, "text here") {
                $0.notes = self.fresh("Note ")
                return nil
            }
        case 5: delete(move)
        case 6: hide(move)
        case 7: occurrenceHere(move)
        case 8:
            edit(move, "rule here") { entry in
                guard entry.repetition != nil else { return nil }
                let rules = ["FREQ=WEEKLY;COUNT=6", "FREQ=DAILY;COUNT=5", "FREQ=DAILY;INTERVAL=2;COUNT=5"]
                entry.repetition = Repetition(rrule: move.b % 4 == 3 ? rules[2] : rules[move.b % 2])
                entry.occurrences = [:]
                return ("occurrence", "")
            }
        case 9, 10:
            there(move, "title there") {
                $0.title = self.fresh("c")
                return ("title", $0.title)
            }
        case 11, 12:
            guard let id = pickThere(move)?.id else { return }
            there(move, "move there") { self.moveThere(&$0, move.b, of: id) }
        case 13: deleteThere(move)
        case 14: copyThere(move)
        case 15: makeForeign(move)
        case 16, 17: occurrenceThere(move)
        case 18: restoreThere(move)
        case 19: there(move, "etag there") { _ in nil }
        case 20:
            there(move, "length there") { entry in
                guard case .timed(let start, let end, let zone) = entry.span, entry.repetition == nil else {
                    return nil
                }
                entry.span = .timed(start: start, end: end.adding(seconds: 60 * (1 + self.made % 7)), zone: zone)
                self.made += 1
                return ("times", entry.span.text)
            }
        case 21...26:
            note("run")
            try await run()
        case 27:
            note("run, killed after \(move.a % 6) commits")
            store.commitsLeft = move.a % 6
            try await run()
            store.commitsLeft = nil
        case 28:
            note("preview and run")
            try await comparePreview()
        case 29: clock += 60 * (1 + move.a % 10)
        case 30: clock += (1 + move.a % 30) * 3_600
        case 31: try await resolve(move)
        case 32:
            note("approve")
            try await approve()
        case 33:
            window = TimeRange(
                from: Instant(seconds: (move.a % 40) * World.day), to: Instant(seconds: (100 + move.a % 40) * World.day)
            )
            note("window from day \(move.a % 40)")
        case 34:
            filter = "filter \(move.a % 2)"
            note(filter)
        case 35: calendar.visible = move.a % 3 == 0 ? nil : calendar.change - move.a % 2
        case 36: store.person = move.a % 2 == 0 ? nil : { [unowned self] in self.raceHere() }
        case 40: try await undo(move)
        case 41: switchCalendar()
        case 42: takeBackup()
        case 43: restoreBackup(move)
        case 48, 49:
            edit(move, "rule alone here") { entry in
                guard entry.repetition != nil else { return nil }
                let (count, interval) = (3 + move.b % 5, entry.dailyInterval)
                entry.repetition = Repetition(
                    rrule: interval == 1 ? "FREQ=DAILY;COUNT=\(count)" : "FREQ=DAILY;INTERVAL=2;COUNT=\(count)")
                let end = entry.span.start.adding(seconds: count * interval * World.day)
                entry.occurrences = entry.occurrences.filter { $0.key < end }
                return nil
            }
        case 44...47: try await performOther(move)
        case 50: disaster(move)
        case 51, 52: ruleThere(move)
        default: fault(move)
        }
    }

    private func fault(_ move: Move) {
        let all: [SimulatedCalendar.Fault] = [
            .lostAnswer, .lostRequest, .throttledWrite, .throttledRead, .refusedWrite, .deadCursor, .needsNewGeneration,
            .shortListing, .emptyListing, .brokenListing, .race, .missingCalendar, .missingForWrites,
        ]
        let fault = all[move.a % all.count]
        // A listing is only asked for when the cursor is dead.
        if [.shortListing, .emptyListing, .brokenListing].contains(fault) { calendar.faults.insert(.deadCursor) }
        calendar.faults.insert(fault)
        note("fault \(fault)")
    }

    // MARK: Here

    private func create(_ move: Move) {
        made += 1
        let collection: ItemKey.Collection = move.a % 3 == 0 ? .tasks : .appointments
        let key = ItemKey(collection, "i\(made)")
        let zone = move.b % 4 == 1 ? "Europe/Berlin" : "UTC"
        var entry = Entry(title: fresh("k"), notes: "Note \(made)", span: freshSpan(move.b, zone: zone))
        if collection == .appointments, move.b % 3 == 0 {
            entry.repetition = Repetition(
                rrule: move.b % 6 == 3 ? "FREQ=DAILY;INTERVAL=2;COUNT=5" : "FREQ=DAILY;COUNT=5")
        }
        store.items[key] = SimulatedStore.Item(entry: entry, changedAt: Instant(seconds: clock))
        typed["here \(key.id) title"] = entry.title
        typed["here \(key.id) times"] = entry.span.text
        note("create \(key.id) \(collection.rawValue)\(entry.repetition == nil ? "" : " series")")
    }

    private func pick(_ move: Move) -> ItemKey? {
        let keys = store.items.filter { !$0.value.isDeleted }.keys.sorted()
        return keys.isEmpty ? nil : keys[move.a % keys.count]
    }

    private func edit(_ move: Move, _ name: String, _ change: (inout Entry) -> (String, String)?) {
        guard let key = pick(move), var item = store.items[key], !item.isHidden else { return }
        let typedHere = change(&item.entry)
        // A series that is moved, or repeats otherwise, forgets the occurrences that it no longer has.
        let prefix = "here \(key.id) occurrence "
        for index in typed.keys where index.hasPrefix(prefix) {
            let start = Instant(seconds: Int(index.dropFirst(prefix.count)) ?? 0)
            if item.entry.occurrences[start] == nil { typed[index] = nil }
        }
        if let (field, value) = typedHere { typed["here \(key.id) \(field)"] = value.isEmpty ? nil : value }
        item.revision += 1
        item.edits += 1
        item.changedAt = Instant(seconds: clock)
        store.items[key] = item
        note("\(name) of \(key.id)")
    }

    private func moveHere(_ entry: inout Entry, _ near: Int) -> (String, String)? {
        guard case .timed(_, _, let zone) = entry.span else { return nil }
        entry.span = freshSpan(near, zone: zone)
        entry.occurrences = [:]
        return ("times", entry.span.text)
    }

    private func delete(_ move: Move) {
        guard let key = pick(move) else { return }
        store.items[key]?.isDeleted = true
        store.items[key]?.revision += 1
        forget("here \(key.id) ")
        note("delete \(key.id)")
    }

    private func hide(_ move: Move) {
        guard let key = pick(move) else { return }
        store.items[key]?.isHidden.toggle()
        store.items[key]?.edits += 1
        store.items[key]?.revision += 1
        note("hide or show \(key.id)")
    }

    private func forget(_ prefix: String) {
        for index in typed.keys where index.hasPrefix(prefix) { typed[index] = nil }
    }

    private func occurrenceHere(_ move: Move) {
        edit(move, "occurrence here") { entry in
            guard entry.repetition != nil else { return nil }
            let start = entry.span.start.adding(seconds: (move.b % 4) * entry.dailyInterval * World.day)
            if move.b % 3 == 0 {
                entry.occurrences[start] = .cancelled
                return ("occurrence \(start.seconds)", "")
            }
            var changed = entry.effective(at: start) ?? entry.plain(at: start)
            changed.span = freshSpan(move.b)
            entry.occurrences[start] = .changed(changed)
            return ("occurrence \(start.seconds)", changed.span.text)
        }
    }

    /// An edit here just before a change from there is applied.
    private func raceHere() {
        store.person = nil
        let keys = store.items.keys.sorted()
        guard let key = keys.first(where: { store.ours($0) != nil }) else { return }
        store.items[key]?.entry.title = fresh("k")
        store.items[key]?.revision += 1
        store.items[key]?.edits += 1
        store.items[key]?.changedAt = Instant(seconds: clock)
        typed["here \(key.id) title"] = store.items[key]?.entry.title
    }

    // MARK: There

    private func pickThere(_ move: Move) -> SimulatedCalendar.Stored? {
        let live = calendar.live
        return live.isEmpty ? nil : live[move.a % live.count]
    }

    private func there(_ move: Move, _ name: String, _ change: (inout Entry) -> (String, String)?) {
        guard var stored = pickThere(move) else { return }
        if let (field, value) = change(&stored.entry) { typed["there \(calendar.name)/\(stored.id) \(field)"] = value }
        if !stored.isOurs { foreign[stored.id] = stored.entry }
        calendar.put(stored)
        note("\(name) of \(stored.id)")
    }

    private func moveThere(_ entry: inout Entry, _ near: Int, of id: String) -> (String, String)? {
        let old = entry.span.start
        entry.span = freshSpan(near)
        // As Google does it, the changed occurrences go along.
        let delta = entry.span.start.seconds - old.seconds
        var moved: [String: String] = [:]
        let prefix = "there \(calendar.name)/\(id) occurrence "
        for (index, value) in typed where index.hasPrefix(prefix) {
            typed[index] = nil
            moved["\(prefix)\((Int(index.dropFirst(prefix.utf8.count)) ?? 0) + delta)"] = value
        }
        typed.merge(moved) { $1 }
        entry.occurrences = Dictionary(
            uniqueKeysWithValues: entry.occurrences.map { ($0.key.adding(seconds: delta), $0.value) })
        return ("times", entry.span.text)
    }

    func race() {
        guard var stored = calendar.live.first(where: isMine) else { return }
        stored.entry.title = fresh("c")
        typed["there \(calendar.name)/\(stored.id) title"] = stored.entry.title
        calendar.put(stored)
    }

    private func deleteThere(_ move: Move) {
        guard var stored = pickThere(move) else { return }
        // A moved mailbox is recognized by two events at least.
        let isLastSign = recognizable(isMoved: true) > 1 && recognizable(isMoved: true, without: stored.id) < 2
        if isLastSign { return }
        stored.isLive = false
        calendar.put(stored)
        foreign[stored.id] = nil
        forget("there \(calendar.name)/\(stored.id) ")
        loseCopies()
        note("delete there \(stored.id)")
        guard stored.isOurs, let item = stored.mark?.item, let link = store.links[item], link.externalID == stored.id,
            let ours = meant(item), link.state == .linked, store.position?.fingerprint.calendar == calendar.name,
            link.agreed?.ours == calendar.expressible(ours.entry).entry.canonical
        else { return }
        deletedThere[item] = store.items[item.whole]?.edits
    }

    private func copyThere(_ move: Move) {
        guard var stored = pickThere(move) else { return }
        made += 1
        stored.id = "z-copy-\(made)"
        stored.isOurs = false
        calendar.put(stored)
        foreign[stored.id] = stored.entry
        note("copy there \(stored.id)")
        loseCopies()
    }

    private func makeForeign(_ move: Move) {
        made += 1
        let stored = SimulatedCalendar.Stored(
            id: "x-\(made)", mark: nil, entry: Entry(title: fresh("f"), span: freshSpan(move.b)), etag: 0, change: 0,
            updatedAt: Instant(seconds: clock), isOurs: false)
        calendar.put(stored)
        foreign[stored.id] = stored.entry
        note("foreign event \(stored.id)")
    }

    private func restoreThere(_ move: Move) {
        let gone = calendar.events.values.filter { !$0.isLive && (!$0.isOurs || isMine($0)) }.sorted { $0.id < $1.id }
        guard !gone.isEmpty else { return }
        var stored = gone[move.a % gone.count]
        // Another event of the item is there: the person has two then, and knows it.
        if calendar.live.contains(where: { isMine($0) && $0.mark?.item == stored.mark?.item }) { return }
        stored.isLive = true
        // An event of an earlier generation is its person's now.
        if let mark = stored.mark, let link = store.links[mark.item], mark.generation < link.generation,
            !(link.leftovers + (link.elsewhere ?? []).map(\.leftover)).contains(where: { $0.id == stored.id })
        {
            stored.isOurs = false
        }
        // So is one of a moved mailbox that was gone before anybody knew its new id.
        if !calendar.hasIdentities, let item = stored.mark?.item, let link = store.links[item],
            link.externalID == nil, let last = link.lastID, stored.id != last, stored.id.hasPrefix(last)
        {
            (stored.isOurs, stored.mark) = (false, nil)
        }
        calendar.put(stored)
        calendar.deletions.removeAll { $0.id == stored.id }
        if let item = stored.mark?.item { deletedThere[item] = nil }
        if !stored.isOurs { foreign[stored.id] = stored.entry }
        note("restore there \(stored.id)")
    }

    private func occurrenceThere(_ move: Move) {
        guard var stored = pickThere(move), stored.entry.repetition != nil else { return }
        let start = stored.entry.span.start.adding(seconds: (move.b % 4) * stored.entry.dailyInterval * World.day)
        if move.b % 3 == 0 {
            stored.entry.occurrences[start] = .cancelled
            typed["there \(calendar.name)/\(stored.id) occurrence \(start.seconds)"] = nil
        } else {
            var changed = stored.entry.effective(at: start) ?? stored.entry.plain(at: start)
            changed.span = freshSpan(move.b)
            stored.entry.occurrences[start] = .changed(changed)
            typed["there \(calendar.name)/\(stored.id) occurrence \(start.seconds)"] = changed.span.text
        }
        if !stored.isOurs { foreign[stored.id] = stored.entry }
        calendar.put(stored)
        note("occurrence there of \(stored.id)")
    }

    /// A person ends a series early, or lets it go on, or repeats it otherwise; what they did to occurrences that it no longer
    /// has goes with these.
    private func ruleThere(_ move: Move) {
        guard var stored = pickThere(move), stored.entry.repetition != nil else { return }
        let interval = move.b % 8 == 7 ? 3 - stored.entry.dailyInterval : stored.entry.dailyInterval
        let count = 2 + move.b % 6
        stored.entry.repetition = Repetition(
            rrule: interval == 1 ? "FREQ=DAILY;COUNT=\(count)" : "FREQ=DAILY;INTERVAL=2;COUNT=\(count)")
        let starts = Set(Expander.starts(stored.entry.withoutChanges))
        stored.entry.occurrences = stored.entry.occurrences.filter { starts.contains($0.key.seconds) }
        let prefix = "there \(calendar.name)/\(stored.id) occurrence "
        for index in typed.keys where index.hasPrefix(prefix) {
            if !starts.contains(Int(index.dropFirst(prefix.count)) ?? 0) { typed[index] = nil }
        }
        if !stored.isOurs { foreign[stored.id] = stored.entry }
        calendar.put(stored)
        note("rule there of \(stored.id): \(stored.entry.repetition?.rrule ?? "")")
    }

    // MARK: The person at the pages

    private func resolve(_ move: Move) async throws {
        let open = store.conflicts.values.filter { $0.state == .open }.sorted { $0.id < $1.id }
        guard !open.isEmpty else { return }
        let conflict = open[move.a % open.count]
        let now = Instant(seconds: clock)
        let keeps: [Resolution.Keep?] = [.kalends, .calendar, .both, nil]
        guard let keep = keeps[move.b % keeps.count] else {
            store.conflicts[conflict.id] = conflict.dismissed(at: now)
            note("dismiss \(conflict.kind)")
            return
        }
        let link = store.links[conflict.item]
        guard
            let resolution = try? conflict.resolution(keep, link: link, item: store.ours(conflict.item.whole), at: now)
        else { return }
        note("resolve \(conflict.kind) of \(conflict.item.name): \(keep)")
        var batch = SyncBatch()
        batch.conflicts = [resolution.conflict]
        batch.links = resolution.link.map { [$0] } ?? []
        if let change = resolution.change {
            _ = try await store.apply(change, recording: batch)
        } else {
            try await store.commit(batch)
        }
        store.items[conflict.item.whole]?.edits += 1
    }
}
