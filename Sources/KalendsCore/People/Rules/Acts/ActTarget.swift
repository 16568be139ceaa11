// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Storage

/// The target of an act, which is looked up in the act's own transaction with the right that the caller needs.
struct ActTarget<Target>: Sendable {
    /// The values that an act receives from its target.
    struct Opened {
        var target: Target
        /// The circle that the audit trail names with the act; nil when it names no circle.
        var circle: String?
    }

    /// Whether the act may change what feeds show.
    let touchesCircles: Bool
    /// Throws `Refusal` when the target does not exist or the caller's right does not suffice.
    let open: @Sendable (any WriteTransaction, Caller) throws -> Opened

    /// A target that feeds show; `open` names the circle that it concerns.
    init(touchingCircles open: @escaping @Sendable (any WriteTransaction, Caller) throws -> Opened) {
        (touchesCircles, self.open) = (true, open)
    }

    /// A target that no feed shows.
    ///
    /// - Parameter reason: why no cached response depends on it.
    init(
        touchingNoCircle reason: StaticString,
        _ open: @escaping @Sendable (any WriteTransaction, Caller) throws -> Opened
    ) {
        (touchesCircles, self.open) = (false, open)
    }
}

extension ActTarget<Circle> {
    /// A circle in which the caller has a right.
    ///
    /// - Parameter resource: what a refusal reports as missing when the request named something in the circle.
    static func circle(_ id: String, _ right: Right, of resource: Refusal.Resource = .circle) -> ActTarget {
        ActTarget(touchingCircles: { transaction, caller in
            transaction.concerns(circle: id)
            let circle = try Rights.circle(id, for: caller.identity, right, of: resource, in: transaction)
            return Opened(target: circle, circle: id)
        })
    }

    /// A circle in which the act changes something that no feed shows.
    ///
    /// - Parameter reason: why no cached response depends on it.
    static func circle(
        _ id: String, _ right: Right, of resource: Refusal.Resource = .circle, touchingNoFeed reason: StaticString
    ) -> ActTarget {
        ActTarget(touchingNoCircle: reason) { transaction, caller in
            let circle = try Rights.circle(id, for: caller.identity, right, of: resource, in: transaction)
            return Opened(target: circle, circle: id)
        }
    }
}

extension ActTarget<Circle?> {
    /// A circle that the caller may manage, or that the installation is about to create.
    static func circleOrNew(_ id: String) -> ActTarget {
        ActTarget(touchingCircles: { transaction, caller in
            transaction.concerns(circle: id)
            // Only the host application creates circles, and a key that is bound only its own; for a user, another's
            // circle does not exist.
            guard caller.identity.reaches(id) else { throw Refusal.missing(.circle) }
            if caller.isInstallation, try transaction.circle(id) == nil { return Opened(target: nil, circle: id) }
            return Opened(
                target: try Rights.circle(id, for: caller.identity, .manage, in: transaction), circle: id)
        })
    }
}

extension ActTarget<Feed> {
    /// One of the caller's own feeds, or any feed for the installation.
    static func feed(_ id: String) -> ActTarget {
        ActTarget(touchingCircles: { transaction, caller in
            let feed = try Rights.feed(id, for: caller.identity, in: transaction)
            transaction.concerns(circle: feed.circleID)
            return Opened(target: feed, circle: feed.circleID)
        })
    }
}

extension ActTarget<Void> {
    /// The installation itself.
    ///
    /// - Parameter reason: why no cached response depends on the change.
    static func installation(touchingNoCircle reason: StaticString) -> ActTarget {
        ActTarget(touchingNoCircle: reason) { _, caller in
            try Rights.installation(caller.identity)
            return Opened(target: (), circle: nil)
        }
    }

    /// A user's own calendar, which the user's feeds may show together with a circle.
    static func ownCalendar(of id: String) -> ActTarget {
        ActTarget(touchingCircles: { transaction, caller in
            guard caller.owns(id) else { throw Refusal.missing(.user) }
            transaction.concernsNamedCirclesOnly()
            for circle in try transaction.circlesShowingOwn(of: id) { transaction.concerns(circle: circle) }
            return Opened(target: (), circle: nil)
        })
    }

    /// What the feeds of a user say about their replaced addresses.
    static func notices(of id: String) -> ActTarget {
        ActTarget(touchingCircles: { transaction, caller in
            guard caller.owns(id) else { throw Refusal.missing(.user) }
            transaction.concernsNamedCirclesOnly()
            for circle in try transaction.circlesWithNotices(of: id) { transaction.concerns(circle: circle) }
            return Opened(target: (), circle: nil)
        })
    }

    /// All that is a user's, which feeds show and app passwords open.
    static func everything(of id: String) -> ActTarget {
        ActTarget(touchingCircles: { transaction, caller in
            let opened = try ownCalendar(of: id).open(transaction, caller)
            transaction.concerns(circle: FeedLedger.scope(ofPasswords: id))
            return opened
        })
    }

    /// Data of one user outside any circle, open to that user and to the installation.
    ///
    /// - Parameter reason: why no cached response depends on the change.
    static func user(
        _ id: String, of resource: Refusal.Resource = .user, touchingNoCircle reason: StaticString
    ) -> ActTarget {
        ActTarget(touchingNoCircle: reason) { _, caller in
            guard caller.owns(id) else { throw Refusal.missing(resource) }
            return Opened(target: (), circle: nil)
        }
    }
}

extension ActTarget<Void> {
    /// A user's app passwords, open to that user and to the installation; what is remembered of them is void once the
    /// act is committed, on every server.
    static func appPasswords(of user: String, of resource: Refusal.Resource = .user) -> ActTarget {
        ActTarget(touchingCircles: { transaction, caller in
            guard caller.isInstallation || caller.userID == user else { throw Refusal.missing(resource) }
            transaction.concerns(circle: FeedLedger.scope(ofPasswords: user))
            return Opened(target: (), circle: nil)
        })
    }
}

extension ActTarget<AppPassword> {
    /// One of the caller's own app passwords, or any for the installation.
    static func appPassword(_ id: String) -> ActTarget {
        ActTarget(touchingCircles: { transaction, caller in
            let password = try Rights.appPassword(id, for: caller.identity, in: transaction)
            transaction.concerns(circle: FeedLedger.scope(ofPasswords: password.userID))
            return Opened(target: password, circle: nil)
        })
    }
}
