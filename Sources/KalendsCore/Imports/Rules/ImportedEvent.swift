// SPDX-License-Identifier: Apache-2.0

import Crypto
import FoundationEssentials
import ICalBridge
import Storage

/// An imported event with its row.
struct ImportedEvent: Sendable {
    var record: ImportedEventRecord
    var event: Event

    var uid: String { record.uid }
    var sequence: Int { record.sequence }
    var createdAt: Int { record.createdAt }
    var updatedAt: Int { record.updatedAt }

    init(_ record: ImportedEventRecord) throws {
        self.record = record
        self.event = try StoredEvent.event(record.content)
    }
}

/// The components of one event or series from one source: first the series itself, then its occurrences in order of
/// time.
struct ImportedSeries: Sendable {
    var events: [ImportedEvent]
    /// Its position among the events with the same UID, in the order in which they were created: 0 for the first.
    var ordinal = 0
    /// The UID that feeds show.
    var shownUID: String
    /// Whether another event already shows exactly the same to everybody who would see this one.
    var isRepeated = false

    /// The only users who see the components, with nil for a component that nobody sees; empty if everybody sees all of
    /// them.
    var privateTo: [String?] {
        events.compactMap { event in
            if let user = event.record.visibleTo { return .some(user.isEmpty ? nil : user) }
            return event.event.isPrivate ? .some(event.record.importedBy) : nil
        }
    }

    var uid: String { events.first?.uid ?? "" }
    var kind: Event.Kind { events.first?.event.kind ?? .event }
    fileprivate var createdAt: Int { events.map(\.createdAt).min() ?? 0 }

    private init(_ events: [ImportedEvent]) {
        self.events = events.sorted { $0.record.recurrenceID.isTextBefore($1.record.recurrenceID) }
        // An event that was shown under its own UID keeps it.
        let shown = events.lazy.compactMap(\.record.shownUID)
        shownUID = events.allSatisfy { $0.record.shownUID != nil } ? shown.first ?? "" : events.first?.uid ?? ""
    }

    /// Calls the body with the series of a circle that may overlap a span, in no particular order, with those of one
    /// UID in memory at a time.
    ///
    /// - Parameter body: must not query the database.
    static func each(
        in circle: Circle, from: Int, to: Int, _ transaction: any ReadTransaction,
        _ body: (ImportedSeries) throws -> Void
    ) throws {
        try transaction.eachImportedUID(in: circle, from: from, to: to) { records in
            for series in try all(records) { try body(series) }
        }
    }

    /// Calls the body with the series of a circle that may overlap a span, in the order of feeds, with at most a hundred in
    /// memory at a time, or one that is longer than a mebibyte.
    ///
    /// - Parameter body: returns false to stop; it must not query the database.
    static func eachInOrder(
        in circle: Circle, from: Int, to: Int, _ transaction: any ReadTransaction,
        _ body: (ImportedSeries) throws -> Bool
    ) throws {
        let isLong = try transaction.importedUsage(in: circle.id).bytes > 4 << 20
        var rest = try transaction.importedPlaces(in: circle, from: from, to: to)[...]
        while !rest.isEmpty {
            var some = Array(rest.prefix(atOnce))
            if isLong {
                let bytes = try transaction.importedBytes(of: some.map(\.uid), in: circle.id)
                some = some.fitting(1 << 20) { bytes[ByteString($0.uid)] ?? 0 }
            }
            rest = rest.dropFirst(some.count)
            let known = try all(uids: some.map(\.uid), in: circle, transaction)
            for position in some {
                // Events from several sources with the same UID each have their own place.
                let here = (known[ByteString(position.uid)] ?? []).filter { $0.startsAt == position.startsAt }
                for series in here.sorted(by: { $0.ordinal < $1.ordinal }) where try !body(series) { return }
            }
        }
    }

    private static let atOnce = 100

    /// When the earliest component begins, in milliseconds since 1970.
    var startsAt: Int { events.map(\.record.startsAt).min() ?? 0 }

    /// Returns the series with some UIDs, by UID.
    static func all(
        uids: [String], in circle: Circle, _ transaction: any ReadTransaction
    ) throws -> [ByteString: [ImportedSeries]] {
        Dictionary(grouping: try all(try transaction.importedEvents(uids: uids, in: circle))) { ByteString($0.uid) }
    }

    /// Returns the series that rows make up.
    ///
    /// - Parameter ofTasks: whether only the to-dos that are tasks are meant, which everything but exports leaves out.
    static func all(_ records: [ImportedEventRecord], ofTasks: Bool = false) throws -> [ImportedSeries] {
        struct Origin: Hashable {
            var uid: ByteString
            var source: EventSource
        }
        var positions: [Origin: Int] = [:]
        var groups: [[ImportedEvent]] = []
        var named: [ByteString: [Int]] = [:]
        for record in records where (record.source == .tasks) == ofTasks {
            let origin = Origin(uid: ByteString(record.uid), source: record.source)
            if let index = positions[origin] {
                groups[index].append(try ImportedEvent(record))
            } else {
                positions[origin] = groups.count
                named[origin.uid, default: []].append(groups.count)
                groups.append([try ImportedEvent(record)])
            }
        }
        var all = groups.map { ImportedSeries($0) }
        for positions in named.values where positions.count > 1 { settle(&all, positions) }
        return all
    }

