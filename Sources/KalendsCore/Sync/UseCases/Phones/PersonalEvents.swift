// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import ICalBridge
package import Storage

/// Users' own events, which belong to no circle and which nobody else sees.
package struct PersonalEvents: Sendable {
    let acts: Acts
    let quotas: Quotas

    /// The filter of a list of events.
    package struct Search: Sendable {
        /// A time or a day; nil for no limit.
        package var from: PersonalMoment?
        package var to: PersonalMoment?
        /// The faults of the request; reported only to callers who may see the events.
        package var faults = FaultList()

        package init() {}
    }

    /// How many days an event's date can differ in the user's zone, when the event has another zone.
    private static let slack = 1

    private static func check(_ user: String, for caller: Caller) throws {
        guard caller.isInstallation || caller.userID == user else { throw Refusal.missing(.user) }
    }

    /// Lists a user's events in order of id, without deleted ones.
    ///
    /// - Parameter show: makes the result with a function that fetches up to a given number of events after an id, nil
    ///   for the first ones.
    package func list<Shown: Sendable>(
        of user: String, _ search: Search, after cursor: String, for caller: Caller,
        _ show: @escaping @Sendable ((_ last: PersonalEvent?, _ count: Int) throws -> [PersonalEvent]) throws -> Shown
    ) async throws -> Shown {
        try Self.check(user, for: caller)
        if !search.faults.isEmpty { throw Refusal.invalid(search.faults) }
        return try await acts.readPage(for: caller) { transaction in
            let zone = try transaction.user(user)?.timeZone.flatMap { TimeZoneReference($0) }
            let first = search.from.map { $0.day(in: zone) - Self.slack } ?? .min / 2
            let last = search.to.map { $0.day(in: zone) + Self.slack } ?? .max / 2
            return try show { event, count in
                try transaction.personalEvents(
                    of: user, from: first, to: last, after: event?.id ?? cursor, limit: count)
            }
        }
    }

    package func get(_ id: String, of user: String, for caller: Caller) async throws -> PersonalEvent {
        try Self.check(user, for: caller)
        let event = try await acts.store.read { try $0.personalEventEverKnown(id, of: user) }
        guard let event, event.deletedAt == nil, event.tie == nil else { throw Refusal.missing(.event) }
        return event
    }

    /// Returns the faults, with one more for a rule that takes more work than allowed.
    private static func followed(_ edit: PersonalEdit, _ faults: FaultList) -> FaultList {
        var (faults, budget) = (faults, RecurrenceBudget(steps: SeriesWork.ofFile))
        if let fault = edit.fault(at: "", following: &budget) { faults.append(fault) }
        return faults
    }

    /// Creates or replaces an event; only a device changes the fields by which a device knows it.
    ///
    /// - Parameter id: nil to make a new id.
    package func put(
        _ id: String?, of user: String, _ edit: PersonalEdit, faults: FaultList,
        if condition: Precondition<PersonalEvent>, for caller: Caller
    ) async throws -> (PersonalEvent, isNew: Bool) {
        let (id, faults) = (id ?? FeedLedger.makeID(), Self.followed(edit, faults))
        return try await change(of: user, for: caller) { writer in
            try condition.check(try writer.living(id))
            if !faults.isEmpty { throw Refusal.invalid(faults) }
            let (event, outcome) = try writer.put(id, edit)
            return (event, outcome == .created)
        }
    }

    /// Changes some fields of an event.
    package func change(
        _ id: String, of user: String, _ edit: PersonalEdit, faults: FaultList,
        if condition: Precondition<PersonalEvent>, for caller: Caller
    ) async throws -> PersonalEvent {
        let faults = Self.followed(edit, faults)
        return try await change(of: user, for: caller) { writer in
            guard let event = try writer.living(id) else { throw Refusal.missing(.event) }
            try condition.check(event)
            if !faults.isEmpty { throw Refusal.invalid(faults) }
            return try writer.change(event, edit)
        }
    }

    /// Deletes an event; devices receive the deletion.
    package func delete(
        _ id: String, of user: String, if condition: Precondition<PersonalEvent>, for caller: Caller
    ) async throws {
        try await change(of: user, for: caller) { writer in
            guard let event = try writer.living(id) else { throw Refusal.missing(.event) }
            try condition.check(event)
            try writer.delete(event, changedAt: writer.now)
        }
    }

    /// Changes a user's own events; all of the changes are stored when this returns, and none when it throws.
    func change<Value: Sendable>(
        of user: String, for caller: Caller,
        _ body: @escaping @Sendable (inout PersonalWriter) throws -> Value
    ) async throws -> Value {
        let quotas = quotas.clamped(to: caller.identity)
        return try await acts.act(on: .ownCalendar(of: user), for: caller) { act in
            var writer = try PersonalWriter(
                of: user, by: caller.device, quotas: quotas, transaction: act.transaction, now: act.now)
            let value = try body(&writer)
            try writer.finish()
            return .unnoted("What is in people's own calendars is their own concern.", value)
        }
    }
}

extension PersonalMoment {
    /// Returns the day, in days since 1970.
    fileprivate func day(in zone: TimeZoneReference?) -> Int {
        switch self {
        case .day(let day): day.daysSinceEpoch
        case .instant(let instant): (zone?.rules.civil(at: instant) ?? instant.utc).date.daysSinceEpoch
        }
    }
}
