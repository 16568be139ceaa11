// SPDX-License-Identifier: Apache-2.0

package import Base
import FeedTokens
import ICalBridge
package import Storage

/// Users' own events, which are of no circle and which nobody else sees.
package struct PersonalEvents: Sendable {
    let acts: Acts
    let quotas: Quotas

    /// Which events a list has.
    package struct Search: Sendable {
        /// A time or a day; nil for all.
        package var from: PersonalMoment?
        package var to: PersonalMoment?
        /// What was wrong with the question; reported only to callers who may see the events.
        package var faults = FaultList()

        package init() {}
    }

    /// Days that an event may be off, because its zone is not the one that was asked in.
    private static let slack = 1

    private static func check(_ user: String, for caller: Caller) throws {
        guard caller.isInstallation || caller.userID == user else { throw Refusal.missing(.user) }
    }

    /// A user's events in order of id, without deleted ones.
    ///
    /// - Parameter show: takes pieces of the list after an id, nil for the first, as long as it asks for more.
    package func list<Shown: Sendable>(
        of user: String, _ search: Search, after cursor: String, for caller: Caller,
        _ show: @escaping @Sendable ((_ last: PersonalEvent?, _ count: Int) throws -> [PersonalEvent]) throws -> Shown
    ) async throws -> Shown {
        try Self.check(user, for: caller)
        if !search.faults.isEmpty { throw Refusal.invalid(search.faults) }
        return try await acts.store.read { transaction in
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

    /// The faults, with that of a rule that takes more work than it may.
    private static func followed(_ edit: PersonalEdit, _ faults: FaultList) -> FaultList {
        var (faults, budget) = (faults, RecurrenceBudget(steps: SeriesWork.ofFile))
        if let fault = edit.fault(at: "", following: &budget) { faults.append(fault) }
        return faults
    }

    /// Makes or replaces an event; nobody but a device changes what a device knows it by.
    ///
    /// - Parameter id: nil for one that is given now.
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

    /// Takes an event away; devices hear of it.
    package func delete(
        _ id: String, of user: String, if condition: Precondition<PersonalEvent>, for caller: Caller
    ) async throws {
        try await change(of: user, for: caller) { writer in
            guard let event = try writer.living(id) else { throw Refusal.missing(.event) }
            try condition.check(event)
            try writer.delete(event, changedAt: writer.now)
        }
    }

    /// Changes a user's own events; all of it is stored when this returns, and none of it when it throws.
    func change<Value: Sendable>(
        of user: String, for caller: Caller,
        _ body: @escaping @Sendable (inout PersonalWriter) throws -> Value
    ) async throws -> Value {
        let quotas = quotas.held(to: caller.identity)
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
    /// Days since 1970.
    fileprivate func day(in zone: TimeZoneReference?) -> Int {
        switch self {
        case .day(let day): day.daysSinceEpoch
        case .instant(let instant): (zone?.rules.civil(at: instant) ?? instant.utc).date.daysSinceEpoch
        }
    }
}
