// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

/// The calendar of a connection that a phone carries, as it is stored here: it contains what the phone should have
/// after it next asks, together with the changes that the phone has reported.
///
/// It is a provider like others, so runs, conflicts, holds and undo work for it too.
struct PhoneCalendar: CalendarProvider {
    let store: any Store
    let connection: Connection
    let installation: String
    /// The zone of times without one.
    let zone: TimeZoneReference
    let now: Clock

    /// An event with its changed occurrences.
    struct Series {
        var master: PersonalEvent
        /// The changed occurrences, including deleted ones.
        var occurrences: [PersonalEvent] = []

        /// Returns the events of the rows, by item and generation; the rows are in that order, series first.
        static func all(_ rows: [PersonalEvent]) -> [Series] {
            var found: [Series] = []
            for row in rows {
                if row.mapping.instanceKey.isEmpty {
                    found.append(Series(master: row))
                } else if let last = found.last?.master.tie, last.isSameItem(as: row.tie) {
                    found[found.count - 1].occurrences.append(row)
                }
            }
            return found
        }

        /// The contents of the series. An occurrence that was left out takes place again where a device, which had not
        /// heard of that, changed it later.
        var content: PersonalEvent.Content {
            var content = master.content
            let back = Set(
                occurrences.filter { $0.deletedAt == nil && $0.updatedAt > master.updatedAt }
                    .map { ByteString($0.mapping.instanceKey) })
            guard !back.isEmpty, var stored = content.recurrence.flatMap({ PersonalRecurrence(stored: $0) }) else {
                return content
            }
            stored.exceptions.removeAll { back.contains(ByteString(PersonalMoment($0)?.key ?? $0)) }
            content.recurrence = stored.stored
            return content
        }

        /// The version of the event, which rises with each change to what the calendar shows.
        var etag: String { String(occurrences.reduce(master.sequence) { $0 + $1.sequence }) }
    }

    var readsEvents: Bool { true }

    func expressible(_ entry: Entry) -> (entry: Entry, limitations: [Limitation]) {
        (PhoneForm.expressible(entry, zone: zone), [])
    }

    // MARK: Reading

    func changes(
        in calendar: String, since cursor: String?, window: TimeRange, known: [ByteString: String]
    ) async throws(ProviderFailure) -> ChangeSet {
        let (source, user) = (connection.id, connection.userID)
        let position = cursor.flatMap { Int($0) }
        return try await ask { transaction in
            let last = try transaction.lastSendingOfPhoneItems(of: source)
            guard let position else {
                let rows = try transaction.livingPhoneItems(of: source)
                return ChangeSet(
                    changes: Series.all(rows).filter { $0.master.deletedAt == nil }.map { .event(event(of: $0)) },
                    isFull: true, cursor: String(last))
            }
            var changes: [RemoteChange] = []
            for (collection, item) in try transaction.phoneItemsSent(of: source, after: position) {
                for series in Series.all(try transaction.phoneItems(of: source, of: user, collection, item)) {
                    changes.append(
                        series.master.deletedAt == nil ? .event(event(of: series)) : .removed(id: series.master.id))
                }
            }
            return ChangeSet(changes: changes, isFull: false, cursor: String(last))
        }
    }

    func look(at ids: [String], in calendar: String) async throws(ProviderFailure) -> [(id: String, look: RemoteLookup)]
    {
        let (source, user) = (connection.id, connection.userID)
        return try await ask { transaction in
            try ids.map { id in
                guard let row = try transaction.personalEventEverKnown(id, of: user), row.tie?.source == source,
                    row.deletedAt == nil, let series = try Self.series(row, transaction)
                else { return (id, .gone) }
                return (id, .present(event(of: series)))
            }
        }
    }

