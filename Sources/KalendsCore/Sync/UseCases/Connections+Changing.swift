// SPDX-License-Identifier: Apache-2.0

package import Storage

extension Connections {
    /// What to change in a connection.
    package struct Change: RequestContent {
        package var label = Edit<String>.keep
        /// Changes the connection's configuration; nil leaves it as it is. It may be called more than once.
        package var configure: (@Sendable (inout ConnectionConfiguration) -> Void)?
        package var paused: Bool?
        /// The faults of the request; reported only to callers who may see the connection.
        package var faults = FaultList()

        package init() {}

        package static func fields(_ kinds: ItemKinds) -> [ItemPart<Self>] {
            [
                .options(\.configure, kinds), .edited("label", \.label, .looseText()),
                .taken("paused", \.paused, .flag),
            ]
        }

        package static let example: JSONValue = ["label": "Home"]
    }

    /// Changes, pauses or resumes a connection; throws 409 when its state does not allow that.
    package func change(
        _ id: String, _ change: Change, if condition: Precondition<Connection>, for caller: Caller
    ) async throws -> Shown {
        let settings = settings
        return try await context.acts.act(on: .connection(id), for: caller) { act in
            let (transaction, now, old) = (act.transaction, act.now, act.target)
            if !change.faults.isEmpty { throw Refusal.invalid(change.faults) }
            try condition.check(old)
            var own = old
            own.label = change.label.applied(to: old.label)
            if let other = try transaction.connection(
                labelled: own.label, by: own.provider, of: own.userID, in: own.circleID), other.id != id
            {
                throw Refusal.labelTaken(by: other)
            }
            let before = try ConnectionConfiguration(stored: old.config, context.settings.kinds)
            var configuration = before
            change.configure?(&configuration)
            if configuration.feed.patientIds != before.feed.patientIds {
                try Feeds.checkPatients(configuration.feed.patientIds, in: own.circleID, transaction)
            }
            if configuration != before {
                own.config = try configuration.stored(context.settings.kinds)
                own.comeSoon(now: now)
            }
            if let paused = change.paused { try own.pause(paused, now: now) }
            let changed: [ByteString: Bool] = [
                "config": configuration != before, "label": own.label != old.label, "paused": own.state != old.state,
            ]
            if own != old {
                own.updatedAt = now
                try transaction.putConnection(own, .updated, now: now)
            }
            return .changed(
                try Shown(own, for: caller.identity, settings, in: transaction),
                noting: AuditNote(.connectionChanged, id, changed: changed))
        }
    }
}

extension Connection {
    /// Pauses or resumes; throws 409 in a state in which the connection does not run anyway.
    fileprivate mutating func pause(_ paused: Bool, now: Int) throws {
        switch (state, paused) {
        case (.active, true): turn(to: .paused, now: now)
        case (.paused, false):
            turn(to: .active, now: now)
            comeSoon(now: now)
        case (.paused, true), (_, false): break
        case (_, true):
            throw Refusal.conflict(
                "This connection is \(state.rawValue): nothing runs that could be paused.", code: .connectionInactive)
        }
    }
}

extension ActTarget<Connection> {
    /// One of the caller's own connections, or any connection for the installation.
    ///
    /// - Parameter resource: what a refusal reports as missing when the request named something of the connection.
    static func connection(_ id: String, of resource: Refusal.Resource = .connection) -> ActTarget {
        ActTarget(touchingNoCircle: "No feed shows a connection.") { transaction, caller in
            let own = try Rights.connection(id, for: caller.identity, of: resource, in: transaction)
            return Opened(target: own, circle: own.circleID)
        }
    }
}
