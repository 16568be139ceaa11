// SPDX-License-Identifier: Apache-2.0

package import Storage

/// A right in a circle; each right includes those before it.
package enum Right: Int, Comparable {
    /// See the circle and its schedule, and have feeds.
    case read
    /// Change the schedule, and import.
    case write
    /// Change the circle, its members and its patients.
    case manage

    package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension Member.Role {
    /// The right that a role gives.
    package var right: Right {
        switch self {
        case .viewer: .read
        case .member: .write
        case .owner: .manage
        }
    }
}

/// The only place that decides who may do what.
package enum Rights {
    /// Throws 403 unless the caller may use this route at all, whatever the object.
    ///
    /// - Parameter need: what the route requires of a key.
    package static func route(_ need: KeyNeed, acceptsDevices: Bool, for caller: Identity) throws {
        switch caller {
        case .operatorAtHand, .user, .service(_, nil): return
        case .device:
            guard acceptsDevices else {
                throw Refusal(
                    .forbidden, code: .deviceNotAllowed,
                    detail: "A device's token opens only the routes for devices.")
            }
        case .service(_, let scopes?):
            guard let needed = need.scope else {
                throw Refusal(
                    .forbidden, code: .keyLimited, detail: "This needs a service key without scopes.")
            }
            guard scopes.contains(needed) else { throw Refusal.scopeMissing(needed) }
        }
    }

    /// Throws 403 unless a user's token with these scopes may use this route.
    package static func token(_ need: KeyNeed, within scopes: Set<Scope>) throws {
        guard let needed = need.scope else {
            throw Refusal(.forbidden, code: .keyLimited, detail: "This needs a token without scopes.")
        }
        guard scopes.contains(needed) else { throw Refusal.tokenScopeMissing(needed) }
    }

    /// Returns the circle, if the caller has the right in it.
    ///
    /// Throws 404 if the circle does not exist or the caller is not a member, so that nobody learns of other people's
    /// circles. Throws 403 if a member's role does not give the right.
    ///
    /// - Parameter resource: what the path names, if that is something in the circle.
    static func circle(
        _ id: String, for caller: Identity, _ right: Right, of resource: Refusal.Resource = .circle,
        in transaction: any ReadTransaction
    ) throws -> Circle {
        guard let circle = try transaction.circle(id) else { throw Refusal.missing(resource) }
        guard let user = caller.userID else { return circle }
        guard let member = try transaction.member(user, in: id) else { throw Refusal.missing(resource) }
        guard member.role.right >= right else { throw Refusal.forbidden }
        return circle
    }

    /// Returns an import and its circle, if the caller has the right in it.
    ///
    /// Throws 404 for an import that is not committed, except to its maker and the installation: nobody else is meant to
    /// see or use a preview.
    static func `import`(
        _ id: String, for caller: Identity, _ right: Right, in transaction: any ReadTransaction
    ) throws -> (ImportRecord, Circle) {
        guard let record = try transaction.importRecord(id) else { throw Refusal.missing(.import) }
        if record.state == .previewed, let user = caller.userID {
            guard let maker = record.importedBy, maker == user else { throw Refusal.missing(.import) }
        }
        return (record, try circle(record.circleID, for: caller, right, of: .import, in: transaction))
    }

    /// Returns the feed if it is the caller's own and they are still in its circle, or if the caller acts for the
    /// installation; otherwise throws 404.
    static func feed(_ id: String, for caller: Identity, in transaction: any ReadTransaction) throws -> Feed {
        guard let feed = try transaction.feed(id) else { throw Refusal.missing(.feed) }
        guard let user = caller.userID else { return feed }
        guard feed.userID == user, try transaction.member(user, in: feed.circleID) != nil else {
            throw Refusal.missing(.feed)
        }
        return feed
    }

    /// Returns the connection if it is the caller's own and they are still in its circle, or if the caller acts for the
    /// installation; otherwise throws 404.
    static func connection(
        _ id: String, for caller: Identity, of resource: Refusal.Resource = .connection,
        in transaction: any ReadTransaction
    ) throws -> Connection {
        guard let own = try transaction.connection(id) else { throw Refusal.missing(resource) }
        guard let user = caller.userID else { return own }
        guard own.userID == user, try transaction.member(user, in: own.circleID) != nil else {
            throw Refusal.missing(resource)
        }
        return own
    }

    /// Throws 403 unless the caller acts for the installation.
    package static func installation(_ caller: Identity) throws {
        guard caller.isInstallation else { throw Refusal.installationOnly }
    }

    /// Returns the caller's user; throws 403 for the installation, which names no user.
    package static func user(_ caller: Identity) throws -> String {
        guard let user = caller.userID else {
            throw Refusal(
                .forbidden, code: .userRequired,
                detail: "These belong to a user. A service key must name the user in Kalends-User.")
        }
        return user
    }

    /// Throws 403 unless the caller may grant and revoke these scopes: only those it has itself.
    ///
    /// - Parameter scopes: nil for everything.
    static func give(_ scopes: Set<Scope>?, by caller: Identity) throws {
        guard case .service(_, let own?) = caller else { return }
        guard let scopes else {
            throw Refusal(
                .forbidden, code: .scopesExceeded,
                detail: "A key with scopes can make and revoke only keys with the same or fewer scopes.")
        }
        if let first = Scope.allCases.first(where: { scopes.contains($0) && !own.contains($0) }) {
            throw Refusal.scopeMissing(first)
        }
    }
}

extension Refusal {
    static let installationOnly = Refusal(
        .forbidden, code: .installationRequired,
        detail: "This is only for the host application: call it with a service key.")

    /// Creates a 403 refusal with the scope that a key lacks (RFC 6750 section 3.1).
    static func scopeMissing(_ scope: Scope) -> Refusal {
        Refusal(
            .lacksScope(scope.rawValue), detail: "The key lacks the scope \(scope.rawValue).")
    }

    /// Creates a 403 refusal with the scope that a user's token lacks.
    fileprivate static func tokenScopeMissing(_ scope: Scope) -> Refusal {
        let name = TokenScopes.prefix + scope.rawValue
        return Refusal(.lacksScope(name), detail: "The token lacks the scope \(name).")
    }
}