    func find(_ marks: [EventMark], in calendar: String) async throws(ProviderFailure) -> [RemoteEvent] {
        let (source, user) = (connection.id, connection.userID)
        return try await ask { transaction in
            try marks.flatMap { mark in
                Series.all(
                    try transaction.phoneItems(of: source, of: user, mark.item.collection.rawValue, mark.item.id)
                ).filter { $0.master.tie?.generation == mark.generation && $0.master.deletedAt == nil }
                    .map(event)
            }
        }
    }

    private static func series(_ row: PersonalEvent, _ transaction: any ReadTransaction) throws -> Series? {
        guard let tie = row.tie else { return nil }
        return Series.all(try transaction.phoneItems(of: tie.source, of: row.userID, tie.collection, tie.itemID))
            .first { $0.master.id == row.id }
    }

    private func event(of series: Series) -> RemoteEvent {
        let tie = series.master.tie
        let mark = tie.flatMap { tie in
            ItemKey.Collection(text: tie.collection).map {
                EventMark(
                    installation: installation, connection: connection.id, circle: connection.circleID,
                    item: ItemKey($0, tie.itemID), generation: tie.generation)
            }
        }
        let living = series.occurrences.filter { $0.deletedAt == nil }
        let content: RemoteEvent.Content
        do {
            content = .entry(
                try PhoneForm.entry(
                    series.content,
                    living.compactMap { row in row.mapping.instanceID.map { ($0, row.content) } }, zone: zone))
        } catch {
            content = .unreadable(error.reason)
        }
        // This is when a person changed something on the device, by the device's clock and never later than its
        // arrival.
        let stamp = ([series.master] + series.occurrences).filter { $0.tie?.sentAt != nil }.map(\.changedAt).max()
        return RemoteEvent(
            id: series.master.id, etag: series.etag, mark: mark, content: content,
            updatedAt: stamp.map { Instant(milliseconds: $0) })
    }

    // MARK: Writing

    func write(_ requests: [WriteRequest], in calendar: String) async -> [WriteAnswer] {
        let time = now()
        var answers: [WriteAnswer] = []
        while answers.count < requests.count {
            let rest = requests[answers.count...]
            do {
                answers += try await store.record { try write(rest, $0, at: time) }
            } catch {
                answers += rest.map { _ in .failed(Self.unavailable) }
            }
        }
        return answers
    }

    /// How long one transaction continues to write events, so that others wait only briefly.
    private static let stepTime = Duration.milliseconds(40)

    /// Writes as many events as a transaction has time for, one at least.
    private func write(
        _ requests: ArraySlice<WriteRequest>, _ transaction: any WriteTransaction, at time: Int
    ) throws -> [WriteAnswer] {
        guard try transaction.connection(connection.id) != nil else {
            return requests.map { _ in .failed(Self.unavailable) }
        }
        let start = ContinuousClock.now
        var writer = try PhoneEventWriter(
            of: connection.userID, source: connection.id, transaction: transaction, now: time)
        var answers: [WriteAnswer] = []
        for request in requests {
            answers.append(try write(request, &writer))
            if ContinuousClock.now - start >= Self.stepTime { break }
        }
        try writer.finish()
        return answers
    }

    private func write(_ request: WriteRequest, _ writer: inout PhoneEventWriter) throws -> WriteAnswer {
        let item = request.mark.item
        let known = Series.all(
            try writer.transaction.phoneItems(
                of: connection.id, of: connection.userID, item.collection.rawValue, item.id))
        switch request.kind {
        case .create(let entry):
            if let taken = known.first(where: { $0.master.tie?.generation == request.mark.generation }) {
                return .taken(taken.master.deletedAt == nil ? event(of: taken) : nil)
            }
            var master = writer.new(
                item.collection.rawValue, item.id, generation: request.mark.generation, in: connection.circleID,
                PhoneForm.content(entry))
            try writer.write(&master, master.content)
            var series = Series(master: master)
            try put(entry, &series, &writer, isNew: true)
            return .written(event(of: series))
        case .update(let id, let etag, _, let entry):
            guard var series = known.first(where: { $0.master.id == id }), series.master.deletedAt == nil else {
                return .gone
            }
            guard etag == nil || etag == series.etag else { return .mismatch }
            let content = PhoneForm.content(entry)
            if series.master.content != content { try writer.write(&series.master, content) }
            try put(entry, &series, &writer)
            return .written(event(of: series))
        case .delete(let id, let etag):
            guard var series = known.first(where: { $0.master.id == id }), series.master.deletedAt == nil else {
                return .deleted
            }
            guard etag == nil || etag == series.etag else { return .mismatch }
            for index in series.occurrences.indices where series.occurrences[index].deletedAt == nil {
                try writer.delete(&series.occurrences[index])
            }
            try writer.delete(&series.master)
            return .deleted
        }
    }

