// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import FeedTokens
package import Storage

/// The connections that keep people's calendars in step with a circle: lists, shows and creates them.
package struct Connections: Sendable {
    let context: SyncContext

    /// A connection with its counters.
    package struct Shown: Sendable {
        package let own: Connection
        package let counts: SyncCounts
        package let attention: [ConnectionAttention]

        init(
            _ own: Connection, for caller: Identity, _ settings: ConnectionSettings,
            in transaction: any ReadTransaction
        ) throws {
            self.own = own
            counts = try transaction.counts(ofConnection: own.id)
            let heldBack =
                counts.heldBack == 0
                ? [] : try transaction.heldBackLinks(of: own.id, limit: ConnectionAttention.mostItems)
            let held = try transaction.syncRuns(of: own.id, in: .held).first
            let record: RunRecord? = try held.map { try storedRecord($0.content) }
            attention = ConnectionAttention.all(
                of: own, counts, heldRun: held.flatMap { row in record.map { (row, $0) } },
                heldBack: try heldBack.map(ConnectionAttention.init(heldBack:)),
                shortened: try Self.shortened(of: own, in: transaction), settings
            ).filter { $0.item.map { caller.mayKnow(itemOf: $0.collection) } ?? true }
        }

        /// What the calendar keeps only in part, as seen by the latest run that finished.
        private static func shortened(
            of own: Connection, in transaction: any ReadTransaction
        ) throws -> [ConnectionAttention] {
            guard own.lastSyncAt != nil, own.calendarID != nil,
                let done = try transaction.latestSyncRun(of: own.id, in: .done)
            else { return [] }
            let record: RunRecord = try storedRecord(done.content)
            return record.shortened.map { ConnectionAttention.all(of: $0, at: done.startedAt) } ?? []
        }
    }

    /// The fields of a request for a new connection.
    package struct Draft: RequestContent {
        /// Nil only together with a fault for it.
        package var provider: Connection.Provider?
        package var label: String?
        package var configuration = ConnectionConfiguration()
        /// The owner; the installation must name one, a user's connections are always the user's own.
        package var userID: String?
        /// The faults of the request; reported only to callers who may see the circle.
        package var faults = FaultList()

        package init() {}

        package static func fields(_ kinds: ItemKinds) -> [ItemPart<Self>] {
            [
                .taken("provider", \.provider, .choice, isRequired: true), .taken("label", \.label, .looseText()),
                .taken(
                    "userId", \.userID,
                    .identifier.described("The connection's owner; only for a service key.")),
                .options(\.configuration, kinds),
            ]
        }

        package static let example: JSONValue = [
            "provider": "caldav", "label": "Work", "userId": "jane", "config": ["detail": "titles"],
        ]
    }

    /// Returns the caller's connections of a circle, or all of them for the installation, in order of id.
    package func list(_ page: PageRequest, in circle: String, for caller: Caller) async throws -> [Shown] {
        try await context.acts.read(in: circle, for: caller) { [settings] in try $0.connections(page, settings) }
    }

    /// Returns one connection; throws 404 for a connection that is not the caller's.
    package func get(_ id: String, for caller: Caller) async throws -> Shown {
        try await context.store.read { [settings] transaction in
            let own = try Rights.connection(id, for: caller.identity, in: transaction)
            return try Shown(own, for: caller.identity, settings, in: transaction)
        }
    }

    /// Creates a connection; throws 409 when the user has one of this provider with this label or has the maximum
    /// number of connections, and for a provider that the operator has not set up.
    package func create(_ draft: Draft, in circle: String, for caller: Caller) async throws -> Shown {
        let (settings, id) = (settings, FeedLedger.makeID())
        let most = context.settings.quotas.clamped(to: caller.identity).connectionsPerUser
        return try await context.acts.act(on: Self.actTarget(in: circle), for: caller) { act in
            let transaction = act.transaction
            var faults = draft.faults
            if let fault = caller.ownerFault(draft.userID, of: "a connection") { faults.append(fault) }
            guard faults.isEmpty, let provider = draft.provider, let user = caller.userID ?? draft.userID else {
                throw Refusal.invalid(faults)
            }
            guard try transaction.member(user, in: circle) != nil else {
                throw Refusal.invalid("/userId", code: .unknownReference, "The circle has no such member.")
            }
            try Feeds.checkPatients(draft.configuration.feed.patientIds, in: circle, transaction)
            // A phone has its user's whole calendar.
            if provider == .apple, caller.identity.bound != nil { throw Refusal.boundKey }
            try settings.check(provider)
            if let other = try transaction.connection(labelled: draft.label, by: provider, of: user, in: circle) {
                throw Refusal.labelTaken(by: other)
            }
            guard try transaction.connectionCount(of: user, in: circle) < most else {
                throw Refusal.quota("A user has", most, "connections in a circle")
            }
            let own = Connection(
                id: id, circleID: circle, userID: user, provider: provider, label: draft.label,
                config: try draft.configuration.stored(context.settings.kinds), now: act.now)
            if provider == .apple { try transaction.takePhoneMark(own) }
            try transaction.putConnection(own, .created, now: act.now)
            // A person who connects a phone wants it to be read, even if they turned that off before.
            if provider == .apple, try !transaction.readsPhone(of: user) {
                try transaction.putReadsPhone(true, of: user, now: act.now)
            }
            return ActResult(
                try Shown(own, for: caller.identity, settings, in: transaction),
                noting: AuditNote(
                    .connectionCreated, id, detail: ["provider": .string(provider.rawValue), "user": .string(user)]))
        }
    }

    var settings: ConnectionSettings { context.settings.connections }

    private static func actTarget(in circle: String) -> ActTarget<Circle> {
        .circle(circle, .read, touchingNoFeed: "No feed shows a connection.")
    }
}

