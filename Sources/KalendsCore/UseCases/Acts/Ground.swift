// SPDX-License-Identifier: Apache-2.0

import Base
import Storage

/// What an act is done to: found in the act's own transaction, with the right that the caller needs there.
struct Ground<Held>: Sendable {
    /// What a ground gives to an act.
    struct Opened {
        var held: Held
        /// The circle that the audit trail names beside the act, nil for none.
        var circle: String?
    }

    /// Whether feeds may show something else afterwards.
    let touchesCircles: Bool
    /// Throws `Refusal` when it does not exist or the caller's right does not suffice.
    let open: @Sendable (any WriteTransaction, Caller) throws -> Opened

    /// What feeds show; `open` says which circles it concerns.
    init(touchingCircles open: @escaping @Sendable (any WriteTransaction, Caller) throws -> Opened) {
        (touchesCircles, self.open) = (true, open)
    }

    /// What no feed shows.
    ///
    /// - Parameter reason: why no answer that is remembered depends on it.
    init(
        touchingNoCircle reason: StaticString,
        _ open: @escaping @Sendable (any WriteTransaction, Caller) throws -> Opened
    ) {
        (touchesCircles, self.open) = (false, open)
    }
}

extension Ground<Circle> {
    /// A circle in which the caller has a right.
    ///
    /// - Parameter resource: what a refusal names as missing, when something in the circle was asked for.
    static func circle(_ id: String, _ right: Right, of resource: Refusal.Resource = .circle) -> Ground {
        Ground(touchingCircles: { transaction, caller in
            transaction.concerns(circle: id)
            let circle = try Rights.circle(id, for: caller.identity, right, of: resource, in: transaction)
            return Opened(held: circle, circle: id)
        })
    }

    /// A circle in which something changes that no feed shows.
    ///
    /// - Parameter reason: why no answer that is remembered depends on it.
    static func circle(
        _ id: String, _ right: Right, of resource: Refusal.Resource = .circle, touchingNoFeed reason: StaticString
    ) -> Ground {
        Ground(touchingNoCircle: reason) { transaction, caller in
            let circle = try Rights.circle(id, for: caller.identity, right, of: resource, in: transaction)
            return Opened(held: circle, circle: id)
        }
    }
}

extension Ground<Circle?> {
    /// A circle that the caller may manage, or that the installation is about to make.
    static func circleOrNew(_ id: String) -> Ground {
        Ground(touchingCircles: { transaction, caller in
            transaction.concerns(circle: id)
            // Only the host application opens circles; to a user, one that is not theirs does not exist.
            if caller.isInstallation, try transaction.circle(id) == nil { return Opened(held: nil, circle: id) }
            return Opened(
                held: try Rights.circle(id, for: caller.identity, .manage, in: transaction), circle: id)
        })
    }
}

extension Ground<Feed> {
    /// A feed of the caller's own, or any for the installation.
    static func feed(_ id: String) -> Ground {
        Ground(touchingCircles: { transaction, caller in
            let feed = try Rights.feed(id, for: caller.identity, in: transaction)
            transaction.concerns(circle: feed.circleID)
            return Opened(held: feed, circle: feed.circleID)
        })
    }
}

extension Ground<Void> {
    /// The installation itself.
    ///
    /// - Parameter reason: why no answer that is remembered depends on what is changed.
    static func installation(touchingNoCircle reason: StaticString) -> Ground {
        Ground(touchingNoCircle: reason) { _, caller in
            try Rights.installation(caller.identity)
            return Opened(held: (), circle: nil)
        }
    }

    /// A user's own calendar, which that user's feeds may show beside a circle.
    static func ownCalendar(of id: String) -> Ground {
        Ground(touchingCircles: { transaction, caller in
            guard caller.isInstallation || caller.userID == id else { throw Refusal.missing(.user) }
            transaction.concernsNamedCirclesOnly()
            for circle in try transaction.circlesShowingOwn(of: id) { transaction.concerns(circle: circle) }
            return Opened(held: (), circle: nil)
        })
    }

    /// What belongs to one user outside of any circle, for that user and for the installation.
    ///
    /// - Parameter reason: why no answer that is remembered depends on what is changed.
    static func user(
        _ id: String, of resource: Refusal.Resource = .user, touchingNoCircle reason: StaticString
    ) -> Ground {
        Ground(touchingNoCircle: reason) { _, caller in
            guard caller.isInstallation || caller.userID == id else { throw Refusal.missing(resource) }
            return Opened(held: (), circle: nil)
        }
    }
}
