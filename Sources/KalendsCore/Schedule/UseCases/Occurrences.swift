// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

/// A changed or cancelled occurrence of a repeating appointment, and the series whose other fields it keeps.
package struct ShownOccurrence: Sendable {
    package let originalStart: Instant
    package let content: OccurrenceContent
    package let series: AppointmentContent
    /// The zone of the series, or of the circle.
    package let zone: TimeZoneReference
}

/// Reads and changes single occurrences of repeating appointments.
package struct Occurrences: Sendable {
    let acts: Acts
    let quotas: Quotas

    /// Lists the changed occurrences of an appointment in order of original start, piece by piece.
    ///
    /// - Parameters:
    ///   - key: the original start after which the list begins, in the form of paths.
    ///   - gather: gets a function that fetches up to a given number of occurrences after the last one, nil for the
    ///     first ones; it may run more than once.
    package func list<Value: Sendable>(
        of id: String, in circle: String, after key: String, for caller: Caller,
        _ gather:
            @escaping @Sendable (
                (_ last: ShownOccurrence?, _ count: Int) throws -> [ShownOccurrence]
            ) throws -> Value
    ) async throws -> Value {
        try await acts.readPage(for: caller) { transaction in
            let own = try Rights.circle(circle, for: caller.identity, .read, in: transaction)
            let (series, zone) = try Self.appointment(id, in: own, transaction)
            return try gather { last, count in
                try transaction.occurrences(
                    of: id, in: circle, after: last?.originalStart.basic ?? key, limit: count
                ).map {
                    ShownOccurrence(
                        originalStart: try $0.start, content: try OccurrenceContent($0), series: series, zone: zone)
                }
            }
        }
    }

    package func get(
        _ start: Instant, of id: String, in circle: String, for caller: Caller
    ) async throws -> ShownOccurrence {
        try await acts.store.read { transaction in
            let own = try Rights.circle(circle, for: caller.identity, .read, in: transaction)
            let (series, zone) = try Self.appointment(id, in: own, transaction)
            guard let changed = try transaction.occurrence(start.basic, of: id, in: circle) else {
                throw Refusal.missing(.occurrence)
            }
            return ShownOccurrence(
                originalStart: start, content: try OccurrenceContent(changed), series: series, zone: zone)
        }
    }

    /// Changes or cancels one occurrence.
    ///
    /// - Parameter read: reads the request against the series; throws `Refusal` with all faults.
    package func put(
        _ start: Instant, of id: String, in circle: String, if condition: Precondition<ShownOccurrence>,
        for caller: Caller, _ read: @escaping @Sendable (AppointmentContent) throws -> OccurrenceContent
    ) async throws -> (ShownOccurrence, isNew: Bool) {
        let seen = try await acts.store.read { transaction in
            let own = try Rights.circle(circle, for: caller.identity, .write, in: transaction)
            return try Self.series(id, in: own, transaction)
        }
        // The occurrence is looked up before the transaction, which looks again if the series has changed by then.
        let isThere = seen.0.hasOccurrence(at: start, in: seen.1)
        return try await acts.schedule(in: circle, for: caller, quotas) { writer in
            let transaction = writer.transaction
            let (series, zone) = try Self.series(id, in: writer.circle, transaction)
            let isSame = series.timing(in: zone) == seen.0.timing(in: seen.1)
            let isStart = isSame ? isThere : series.hasOccurrence(at: start, in: zone)
            guard isStart == true else { throw Refusal.missing(.occurrence) }
            let content = try read(series)
            let new = ChangedOccurrence(
                circleID: circle, itemID: id, originalStart: start.basic, startsAt: content.startAt.milliseconds,
                endsAt: content.endAt.milliseconds, content: try content.stored())
            let old = try transaction.occurrence(start.basic, of: id, in: circle)
            try condition.check(
                try old.map {
                    ShownOccurrence(
                        originalStart: start, content: try OccurrenceContent($0), series: series, zone: zone)
                })
            try writer.put([(start.basic, new)], of: id)
            return (
                ShownOccurrence(originalStart: start, content: content, series: series, zone: zone), old == nil
            )
        }
    }

    /// Resets one occurrence to the fields of the series.
    package func delete(
        _ start: Instant, of id: String, in circle: String, if condition: Precondition<ShownOccurrence>,
        for caller: Caller
    ) async throws {
        try await acts.schedule(in: circle, for: caller, quotas) { writer in
            guard let old = try writer.transaction.occurrence(start.basic, of: id, in: circle) else {
                throw Refusal.missing(.occurrence)
            }
            let (series, zone) = try Self.series(id, in: writer.circle, writer.transaction)
            try condition.check(
                ShownOccurrence(originalStart: start, content: try OccurrenceContent(old), series: series, zone: zone))
            try writer.put([(start.basic, nil)], of: id)
        }
    }

    /// Returns an appointment that repeats; throws 409 for one that does not.
    private static func series(
        _ id: String, in circle: Circle, _ transaction: any ReadTransaction
    ) throws -> (AppointmentContent, TimeZoneReference) {
        let (content, zone) = try appointment(id, in: circle, transaction)
        guard content.recurrence != nil else {
            throw Refusal.conflict("This appointment does not repeat.", code: .notRecurring)
        }
        return (content, zone)
    }

    private static func appointment(
        _ id: String, in circle: Circle, _ transaction: any ReadTransaction
    ) throws -> (AppointmentContent, TimeZoneReference) {
        guard let item = try transaction.item(id, AppointmentContent.collection, in: circle.id) else {
            throw Refusal.missing(AppointmentContent.resource)
        }
        let content = try AppointmentContent(stored: item.content)
        return (content, content.zone(or: try circle.zone))
    }
}

extension ChangedOccurrence {
    var start: Instant {
        get throws {
            guard let start = Instant(basic: originalStart) else {
                throw StorageError.unexpectedResult("An occurrence has a start that is not a time.")
            }
            return start
        }
    }
}
