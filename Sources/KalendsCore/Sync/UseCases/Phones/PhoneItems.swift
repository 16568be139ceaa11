// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Logging
import Storage

/// Decides which device carries a connection's items, and when the items' events are made.
///
/// Only one device carries a connection at a time, the first that asks: two phones on one iCloud calendar would make
/// duplicates. Events are made when their device sends a request and something has changed since its last one, so a
/// request without changes costs only a look at a version.
package struct PhoneItems: Sendable {
    let context: SyncContext
    let logger: Logger

    /// Milliseconds without a request after which another device may take over.
    static let absence = 7 * 86_400_000
    /// Milliseconds between two updates of the time of a carrier's last request.
    private static let attention = 3_600_000

    /// Returns the parts of the marks of the caller's events.
    package func marks(for caller: Caller) async throws -> PhoneMarks {
        let user = try Rights.user(caller.identity)
        return try await context.store.read { transaction in
            PhoneMarks(
                installation: try transaction.installationID(), ofSources: try transaction.phoneMarks(of: user))
        }
    }

    /// The work that a device's request requires for one source.
    private struct Need: Sendable {
        var carrier: PhoneCarrier
        /// Nil for office days without a connection.
        var own: Connection?
        /// Whether the device begins to carry the source.
        var claims = false
        /// The state on which the items' events depend; nil when they need not be made again.
        var shown: String?
    }

    /// Does the work that a caller's request requires: the device begins to carry sources without a carrier, and the
    /// events of changed items are made.
    ///
    /// - Parameter since: the time up to which the caller has received all changes; nil for a caller who does not ask
    ///   for items and therefore begins to carry nothing.
    package func attend(_ caller: Caller, since: Int?) async throws {
        let user = try Rights.user(caller.identity)
        let (device, now, settings) = (caller.device, context.now(), context.settings)
        let needs = try await context.store.read { transaction in
            let known = Dictionary(
                try transaction.phoneCarriers(of: user).map { (ByteString($0.source), $0) }, uniquingKeysWith: { $1 })
            var sources = try transaction.connections(of: user, by: .apple).filter { $0.state == .active }
                .map { ($0.id, Connection?.some($0)) }
            if known[ByteString(PhoneCarrier.officeDays)] != nil { sources.append((PhoneCarrier.officeDays, nil)) }
            return try sources.compactMap { source, own -> Need? in
                var need = Need(
                    carrier: known[ByteString(source)] ?? PhoneCarrier(of: user, source: source), own: own)
                need.claims = try since != nil && Self.isFree(need.carrier, for: device, now: now, transaction)
                guard need.claims || need.carrier.carrier == device else { return nil }
                if let own { need.shown = try Self.change(of: own, need.carrier, settings, now, transaction) }
                let isSeen = device == nil || now - (need.carrier.seenAt ?? 0) < Self.attention
                let isNew = !isSeen || (since ?? 0) > need.carrier.deliveredAt
                return need.claims || need.shown != nil || isNew ? need : nil
            }
        }
        for need in needs {
            if need.claims, let device {
                try await give(need.carrier, need.own, to: device, for: caller)
            } else {
                try await note(need.carrier, since: since, now: now)
            }
            if let own = need.own, let shown = need.shown, try await run(own) {
                try await note(need.carrier, shown: shown)
            }
        }
    }

    /// Whether a device's request makes it the carrier of a source.
    private static func isFree(
        _ own: PhoneCarrier, for device: String?, now: Int, _ transaction: any ReadTransaction
    ) throws -> Bool {
        guard let device, own.carrier != device else { return false }
        guard let carrier = own.carrier, try transaction.device(carrier, of: own.userID) != nil else { return true }
        return now - (own.seenAt ?? 0) > absence
    }

    /// Returns the state on which a connection's events depend; nil when the events were already made from it.
    private static func change(
        of own: Connection, _ carrier: PhoneCarrier, _ settings: ServerSettings, _ now: Int,
        _ transaction: any ReadTransaction
    ) throws -> String? {
        guard let circle = try transaction.circle(own.circleID) else { return nil }
        let role = try transaction.member(own.userID, in: circle.id)?.role
        let day = FeedDay(try circle.zone, now: now).date
        let shown =
            "\(circle.version) \(day) \(own.config) \(role.map { "\($0.right)" } ?? "") \(settings.titlePrefix)"
        if shown != carrier.shown { return shown }
        let isDue = try own.nextSyncAt.map { $0 <= now } ?? false || transaction.pendingSync(of: own.id) != nil
        return isDue ? shown : nil
    }

    // MARK: Carriers

    /// Makes a device the carrier of a source.
    private func give(_ carrier: PhoneCarrier, _ own: Connection?, to device: String, for caller: Caller) async throws {
        let (user, source) = (carrier.userID, carrier.source)
        try await context.acts.act(
            on: .user(user, touchingNoCircle: "No feed shows what a phone carries."), for: caller
        ) { act in
            let (transaction, now) = (act.transaction, act.now)
            let present =
                try transaction.phoneCarrier(of: user, source: source) ?? PhoneCarrier(of: user, source: source)
            guard try Self.isFree(present, for: device, now: now, transaction) else { return .unchanged(()) }
            if own != nil, try transaction.connection(source) == nil { return .unchanged(()) }
            try transaction.give(present, to: device, now: now)
            if let own = try transaction.connection(source) {
                try transaction.putConnection(own, .updated, now: now)
            }
            return ActResult(noting: AuditNote(.connectionDeviceChosen, source, detail: ["device": .string(device)]))
        }
    }

    /// Makes a device carry a connection's items from now on; throws 422 for a device that the user has not registered,
    /// and 409 for a connection that is not carried by phones.
    ///
    /// - Parameter name: returns the name under which the device registered; throws 422 with the faults of the request.
    package func choose(
        _ name: @escaping @Sendable () throws -> String, of id: String, for caller: Caller
    ) async throws -> Connections.Shown {
        let (settings, switches) = (context.settings.connections, context.switches)
        return try await context.acts.act(on: .connection(id), for: caller) { act in
            let (own, transaction, now) = (act.target, act.transaction, act.now)
            let name = try name()
            guard own.provider == .apple else {
                throw Refusal.conflict("No phone carries this connection.", code: .providerMismatch)
            }
            guard let device = try transaction.device(named: name, of: own.userID) else {
                throw Refusal.invalid("/deviceId", code: .unknownReference, "The user has no such device.")
            }
            let carrier =
                try transaction.phoneCarrier(of: own.userID, source: id) ?? PhoneCarrier(of: own.userID, source: id)
            let shown = try Connections.Shown(own, for: caller.identity, settings, in: transaction)
            guard carrier.carrier != device.id else { return .unchanged(shown) }
            try switches.take(own.userID, now: now, "A user's calendars move to another phone")
            try transaction.give(carrier, to: device.id, now: now)
            // Office days without their own connection move with the phone that carried them.
            if let days = try transaction.phoneCarrier(of: own.userID, source: PhoneCarrier.officeDays),
                days.carrier != nil, days.carrier == carrier.carrier
            {
                try transaction.give(days, to: device.id, now: now)
            }
            try transaction.putConnection(own, .updated, now: now)
            return ActResult(
                shown, noting: AuditNote(.connectionDeviceChosen, id, detail: ["device": .string(device.id)]))
        }
    }

    // MARK: Reports of devices

    /// Lets connections judge a device's changes, and adds the items that wait for a person to the result.
    ///
    /// - Parameter problem: what keeps the device from its calendars; nil when nothing does.
    package func judge(_ taken: inout PersonalEvents.Taken, problem: PhoneProblem?, for caller: Caller) async throws {
        let user = try Rights.user(caller.identity)
        for source in taken.sources {
            guard let own = try await context.store.read({ try $0.connection(source.string) }), own.userID == user,
                own.state == .active
            else { continue }
            _ = try await run(own)
        }
        try await report(problem, of: user, for: caller)
        let items = taken.taken.compactMap { $0.event }.filter { $0.source != nil }
        guard !items.isEmpty else { return }
        taken.undecided = try await context.store.read { transaction in
            var open: [ByteString: Set<ItemKey>] = [:]
            for source in Set(items.compactMap { $0.source.map { ByteString($0) } }) {
                open[source] = try transaction.undecidedItems(of: source.string)
            }
            return Set(
                items.filter { event in
                    event.item.map { item in
                        open[ByteString(event.source ?? "")]?.contains(item) ?? false
                    } ?? false
                }.map { ByteString($0.id) })
        }
    }

    // MARK: Runs

    /// How long to wait for another run of a connection.
    private static let patience = Duration.seconds(10)

    /// Runs a connection now, twice when its first run may not delete. If the connection stays busy for too long, the
    /// existing events have to do, and the next request tries again.
    ///
    /// - Returns: whether it ran.
    private func run(_ own: Connection) async throws -> Bool {
        let (id, settings) = (own.id, context.settings)
        let isOtherBaseline = try await context.store.read { transaction in
            guard let stored = try transaction.syncPosition(of: id) else { return false }
            let position: Position = try storedRecord(stored)
            let present = try ConnectionParts(own, in: transaction, settings).fingerprint()
            return position.fingerprint != present || position.isBegun == true
        }
        for _ in 0..<(isOtherBaseline ? 2 : 1) {
            guard try await runOnce(own) else { return false }
        }
        return true
    }

    private func runOnce(_ own: Connection) async throws -> Bool {
        let id = own.id
        let end = ContinuousClock.now + Self.patience
        while ContinuousClock.now < end {
            if context.sync.enterAsked(own) {
                defer { context.sync.leave(id) }
                if try await ConnectionRun(context: context, logger: logger, id: id).go() { return true }
                // Either a person's decision holds the lease for a moment, or the connection has ended.
                guard try await context.store.read({ try $0.connection(id)?.state }) == .active else { return false }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        return false
    }

    /// Notes the time of a carrier's request and the changes that it has received.
    private func note(_ own: PhoneCarrier, since: Int?, now: Int) async throws {
        let delivered = since ?? 0
        guard delivered > own.deliveredAt || now - (own.seenAt ?? 0) >= Self.attention else { return }
        try await context.store.record { transaction in
            let stored = try transaction.phoneCarrier(of: own.userID, source: own.source) ?? own
            guard stored.carrier == own.carrier, stored.turn == own.turn else { return }
            var present = stored
            // A device cannot have received changes that do not exist yet.
            let last = try transaction.personalCalendar(of: own.userID).lastAt
            present.deliveredAt = max(present.deliveredAt, min(delivered, last))
            if present.carrier != nil { present.seenAt = now }
            try transaction.putPhoneCarrier(present)
        }
    }

    /// Notes the state from which a connection's events were made.
    private func note(_ own: PhoneCarrier, shown: String) async throws {
        try await context.store.record { transaction in
            guard try transaction.connection(own.source) != nil else { return }
            var present = try transaction.phoneCarrier(of: own.userID, source: own.source) ?? own
            present.shown = shown
            try transaction.putPhoneCarrier(present)
        }
    }
}

extension PersonalEvent {
    /// The item that the event shows.
    var item: ItemKey? {
        tie.flatMap { tie in ItemKey.Collection(text: tie.collection).map { ItemKey($0, tie.itemID) } }
    }
}
