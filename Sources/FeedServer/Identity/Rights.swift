// SPDX-License-Identifier: Apache-2.0

import Storage

/// What may be done in a circle; each includes those before it.
enum Right: Int, Comparable {
    /// See the circle and its schedule, have feeds of one's own.
    case read
    /// Change the schedule, import.
    case write
    /// Change the circle, its members and patients.
    case manage

    static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

extension Member.Role {
    /// The whole table of roles.
    var right: Right {
        switch self {
        case .viewer: .read
        case .member: .write
        case .owner: .manage
        }
    }
}

/// The one place that decides who may do what.
enum Rights {
    /// The circle, if the caller may do this in it.
    ///
    /// Throws 404 for a circle that is not there or is not the caller's: nobody learns of what is not theirs. Throws
    /// 403 when a member's role does not reach.
    static func circle(
        _ id: String, for caller: Identity, _ right: Right, in transaction: any ReadTransaction
    ) throws -> Circle {
        guard let circle = try transaction.circle(id) else { throw Refusal.notFound }
        guard let user = caller.userID else { return circle }
        guard let member = try transaction.member(user, in: id) else { throw Refusal.notFound }
        guard member.role.right >= right else { throw Refusal.forbidden }
        return circle
    }

    /// The feed, if it is the caller's own or the caller stands for the installation; 404 otherwise.
    static func feed(_ id: String, for caller: Identity, in transaction: any ReadTransaction) throws -> Feed {
        guard let feed = try transaction.feed(id) else { throw Refusal.notFound }
        guard let user = caller.userID else { return feed }
        guard feed.userID == user else { throw Refusal.notFound }
        return feed
    }

    /// Throws 403 unless the caller stands for the installation.
    static func installation(_ caller: Identity) throws {
        guard caller.isInstallation else { throw Refusal.forbidden }
    }
}
