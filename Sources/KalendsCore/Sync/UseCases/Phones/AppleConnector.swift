// SPDX-License-Identifier: Apache-2.0

package import Storage

/// Apple Calendar as a person sees it: one switch for the connections in all circles, and what may be read and written.
///
/// Reading concerns the person's own calendar, which the phone sends; writing concerns the events that connections have
/// the phone add to it. The phone itself handles the system's permission.
package struct AppleConnector: Sendable {
    let context: SyncContext
    let circles: Circles
    let connections: Connections

    package struct Shown: Sendable {
        /// Nil while the person is not connected.
        package var uses: (read: Bool, write: Bool)?
        /// Whether there was a connection, which somebody ended on this server.
        package var wasEnded: Bool
        /// The phone that carries the connections, or else the one that last sent a request.
        package var device: Device?
        /// When that phone last sent a request.
        package var seenAt: Int?

        /// The problem that, according to that phone's report, keeps it from its calendars, and since when.
        package var problem: (what: PhoneProblem, at: Int)? {
            guard let device, let what = device.problem.flatMap({ PhoneProblem(text: $0) }) else { return nil }
            return (what, device.problemAt ?? device.registeredAt)
        }
    }

    /// The maximum number of circles to which one switch applies.
    private static let mostCircles = 200

    package func get(for caller: Caller) async throws -> Shown {
        try await context.acts.readOwn(for: caller) { try $0.appleConnector }
    }

    /// Whether the person's connection was ended on this server, so that their phones have to stop.
    package func wasEnded(for caller: Caller) async throws -> Bool {
        let user = try Rights.user(caller.identity)
        return try await context.store.read { try $0.hasEndedPhone(user) }
    }

    /// Connects every circle of the person that is not connected yet, and allows both uses.
    package func connect(for caller: Caller) async throws {
        let user = try Rights.user(caller.identity)
        try await setReads(true, of: user, for: caller)
        var draft = Connections.Draft()
        draft.provider = .apple
        for circle in try await circles.list(PageRequest(limit: Self.mostCircles), for: caller) {
            do {
                _ = try await connections.create(draft, in: circle.id, for: caller)
            } catch let refusal as Refusal where refusal.code == .labelTaken {
                // A connection already exists.
            }
        }
        try await setWrites(true, of: user, for: caller)
    }

    /// Sets what the connector may be used for; does nothing without a connection.
    package func use(read: Bool, write: Bool, for caller: Caller) async throws {
        let user = try Rights.user(caller.identity)
        guard try await get(for: caller).uses != nil else { return }
        try await setReads(read, of: user, for: caller)
        try await setWrites(write, of: user, for: caller)
    }

    /// Stops reading and writing, and deletes what was read; events stay in the phone's calendar.
    package func disconnect(for caller: Caller) async throws {
        let user = try Rights.user(caller.identity)
        try await setReads(false, of: user, for: caller)
        for own in try await connections(of: user) {
            do {
                try await connections.delete(own.id, removingEvents: false, if: .none, for: caller)
            } catch let refusal as Refusal where refusal.kind == .missing {
                // Another request has already ended the connection.
            }
        }
    }

    private func connections(of user: String) async throws -> [Connection] {
        try await context.store.read { try $0.connections(of: user, by: .apple) }
    }

    private func setWrites(_ writes: Bool, of user: String, for caller: Caller) async throws {
        for own in try await connections(of: user) where own.state == (writes ? .paused : .active) {
            var change = Connections.Change()
            change.paused = !writes
            _ = try await connections.change(own.id, change, if: .none, for: caller)
        }
    }

    /// Notes whether the person's calendar may be read; if not, what was read is deleted.
    private func setReads(_ reads: Bool, of user: String, for caller: Caller) async throws {
        try await context.acts.act(on: .ownCalendar(of: user), for: caller) { act in
            let transaction = act.transaction
            let old = try transaction.user(user)?.readsPhone
            guard old.map({ $0 != reads }) ?? true else { return .unchanged(()) }
            try transaction.putReadsPhone(reads, of: user, now: act.now)
            if !reads {
                let usage = try transaction.plannedUsage(of: user)
                try transaction.deletePlannedEvents(
                    of: user, source: PlannedEvents.source, overlapping: Int.min / 2..<Int.max / 2)
                try transaction.addPlannedUsage(Usage(count: -usage.count, bytes: -usage.bytes), of: user)
            }
            try transaction.touchOwnFeeds(of: user, now: act.now)
            return .unnoted("What is read from people's own calendars is their own concern.", ())
        }
    }
}

extension AuthorizedUser {
    package var appleConnector: AppleConnector.Shown {
        get throws {
            let own = try transaction.connections(of: id, by: .apple)
            let carrier = try own.compactMap { try transaction.phoneCarrier(of: id, source: $0.id) }
                .filter { $0.carrier != nil }.max { ($0.seenAt ?? 0) < ($1.seenAt ?? 0) }
            // A phone that sends only what is planned carries nothing.
            let device =
                try carrier?.carrier.flatMap { try transaction.device($0, of: id) }
                ?? transaction.devices(of: id, after: "", limit: .max)
                .max { ($0.lastUsedAt ?? 0) < ($1.lastUsedAt ?? 0) }
            let seen = [device?.lastUsedAt, device?.id == carrier?.carrier ? carrier?.seenAt : nil]
            return AppleConnector.Shown(
                uses: own.isEmpty
                    ? nil : (try transaction.readsPhone(of: id), own.contains { $0.state == .active }),
                wasEnded: try transaction.hasEndedPhone(id), device: device, seenAt: seen.compactMap(\.self).max())
        }
    }
}

extension ReadTransaction {
    /// Whether a user disconnected the phone here, and has not connected it since.
    ///
    /// A person who deletes the connection of one circle does not: the phone's own calendars go on without any.
    fileprivate func hasEndedPhone(_ user: String) throws -> Bool {
        try connections(of: user, by: .apple).isEmpty && !readsPhone(of: user)
    }
}

extension Refusal {
    /// 409: the person has turned off the reading of their phone's calendar.
    static let phoneUnread = Refusal.conflict(
        "The person has turned off the reading of their phone's calendar.", code: .connectorOff)
}
