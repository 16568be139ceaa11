// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge

@testable import CalendarSync

/// A strict provider in memory: etags, tombstones, identities that stay taken, and faults on demand.
///
/// One history at a time uses it, on one task.
final class SimulatedCalendar: CalendarProvider, @unchecked Sendable {
    struct Stored {
        var id: String
        var mark: EventMark?
        var entry: Entry
        var etag: Int
        /// The number of its last change.
        var change: Int
        var updatedAt: Instant
        var isLive = true
        var isUnreadable = false
        var hasGuests = false
        /// Whether a `create` made it; a person made all others.
        var isOurs: Bool

        /// Whether the connection of a mark, or one that it follows, made it.
        func belongs(to mark: EventMark) -> Bool {
            isOurs && (self.mark?.connection == mark.connection || self.mark?.connection == "former")
        }
    }

    let name: String

    init(_ name: String = "cal") { self.name = name }

    enum Fault: Hashable {
        /// The next writes are carried out, but their answers are lost.
        case lostAnswer
        /// The next writes are not carried out, and their answers are missing.
        case lostRequest
        case throttledWrite, throttledRead, refusedWrite, deadCursor, needsNewGeneration
        /// Full listings that are wrong but claim to be complete.
        case shortListing, emptyListing
        /// A full listing that breaks off and reports it.
        case brokenListing
        /// The provider reports that the calendar does not exist.
        case missingCalendar, missingForWrites
        /// A person edits an event just before our write arrives.
        case race
    }

    var events: [String: Stored] = [:]
    /// Every state that an event had, for listings that lag behind.
    var past: [(change: Int, event: Stored)] = []
    var change = 0
    var clock = 1_000_000
    var faults: Set<Fault> = []
    /// The last change that listings and searches see; looks see later ones, too.
    var visible: Int?
    /// Whether the server stores notes in lower case, whatever it is given.
    var rewrites = false
    /// Whether an event's id follows from its mark; otherwise only a search finds an event that was created.
    var hasIdentities = true
    /// Whether a mark counts only on the event whose id follows from it: a copy has another one.
    var tellsCopies = false
    /// Whether the server has a cursor.
    var hasCursor = true
    /// Cursors before this one have expired.
    var oldestCursor = 0
    /// Whether the server has no series of every other day, as Outlook has none of many kinds.
    var isNarrow = false
    /// Whether our event of an item goes only because the item is shown otherwise.
    var isShownOtherwise: (ItemKey) -> Bool = { _ in false }
    /// Text that the server adds to the notes of every event that it is given.
    var padding = ""
    /// How much of the notes of an event the server keeps; nil for all.
    var longestNotes: Int?
    /// How many updates leave the occurrences of a series as they are.
    var keepsOccurrences = 0
    /// How many updates leave the place of an event as it is.
    var keepsPlaces = 0
    var writes = 0
    var requests = 0
    /// Our deletions that were not undone, without those that made room for a later generation.
    var deletions: [(id: String, at: Int, connection: String)] = []
    /// The entries of events that are not ours, as their persons left them.
    var foreign: [String: Entry] = [:]
    /// Writes to events that we did not make.
    var trespasses: [String] = []
    /// Which events a short listing omits.
    var mayOmit: (String) -> Bool = { _ in true }
    /// Called before the next write when a person is faster.
    var person: (() -> Void)?

    // MARK: What persons do

    @discardableResult
    func put(_ stored: Stored) -> Stored {
        var stored = stored
        change += 1
        stored.change = change
        stored.etag = change
        stored.updatedAt = Instant(seconds: clock)
        events[stored.id] = stored
        past.append((change, stored))
        return stored
    }

    var live: [Stored] { events.values.filter(\.isLive).sorted { $0.id < $1.id } }

    private func seen(_ id: String) -> Stored? {
        guard let visible else { return events[id] }
        return past.last { $0.event.id == id && $0.change <= visible }?.event
    }

    private var seenEvents: [Stored] { events.keys.sorted().compactMap(seen) }

    /// Returns the id that follows from a mark.
    static func identity(_ mark: EventMark) -> String {
        let id = "e-\(mark.item.collection.rawValue)-\(mark.item.name)-\(mark.generation)"
        let owners =
            [mark.installation == "i" ? "" : "\(mark.installation)-"]
            + [mark.connection == "n" ? "" : "\(mark.connection)-"]
        return owners.joined() + id
    }

