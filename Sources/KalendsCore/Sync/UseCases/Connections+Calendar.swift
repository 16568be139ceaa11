// SPDX-License-Identifier: Apache-2.0

package import CalendarSync
import ICalBridge
import Storage

extension Connections {
    /// The calendar that should be kept in step.
    package struct CalendarChoice: Sendable {
        package enum Calendar: Sendable {
            case known(String)
            /// A new calendar; nil for the name that Kalends gives it.
            case new(String?)
        }

        package var calendar: Calendar
        /// Whether another connection may already write the same circle into the calendar.
        package var sharesIt: Bool

        package init(_ calendar: Calendar, sharesIt: Bool = false) {
            self.calendar = calendar
            self.sharesIt = sharesIt
        }
    }

    /// Returns the calendars of a connection's account.
    package func calendars(of id: String, for caller: Caller) async throws -> [RemoteCalendar] {
        let (own, circle) = try await found(id, for: caller)
        return try await ask(own, circle) { try await $0.calendars() }
    }

    /// Chooses or creates the calendar that is kept in step; the connection is then due at once.
    ///
    /// - Parameters:
    ///   - choice: throws 422 with the faults of the request, for callers who may see the connection. A calendar into
    ///     which another connection writes the circle is 409 unless it is shared on purpose.
    ///   - waits: whether a connection without a calendar stays paused until its person has chosen what is kept in
    ///     step.
    package func choose(
        _ choice: @Sendable () throws -> CalendarChoice, of id: String, waits: Bool = false, for caller: Caller
    ) async throws -> Shown {
        let (own, circle) = try await found(id, for: caller)
        let (choice, settings, server) = (try choice(), settings, context.settings)
        let calendar = try await calendar(choice.calendar, own, circle)
        let (shown, left) = try await context.acts.act(on: .connection(id), for: caller) { act in
            let (transaction, now) = (act.transaction, act.now)
            var own = act.target
            guard own.accountID != nil else { throw Refusal.connectionUnauthorized }
            if !choice.sharesIt { try Self.refuseSharing(of: calendar.id, own, in: transaction) }
            var left: String?
            if own.calendarID.map({ $0 != calendar.id }) ?? true {
                left = try Self.leave(own, server, now: now, in: transaction)
            }
            // A person who paused a connection also resumes it, even in another calendar.
            let waits = waits && own.calendarID == nil || own.state == .paused
            (own.calendarID, own.calendarName) = (calendar.id, calendar.name)
            (own.calendarTimeZone, own.missingSince, own.failures) = (calendar.timeZone, nil, 0)
            own.turn(to: waits ? .paused : .active, now: now)
            own.comeSoon(now: now)
            own.updatedAt = now
            try transaction.putConnection(own, .updated, now: now)
            return ActResult(
                (try Shown(own, for: caller.identity, settings, in: transaction), left),
                noting: AuditNote(
                    .connectionCalendarChosen, id, detail: ["provider": .string(own.provider.rawValue)]))
        }
        if let left { await forgetLinks(of: id, at: left) }
        return shown
    }

    /// Throws 409 when another connection writes the same circle into the calendar, in which everything would then be
    /// twice.
    private static func refuseSharing(
        of calendar: String, _ own: Connection, in transaction: any ReadTransaction
    ) throws {
        var chosen = own
        chosen.calendarID = calendar
        guard let other = try chosen.otherOfSameCalendar(in: transaction) else { return }
        let owner = try transaction.member(other.userID, in: own.circleID)?.displayName
        let whose =
            other.userID == own.userID
            ? "Another connection of the same person" : owner.map { "A connection of \($0)" } ?? "Another connection"
        throw Refusal.conflict(
            "\(whose) already writes this circle into this calendar: each event would be there twice. Choose another "
                + "calendar, or send shareWith: true.", code: .calendarShared)
    }

    /// The holder of a connection's lease while the links to its former calendar are removed, and how long it holds the lease,
    /// in milliseconds.
    private static let leaving = (holder: "another calendar", time: 60_000)