extension AuthorizedUser {
    /// Returns the user's connections of one of their circles, in order of id.
    package func connections(in circle: String, limit: Int) throws -> [Connection] {
        try transaction.connections(of: id, in: circle, after: "", limit: limit)
    }
}

extension AuthorizedCircle {
    /// Returns the caller's connections of the circle, or all of them for the installation, in order of id.
    package func connections(_ page: PageRequest, _ settings: ConnectionSettings) throws -> [Connections.Shown] {
        let found =
            if let user {
                try transaction.connections(of: user, in: id, after: page.after, limit: page.limit)
            } else {
                try transaction.connections(in: id, after: page.after, limit: page.limit)
            }
        return try found.map { try Connections.Shown($0, for: caller, settings, in: transaction) }
    }

    /// Returns a connection as `connection` does, with its counters.
    package func shownConnection(_ id: String, _ settings: ConnectionSettings) throws -> Connections.Shown {
        try Connections.Shown(try connection(id), for: caller, settings, in: transaction)
    }
}

extension ConnectionSettings {
    /// Throws 409 with the missing settings for a provider that the operator has not set up.
    func check(_ provider: Connection.Provider) throws {
        let missing = missing(for: provider)
        guard let first = missing.first else { return }
        throw Refusal.conflict(
            "This server has no access to \(provider.name): its operator has not set \(first.variable).",
            code: .providerUnavailable, extra: .settings(missing.map(\.variable)))
    }
}

extension Connection.Provider {
    /// The provider's name for people.
    package var name: String {
        switch self {
        case .google: "Google Calendar"
        case .outlook: "Outlook"
        case .caldav: "CalDAV"
        case .apple: "Apple Calendar"
        }
    }
}

extension Refusal {
    static func labelTaken(by other: Connection) -> Refusal {
        .conflict(
            "This user has a connection with \(other.provider.name) in this circle "
                + "\(other.label == nil ? "without a label" : "with this label"): \(other.id).", code: .labelTaken,
            extra: .connection(other.id))
    }
}
