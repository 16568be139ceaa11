// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
package import Storage

/// The person who looks at a page, and the page's circle, as every page shows them.
package struct Visitor: Sendable {
    /// The person's name in the page's circle, or else in their first one; the id of somebody who belongs to none.
    package let name: String
    /// The language of the person's pages as a BCP 47 tag; nil for the browser's preference.
    package let language: String?
    /// The zone in which times are shown: the person's own, otherwise the circle's.
    package let zone: TimeZoneReference
    /// The page's circle; nil for a page that belongs to none.
    package let circle: Circle?
    package let mayWrite: Bool
    /// How many open conflicts the person's connections have in the circle.
    package let openConflicts: Int

    fileprivate init(_ user: AuthorizedUser, _ circle: AuthorizedCircle?) throws {
        let (stored, transaction) = (try user.stored, user.transaction)
        let place = try circle?.circle ?? user.circles(limit: 1).first
        let member = try circle?.member ?? place.flatMap { try transaction.member(user.id, in: $0.id) }
        let zone = stored?.timeZone.flatMap { TimeZoneReference($0) }
        guard let zone = zone ?? TimeZoneReference(place?.timeZone ?? "UTC") ?? TimeZoneReference("UTC") else {
            throw StorageError.unusable("This machine has no time zone data.")
        }
        (self.zone, language, name) = (zone, stored?.language, member?.displayName ?? user.id)
        (self.circle, mayWrite) = (circle?.circle, member.map { $0.role.right >= .write } ?? false)
        openConflicts =
            try circle.map { circle in
                try transaction.connections(of: user.id, in: circle.id, after: "", limit: .max)
                    .reduce(0) { try $0 + transaction.counts(ofConnection: $1.id).conflicts }
            } ?? 0
    }
}

extension Services {
    /// Reads everything that a page of a circle shows, in one transaction.
    ///
    /// Throws 404 to those who do not belong to the circle, and 403 if they lack the right.
    ///
    /// - Parameter isLarge: whether `body` reads the whole circle or large records, taking turns with others.
    package func readForPage<Value: Sendable>(
        in circle: String, _ right: Right = .read, for caller: Caller, isLarge: Bool = false,
        _ body: @escaping @Sendable (AuthorizedCircle, Visitor) throws -> Value
    ) async throws -> (Value, Visitor) {
        let user = try Rights.user(caller.identity)
        let read: @Sendable (any ReadTransaction, CircleRoom?) throws -> (Value, Visitor) = { transaction, room in
            try transaction.expect { next in
                _ = try next.circle(circle)
                _ = try next.member(user, in: circle)
                _ = try next.user(user)
                _ = try next.connections(of: user, in: circle, after: "", limit: .max)
            }
            var circle = try Rights.authorized(circle, for: caller.identity, right, in: transaction)
            circle.room = room
            let visitor = try Visitor(try Rights.own(of: user, for: caller.identity, in: transaction), circle)
            return (try body(circle, visitor), visitor)
        }
        guard isLarge else { return try await store.read { try read($0, nil) } }
        return try await readInTurn(for: caller.payer, read).0
    }

    /// Reads everything that an operator's page shows, in one transaction.
    package func readForOperator<Value: Sendable>(
        _ caller: Caller, _ body: @escaping @Sendable (AuthorizedInstallation) throws -> Value
    ) async throws -> Value {
        try await store.read { try body(try Rights.everything(for: caller.identity, in: $0)) }
    }

    /// Reads everything that a page of a person's own shows, in one transaction.
    package func readForPage<Value: Sendable>(
        for caller: Caller, _ body: @escaping @Sendable (AuthorizedUser, Visitor) throws -> Value
    ) async throws -> (Value, Visitor) {
        try await acts.readOwn(for: caller) { user in
            let visitor = try Visitor(user, nil)
            return (try body(user, visitor), visitor)
        }
    }
}