    /// Prepares for a different calendar; the events in the former calendar stay there.
    ///
    /// - Returns: the position at which the links have to be removed; nil when they stay.
    private static func leave(
        _ own: Connection, _ settings: ServerSettings, now: Int, in transaction: any WriteTransaction
    ) throws -> String? {
        // The channels report the former calendar; the next run requests reports of the new one.
        for var channel in try transaction.syncChannels(of: own.id) {
            (channel.renewAt, channel.lastHeardAt) = (now, nil)
            try transaction.putSyncChannel(channel)
        }
        // The engine sees from the position of the last run that links belong to another calendar. If no run has ended,
        // linked items would count as deleted in the new calendar and would not be added to it.
        guard own.calendarID != nil, try transaction.syncPosition(of: own.id) == nil else { return nil }
        let present = Instant(milliseconds: now)
        let position = try SyncContent.text(
            Position(
                cursor: nil, fingerprint: try ConnectionParts(own, in: transaction, settings).fingerprint(),
                listed: TimeRange(from: present, to: present), isBegun: true))
        try transaction.putSyncPosition(of: own.id, content: position)
        // A run that is under way has the lease, and stores nothing more in the former calendar.
        _ = try transaction.takeSyncLease(of: own.id, for: leaving.holder, until: now + leaving.time, now: now)
        return position
    }

    /// Removes the links to a former calendar, possibly very many, in short transactions. Should that fail, the next run sees
    /// from the position whose they are.
    private func forgetLinks(of id: String, at position: String) async {
        let store = context.store
        try? await store.recordRepeatedly { try $0.forgetSomeSyncLinks(of: id, at: position, limit: $1) }
        try? await store.record { try $0.endSyncLease(of: id, for: Self.leaving.holder) }
    }

    private func calendar(
        _ choice: CalendarChoice.Calendar, _ own: Connection, _ circle: Circle
    ) async throws -> RemoteCalendar {
        switch choice {
        case .known(let id):
            let found = try await ask(own, circle) { try await $0.calendars() }.first { $0.id == id }
            guard let found else {
                throw Refusal.invalid(
                    "/calendarId", code: .unknownReference, "The account has no such calendar.")
            }
            guard found.canWrite else {
                throw Refusal.invalid("/calendarId", code: .contradiction, "This calendar is read-only.")
            }
            return found
        case .new(let given):
            let name = given ?? "\(context.settings.titlePrefix) - \(circle.name)"
            return try await ask(own, circle) { provider in
                // A calendar that was created earlier is used again: a second one of the same name would only confuse.
                let known = try await provider.calendars().first { $0.isOurs && $0.canWrite && $0.name == name }
                if let known { return known }
                return try await provider.createCalendar(named: name, timeZone: circle.timeZone)
            }
        }
    }

    private func found(_ id: String, for caller: Caller) async throws -> (Connection, Circle) {
        let found = try await context.store.read { transaction in
            let own = try Rights.connection(id, for: caller.identity, in: transaction)
            return (own, try Rights.circle(own.circleID, for: caller.identity, .read, in: transaction))
        }
        try context.grants.admit(caller.userID)
        return found
    }

    /// Sends a request to a connection's provider; if the provider refuses the account, that is noted on the
    /// connection.
    private func ask<Value: Sendable>(
        _ own: Connection, _ circle: Circle,
        _ question: (any CalendarProvider) async throws -> Value
    ) async throws -> Value {
        // A grant that the provider has refused stays dead until its person signs in again.
        guard own.state != .needsReconnect else { throw Refusal.connectionUnauthorized }
        let (providers, sender) = (context.providers, ConnectionProviders.sender(own))
        let slot = try await context.sync.answers.ask(sender)
        defer { withExtendedLifetime(slot) {} }
        do {
            let door = providers.door(for: RequestSource(own), sender)
            return try await question(await providers.provider(of: own, zone: circle.timeZone, over: door))
        } catch let failure as ProviderFailure {
            if failure.kind == .unauthorized { await context.grants.markDead(own.id) }
            throw Refusal(failure)
        }
    }
}