    /// Sets ordinals, repetitions and shown UIDs of series from different sources with the same UID.
    private static func settle(_ all: inout [ImportedSeries], _ positions: [Int]) {
        let inOrder = positions.sorted { one, other in
            (all[one].createdAt, ByteString(all[one].source.text)) < (
                all[other].createdAt, ByteString(all[other].source.text)
            )
        }
        for (ordinal, index) in inOrder.enumerated() {
            all[index].ordinal = ordinal
            let earlier = inOrder[..<ordinal].map { all[$0] }
            all[index].isRepeated = earlier.contains { !$0.isRepeated && $0.says(all[index]) }
        }
        // A private event gives up its UID to one that everybody sees, because to others the private one does not
        // exist.
        let shown = Set(inOrder.filter { all[$0].privateTo.isEmpty }.map { ByteString(all[$0].shownUID) })
        for index in positions where !all[index].privateTo.isEmpty && shown.contains(ByteString(all[index].shownUID)) {
            all[index].shownUID = StoredEvent.derivedUID(all[index].uid, of: all[index].source)
        }
    }

    private var source: EventSource { events.first?.record.source ?? .shared }

    private func ids(_ users: [String?]) -> [ByteString?] { users.map { $0.map { ByteString($0) } } }

    /// Whether everybody who sees the other series sees the same content in this one.
    private func says(_ other: ImportedSeries) -> Bool {
        events.count == other.events.count && (privateTo.isEmpty || Set(ids(privateTo)) == Set(ids(other.privateTo)))
            && zip(events, other.events).allSatisfy {
                // Neither reminders nor people are stored for a followed calendar.
                $0.record.recurrenceID.isSameText(as: $1.record.recurrenceID)
                    && ($0.record.content.isSameText(as: $1.record.content)
                        || $0.event.importable(keeping: []) == $1.event.importable(keeping: []))
            }
    }
}

extension Event {
    /// Whether the author wants nobody else to see the event (RFC 5545 section 3.8.1.3).
    var isPrivate: Bool { classification == "PRIVATE" || classification == "CONFIDENTIAL" }

    /// Returns the key of one occurrence within its series; empty for the series itself.
    func recurrenceKey(floatingIn zone: any TimeZoneRules) -> String {
        switch recurrenceID {
        case nil: ""
        case .date(let date): date.basic
        case .some(let time): time.instant(floatingIn: zone).basic
        }
    }

    /// Returns a fingerprint that is equal for events that look the same to a person: start, end, title, place and
    /// repetition.
    ///
    /// Outlook generates new UIDs in every export; the fingerprint distinguishes a second import from a second event.
    func fingerprint(floatingIn zone: any TimeZoneRules) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        for time in [start, effectiveEnd, recurrenceID] {
            switch time {
            case nil: break
            case .date(let date): bytes += date.basic.utf8
            case .some(let time): bytes += time.instant(floatingIn: zone).basic.utf8
            }
            bytes.append(0x1F)
        }
        PlainText.append(summary, to: &bytes)
        bytes.append(0x1F)
        PlainText.append(location, to: &bytes)
        bytes.append(0x1F)
        bytes += recurrence.rules.map(\.description).sorted().joined(separator: "|").utf8
        if kind != .event {
            // Many journal entries have no title, and to-dos no date.
            bytes.append(0x1F)
            bytes += kind.rawValue.utf8
            PlainText.append(description, to: &bytes)
        }
        return Base64URL.encode(Array(SHA256.hash(data: bytes)))
    }

    /// Returns the start and end of the component in milliseconds since 1970; the end is nil for a series that has none
    /// or whose end cannot be determined.
    func span(floatingIn zone: any TimeZoneRules) -> (start: Int, end: Int?) {
        // A to-do without a start counts at its due time; without either it has no place in any span.
        guard let end = effectiveEnd else { return (0, 0) }
        let begins = (start ?? end).instant(floatingIn: zone)
        guard start != nil || recurrence.isEmpty else { return (begins.milliseconds, nil) }
        if recurrence.isEmpty { return (begins.milliseconds, max(begins, end.instant(floatingIn: zone)).milliseconds) }
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
        switch Series(master: self, overrides: []).end(floatingIn: zone, budget: &budget) {
        case .at(let last): return (begins.milliseconds, max(begins, last).milliseconds)
        case .never, .unknown: return (begins.milliseconds, nil)
        }
    }
}