    /// Returns the mark that the provider reads from an event.
    private func mark(of stored: Stored) -> EventMark? {
        stored.mark.flatMap { tellsCopies && Self.identity($0) != stored.id ? nil : $0 }
    }

    /// Gives all events other ids, as a mailbox does that is moved to another server. What was deleted is forgotten.
    ///
    /// - Parameter keepsMarks: whether copies keep their marks, too.
    func moveMailbox(keepsMarks: Bool = false) {
        let moved = live
        change += 1
        oldestCursor = change
        events = [:]
        (past, foreign, visible) = ([], [:], nil)
        for var stored in moved {
            // Which of two equal events of one mark was the recorded one can no longer be told.
            if !stored.isOurs, !keepsMarks { stored.mark = nil }
            stored.id += "'"
            put(stored)
            if !stored.isOurs { foreign[stored.id] = stored.entry }
        }
        change += 1
    }

    private func remote(_ stored: Stored) -> RemoteEvent {
        RemoteEvent(
            id: stored.id, etag: "\(stored.etag)", mark: mark(of: stored),
            content: stored.isUnreadable ? .unreadable("Its rule is of no kind that we know.") : .entry(stored.entry),
            updatedAt: stored.updatedAt, hasGuests: stored.hasGuests)
    }

    // MARK: CalendarProvider

    func calendars() async throws(ProviderFailure) -> [RemoteCalendar] { [] }

    func createCalendar(named name: String, timeZone: String) async throws(ProviderFailure) -> RemoteCalendar {
        RemoteCalendar(id: "c", name: name)
    }

    /// It does not know availability, and stores at most two reminders.
    func expressible(_ entry: Entry) -> (entry: Entry, limitations: [Limitation]) {
        var entry = entry
        entry.availability = .busy
        // It takes Vienna for Berlin, as Windows does.
        if case .timed(let start, let end, "Europe/Vienna") = entry.span {
            entry.span = .timed(start: start, end: end, zone: "Europe/Berlin")
        }
        entry.reminders = Array(entry.reminders.prefix(2))
        let isImpossible = entry.location == "nowhere"
        let limit = Limitation(field: .location, message: "There is no such place.", preventsWriting: true)
        let isUnsayable = isNarrow && entry.dailyInterval > 1
        let rule = Limitation(
            field: .recurrence, message: "There is no such rule.", preventsWriting: true, isOfSeries: true)
        return (entry, (isImpossible ? [limit] : []) + (isUnsayable ? [rule] : []))
    }

    func changes(
        in calendar: String, since cursor: String?, window: TimeRange, known: [ByteString: String]
    ) async throws(ProviderFailure) -> ChangeSet {
        requests += 1
        if faults.remove(.throttledRead) != nil { throw ProviderFailure(.throttled(retryAfter: 60), "Too many.") }
        let isDead = cursor != nil && faults.remove(.deadCursor) != nil
        if faults.remove(.missingCalendar) != nil { throw ProviderFailure(.calendarMissing, "There is no calendar.") }
        let end = min(visible ?? change, change)
        if let since = cursor.flatMap({ Int($0) }), hasCursor, !isDead, since >= oldestCursor {
            let changed = seenEvents.filter { $0.change > since }
            return ChangeSet(
                changes: changed.map { $0.isLive ? .event(remote($0)) : .removed(id: $0.id) }, isFull: false,
                cursor: "\(max(since, end))")
        }
        var listed = seenEvents.filter { $0.isLive && $0.entry.overlaps(window) }
        var isFull = true
        if faults.remove(.emptyListing) != nil { listed = [] }
        if faults.remove(.shortListing) != nil {
            listed = listed.enumerated().filter { $0.offset % 2 == 0 || !mayOmit($0.element.id) }.map(\.element)
        }
        if faults.remove(.brokenListing) != nil {
            listed = Array(listed.prefix(1))
            isFull = false
        }
        return ChangeSet(
            changes: listed.map { .event(remote($0)) }, isFull: isFull,
            cursor: hasCursor && isFull ? "\(end)" : nil)
    }

    func look(at ids: [String], in calendar: String) async throws(ProviderFailure) -> [(id: String, look: RemoteLookup)]
    {
        requests += 1
        return ids.map { id in
            guard let stored = events[id], stored.isLive else { return (id, .gone) }
            return (id, .present(remote(stored)))
        }
    }

    func find(_ marks: [EventMark], in calendar: String) async throws(ProviderFailure) -> [RemoteEvent] {
        requests += 1
        return seenEvents.filter { stored in stored.isLive && mark(of: stored).map(marks.contains) ?? false }.map(
            remote)
    }

