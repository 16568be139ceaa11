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
        case .operatorAtHand, .user, .userWithin, .service(_, nil, _): return
        case .device:
            guard acceptsDevices else {
                throw Refusal(
                    .forbidden, code: .deviceNotAllowed,
                    detail: "A device's token opens only the routes for devices.")
            }
        case .service(_, let scopes?, _):
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
        try authorized(id, for: caller, right, of: resource, in: transaction).circle
    }

    /// Returns the circle as `circle` does, for more reads in the same transaction.
    static func authorized(
        _ id: String, for caller: Identity, _ right: Right = .read, of resource: Refusal.Resource = .circle,
        in transaction: any ReadTransaction
    ) throws -> AuthorizedCircle {
        guard caller.reaches(id) else { throw Refusal.missing(resource) }
        if let user = caller.userID {
            try transaction.expect { next in
                _ = try next.circle(id)
                _ = try next.member(user, in: id)
            }
        }
        guard let circle = try transaction.circle(id) else { throw Refusal.missing(resource) }
        guard let user = caller.userID else { return AuthorizedCircle(circle, caller, nil, transaction) }
        guard let member = try transaction.member(user, in: id) else { throw Refusal.missing(resource) }
        guard member.role.right >= right else { throw Refusal.forbidden }
        return AuthorizedCircle(circle, caller, member, transaction)
    }

    /// Returns a user for reads of what is theirs; throws 404 unless the user is the caller or the caller acts for the
    /// installation.
    static func own(
        of user: String, for caller: Identity, in transaction: any ReadTransaction
    ) throws -> AuthorizedUser {
        guard caller.bound == nil, caller.isInstallation || caller.userID.map({ $0 == user }) == true else {
            throw Refusal.missing(.user)
        }
        return AuthorizedUser(user, transaction)
    }

    /// Returns an import and its circle, if the caller has the right in it.
    ///
    /// Throws 404 for an import that is not committed, except to its maker and the installation: nobody else is meant to
    /// see or use a preview.
    static func `import`(
        _ id: String, for caller: Identity, _ right: Right, in transaction: any ReadTransaction
    ) throws -> (ImportRecord, AuthorizedCircle) {
        guard let record = try transaction.importRecord(id), record.isShown(to: caller) else {
            throw Refusal.missing(.import)
        }
        return (record, try authorized(record.circleID, for: caller, right, of: .import, in: transaction))
    }

    /// Returns the feed if it is the caller's own and they are still in its circle, or if the caller acts for the
    /// installation; otherwise throws 404.
    static func feed(_ id: String, for caller: Identity, in transaction: any ReadTransaction) throws -> Feed {
        guard let feed = try transaction.feed(id), caller.mayKnow(feed) else { throw Refusal.missing(.feed) }
        guard let user = caller.userID else { return feed }
        guard feed.userID == user, try transaction.member(user, in: feed.circleID) != nil else {
            throw Refusal.missing(.feed)
        }
        return feed
    }

    /// Returns the app password if it is the caller's own, or if the caller acts for the installation; otherwise, and for
    /// one that was ended, throws 404.
    static func appPassword(
        _ id: String, for caller: Identity, in transaction: any ReadTransaction
    ) throws -> AppPassword {
        guard let password = try transaction.appPassword(id), password.endedAt == nil,
            caller.userID.map({ $0 == password.userID }) ?? true
        else { throw Refusal.missing(.appPassword) }
        return password
    }

    /// Returns the connection if it is the caller's own and they are still in its circle, or if the caller acts for the
    /// installation; otherwise throws 404.
    static func connection(
        _ id: String, for caller: Identity, of resource: Refusal.Resource = .connection,
        in transaction: any ReadTransaction
    ) throws -> Connection {
        guard let own = try transaction.connection(id), caller.reaches(own.circleID) else {
            throw Refusal.missing(resource)
        }
        guard let user = caller.userID else { return own }
        guard own.userID == user, try transaction.member(user, in: own.circleID) != nil else {
            throw Refusal.missing(resource)
        }
        return own
    }

    /// Returns the installation for reads of anything; throws 403 unless the caller acts for it.
    static func everything(
        for caller: Identity, in transaction: any ReadTransaction
    ) throws -> AuthorizedInstallation {
        try installation(caller)
        return AuthorizedInstallation(caller.bound, transaction)
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

    /// Throws 403 unless the caller may grant and revoke these scopes, and 404 for circles that it does not have: only
    /// those it has itself.
    ///
    /// - Parameters:
    ///   - scopes: nil for everything.
    ///   - bound: the circles of the key; nil for all.
    static func give(_ scopes: Set<Scope>?, in bound: CircleBound?, by caller: Identity) throws {
        if let own = caller.bound {
            guard let bound, own.includes(bound) else { throw Refusal.missing(.circle) }
        }
        guard case .service(_, let own?, _) = caller else { return }
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

/// A circle with the transaction in which the caller's right in it was checked, so that what reads of it need not check
/// again.
///
/// Only `Rights` makes one, and it cannot leave its transaction.
package struct AuthorizedCircle {
    package let circle: Circle
    let caller: Identity
    /// The caller; nil for the installation.
    package let member: Member?
    let transaction: any ReadTransaction
    /// The room that a read of the whole circle takes; nil in a read that does not take turns with others.
    var room: CircleRoom?

    fileprivate init(
        _ circle: Circle, _ caller: Identity, _ member: Member?, _ transaction: any ReadTransaction
    ) {
        (self.circle, self.caller, self.member, self.transaction) = (circle, caller, member, transaction)
    }

    package var id: String { circle.id }
    /// The calling user; nil for the installation.
    package var user: String? { caller.userID }

    /// Returns a feed of the circle if it is the caller's own, or any for the installation; otherwise throws 404.
    package func feed(_ id: String) throws -> Feed {
        guard let feed = try transaction.feed(id), feed.circleID == self.id, caller.mayKnow(feed),
            user.map({ $0 == feed.userID }) ?? true
        else { throw Refusal.missing(.feed) }
        return feed
    }

    /// Returns an import into the circle; throws 404 for a preview, except to its maker and the installation.
    func `import`(_ id: String) throws -> ImportRecord {
        guard let record = try transaction.importRecord(id), record.circleID == self.id, record.isShown(to: caller)
        else { throw Refusal.missing(.import) }
        return record
    }

    /// Returns a connection of the circle if it is the caller's own, or any for the installation; otherwise throws 404.
    package func connection(_ id: String) throws -> Connection {
        guard let own = try transaction.connection(id), own.circleID == self.id, user.map({ $0 == own.userID }) ?? true
        else { throw Refusal.missing(.connection) }
        return own
    }
}

/// A user with the transaction in which what is theirs may be read, as `AuthorizedCircle` is for a circle.
package struct AuthorizedUser {
    package let id: String
    let transaction: any ReadTransaction

    fileprivate init(_ id: String, _ transaction: any ReadTransaction) {
        (self.id, self.transaction) = (id, transaction)
    }

    /// The user's properties; nil for a user without any.
    package var stored: User? { get throws { try transaction.user(id) } }

    /// Returns the user's circles in order of id.
    package func circles(limit: Int) throws -> [Circle] { try transaction.circles(of: id, after: "", limit: limit) }

    /// Returns a circle of the user.
    package func circle(_ id: String) throws -> AuthorizedCircle {
        try Rights.authorized(id, for: .user(self.id), in: transaction)
    }
}

/// The installation with the transaction in which all of it may be read.
package struct AuthorizedInstallation {
    /// The circles to which the caller's key is bound; nil for all.
    let bound: CircleBound?
    let transaction: any ReadTransaction

    fileprivate init(_ bound: CircleBound?, _ transaction: any ReadTransaction) {
        (self.bound, self.transaction) = (bound, transaction)
    }
}

extension Identity {
    /// Whether a feed may exist for the caller: one that also shows a user's own calendar is not only its circle's.
    func mayKnow(_ feed: Feed) -> Bool { reaches(feed.circleID) && (bound == nil || !feed.showsOwn) }

    /// Returns up to a given number of elements of a list that may exist for the caller; only those of a bound key
    /// leave any out.
    ///
    /// - Parameters:
    ///   - last: the element after which they begin; nil for the list's beginning.
    ///   - fetch: returns up to a given number of elements of the list after a given one.
    func known<Element>(
        after last: Element?, _ count: Int, where mayKnow: (Element) -> Bool,
        _ fetch: (_ last: Element?, _ count: Int) throws -> [Element]
    ) throws -> [Element] {
        guard bound != nil else { return try fetch(last, count) }
        var (found, last) = ([Element](), last)
        // A short page of a long list, most of which the caller may not see, takes fewer queries.
        let size = max(count, 25)
        while found.count < count {
            let next = try fetch(last, size)
            found += next.filter(mayKnow)
            guard next.count == size else { break }
            last = next.last
        }
        return Array(found.prefix(count))
    }
}

extension ImportRecord {
    /// Whether those who may see the circle's imports may see this one: a preview is its maker's.
    fileprivate func isShown(to caller: Identity) -> Bool {
        state != .previewed || caller.userID.map { $0 == importedBy } ?? true
    }
}

extension Refusal {
    /// 404 for what concerns no circle, or more than its own, when a key is bound to circles.
    package static let boundKey = Refusal(
        .missing, detail: "This does not exist for a service key that is bound to circles.")

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