    /// Makes the changed occurrences match an entry.
    ///
    /// - Parameter isNew: whether no device has seen the series yet.
    private func put(
        _ entry: Entry, _ series: inout Series, _ writer: inout PhoneEventWriter, isNew: Bool = false
    ) throws {
        var wanted: [ByteString: (start: Instant, content: PersonalEvent.Content)] = [:]
        for (start, occurrence) in entry.occurrences {
            guard entry.repetition != nil, case .changed(let changed) = occurrence else { continue }
            wanted[ByteString(start.basic)] = (start, PhoneForm.content(changed))
        }
        func plain(_ start: Instant) -> PersonalEvent.Content? {
            isNew ? nil : PhoneForm.content(entry.plain(at: start))
        }
        for index in series.occurrences.indices {
            var row = series.occurrences[index]
            if let (start, content) = wanted.removeValue(forKey: ByteString(row.mapping.instanceKey)) {
                if row.deletedAt != nil || row.content != content {
                    try writer.write(&row, content, insteadOf: plain(start))
                }
            } else if row.deletedAt == nil {
                try writer.delete(&row)
            }
            series.occurrences[index] = row
        }
        guard let tie = series.master.tie else { return }
        for (start, content) in wanted.values.sorted(by: { $0.start < $1.start }) {
            var row = writer.new(
                tie.collection, tie.itemID, generation: tie.generation, in: tie.circleID, content,
                start: start.rfc3339(offset: 0))
            row.mapping.take(series.master.mapping)
            try writer.write(&row, content, insteadOf: plain(start))
            series.occurrences.append(row)
        }
    }

    // MARK: What phones do not support

    func calendars() async throws(ProviderFailure) -> [RemoteCalendar] { [] }

    func createCalendar(named name: String, timeZone: String) async throws(ProviderFailure) -> RemoteCalendar {
        throw ProviderFailure(.refused, "Calendars of a phone are made on the phone.")
    }

    func watch(
        _ calendar: String, address: String, secret: String
    ) async throws(ProviderFailure) -> WatchChannel? { nil }

    func unwatch(_ channel: WatchChannel) async throws(ProviderFailure) {}

    private static let unavailable = ProviderFailure(
        .unavailable(retryAfter: nil), "What is on phones cannot be read or written now.")

    private func ask<Value: Sendable>(
        _ body: @escaping @Sendable (any ReadTransaction) throws -> Value
    ) async throws(ProviderFailure) -> Value {
        do {
            return try await store.read(body)
        } catch {
            throw Self.unavailable
        }
    }
}

extension PersonalEvent.ItemAndDevice {
    /// Whether both show the same generation of an item.
    fileprivate func isSameItem(as other: Self?) -> Bool {
        guard let other else { return false }
        return collection == other.collection && itemID == other.itemID && generation == other.generation
    }
}

extension PersonalEvent.Mapping {
    /// Takes over the ids by which a device knows the series of a changed occurrence.
    mutating func take(_ series: Self) {
        guard series.externalID != nil else { return }
        (provider, externalID, calendarID) = (series.provider, series.externalID, series.calendarID)
        (state, sourceDevice) = (series.state, series.sourceDevice)
    }
}