    func write(_ requests: [WriteRequest], in calendar: String) async -> [WriteAnswer] {
        self.requests += 1
        if faults.remove(.throttledWrite) != nil {
            return requests.map { _ in .failed(ProviderFailure(.throttled(retryAfter: 60), "Too many.")) }
        }
        if faults.remove(.missingForWrites) != nil {
            return requests.map { _ in .failed(ProviderFailure(.calendarMissing, "There is no calendar.")) }
        }
        if faults.remove(.lostRequest) != nil {
            return requests.map { _ in .failed(ProviderFailure(.unanswered, "No answer.")) }
        }
        let isLost = faults.remove(.lostAnswer) != nil
        return requests.map { request in
            if faults.remove(.race) != nil { person?() }
            let answer = carryOut(request)
            return isLost ? .failed(ProviderFailure(.unanswered, "No answer.")) : answer
        }
    }

    private func carryOut(_ request: WriteRequest) -> WriteAnswer {
        if faults.remove(.refusedWrite) != nil { return .failed(ProviderFailure(.refused, "It will not.")) }
        switch request.kind {
        case .create(let entry):
            if let refusal = expressible(entry).limitations.first(where: \.preventsWriting) {
                return .failed(ProviderFailure(.refused, refusal.message))
            }
            var id = Self.identity(request.mark)
            if !hasIdentities {
                // The key that goes with a mark's create makes no second event of it.
                if let old = live.first(where: { $0.isOurs && $0.mark == request.mark }) { return .taken(remote(old)) }
                id += "-\(change)"
            }
            if let old = events[id] { return .taken(old.isLive ? remote(old) : nil) }
            writes += 1
            let stored = Stored(
                id: id, mark: request.mark, entry: rewritten(entry), etag: 0, change: 0,
                updatedAt: Instant(seconds: clock), isOurs: true)
            return .written(remote(put(stored)))
        case .update(let id, let etag, let from, let to):
            guard var stored = events[id], stored.isLive else { return .gone }
            guard etag == "\(stored.etag)" else { return .mismatch }
            if faults.remove(.needsNewGeneration) != nil {
                return .failed(ProviderFailure(.needsNewGeneration, "It cannot be done in place."))
            }
            if !stored.belongs(to: request.mark) { trespasses.append("update \(id)") }
            writes += 1
            var entry = stored.entry
            keepsPlaces -= 1
            for field in EntryField.ofEvents where from[field] != to[field] && (field != .location || keepsPlaces < 0) {
                entry.take(field, of: to)
            }
            keepsOccurrences -= 1
            for start in Set(from.occurrences.keys).union(to.occurrences.keys)
            where keepsOccurrences < 0 && from.occurrences[start] != to.occurrences[start] {
                entry.occurrences[start] = to.occurrences[start]
            }
            stored.entry = rewritten(entry)
            stored.isUnreadable = false
            return .written(remote(put(stored)))
        case .delete(let id, let etag):
            guard var stored = events[id], stored.isLive else { return .deleted }
            guard etag == "\(stored.etag)" else { return .mismatch }
            if !stored.belongs(to: request.mark) { trespasses.append("delete \(id)") }
            writes += 1
            stored.isLive = false
            let isReplaced = live.contains {
                $0.isOurs && $0.id != id && $0.mark?.item == stored.mark?.item
                    && $0.mark?.connection == stored.mark?.connection
            }
            if !isReplaced, !(stored.mark.map { isShownOtherwise($0.item) } ?? false) {
                deletions.append((id, clock, request.mark.connection))
            }
            put(stored)
            return .deleted
        }
    }

    func rewritten(_ entry: Entry) -> Entry {
        var entry = entry
        entry.notes += padding
        guard rewrites || longestNotes != nil else { return entry }
        func kept(_ notes: String) -> String {
            let notes = rewrites ? notes.lowercased() : notes
            return longestNotes.map { String(notes.prefix($0)) } ?? notes
        }
        entry.notes = kept(entry.notes)
        for (start, occurrence) in entry.occurrences {
            guard case .changed(var changed) = occurrence else { continue }
            changed.notes = kept(changed.notes)
            entry.occurrences[start] = .changed(changed)
        }
        return entry
    }

    func watch(_ calendar: String, address: String, secret: String) async throws(ProviderFailure) -> WatchChannel? {
        nil
    }
    func unwatch(_ channel: WatchChannel) async throws(ProviderFailure) {}
}
