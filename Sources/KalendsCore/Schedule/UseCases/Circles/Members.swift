// SPDX-License-Identifier: Apache-2.0

package import Storage

/// The members of a circle and their roles.
package struct Members: Sendable {
    let acts: Acts
    let tidying: Tidying
    let quotas: Quotas
    let kinds: ItemKinds

    /// Returns the members who have not left, in order of id.
    package func list(_ page: PageRequest, in circle: String, for caller: Caller) async throws -> [Member] {
        try await acts.read(in: circle, for: caller) { try $0.members(page) }
    }

    package func get(_ user: String, in circle: String, for caller: Caller) async throws -> Member {
        let member = try await acts.read(in: circle, for: caller) { try $0.transaction.member(user, in: circle) }
        guard let member else { throw Refusal.missing(.member) }
        return member
    }

    /// Adds or changes a member; throws `Refusal` when the circle has the maximum number of members, or 409 when a user
    /// would leave it without an owner.
    package func put(
        _ user: String, in circle: String, displayName: String, role: Member.Role, if condition: Precondition<Member>,
        for caller: Caller
    ) async throws -> (Member, isNew: Bool) {
        let most = quotas.clamped(to: caller.identity).membersPerCircle
        let put = try await acts.act(on: .circle(circle, .manage), in: .circle(circle), for: caller) { act in
            let transaction = act.transaction
            let old = try transaction.member(user, in: circle)
            try condition.check(old)
            if try old == nil && transaction.memberEverKnown(user, in: circle) == nil
                && transaction.memberCount(in: circle) >= most
            {
                throw Refusal.quota("A circle has", most, "members, counting those who have left")
            }
            let put = try transaction.putMember(
                user, in: circle, displayName: displayName, role: role, titles: kinds.namesInTitles, now: act.now)
            if old?.role == .owner, role != .owner { try Self.checkOwner(of: circle, for: caller, in: transaction) }
            if old?.role == role, old?.displayName == displayName { return .unchanged(put) }
            return ActResult(
                put,
                noting: AuditNote(
                    put.isNew ? .memberAdded : .memberChanged, user,
                    detail: .object(Self.roles(before: old?.role, after: role))))
        }
        try await tidying.revise(in: circle)
        return put
    }

    /// Removes a member and ends the member's feeds; all members may leave, but only owners may remove others.
    ///
    /// Throws 409 when the circle's last owner would leave other members behind.
    package func delete(
        _ user: String, in circle: String, if condition: Precondition<Member>, for caller: Caller
    ) async throws {
        let right: Right = caller.userID.map { $0 == user } == true ? .read : .manage
        try await acts.act(on: .circle(circle, right), for: caller) { act in
            let transaction = act.transaction
            guard let member = try transaction.member(user, in: circle) else { throw Refusal.missing(.member) }
            try condition.check(member)
            let feeds = try transaction.feeds(of: user, in: circle).filter { $0.revokedAt == nil }
            guard try transaction.removeMember(user, from: circle, now: act.now) else {
                throw Refusal.missing(.member)
            }
            if member.role == .owner { try Self.checkOwner(of: circle, for: caller, in: transaction) }
            var detail = Self.roles(before: member.role, after: nil)
            detail["revokedFeeds"] = .array(feeds.map { .string($0.id) })
            return ActResult(noting: AuditNote(.memberRemoved, user, detail: .object(detail)))
        }
        tidying.afterEndingConnections()
    }

    /// Throws 409 when a circle with members would have no owner, because only an owner could change that.
    ///
    /// The host application may go on with such a circle: it decides who belongs to it, one call after the other.
    private static func checkOwner(of circle: String, for caller: Caller, in transaction: any ReadTransaction) throws {
        guard caller.userID != nil else { return }
        let left = try transaction.membersEverKnown(in: circle).filter { $0.leftAt == nil }
        guard left.isEmpty || left.contains(where: { $0.role == .owner }) else {
            throw Refusal.conflict(
                "This is the circle's last owner. Make another member an owner first.", code: .lastOwner)
        }
    }

    /// Returns a member's roles before and after; null for no role.
    private static func roles(before: Member.Role?, after: Member.Role?) -> [ByteString: JSONValue] {
        ["roleBefore": JSONValue(before?.rawValue), "roleAfter": JSONValue(after?.rawValue)]
    }
}

extension AuthorizedCircle {
    /// Returns the members who have not left, in order of id.
    package func members(_ page: PageRequest) throws -> [Member] {
        let all = try transaction.membersEverKnown(in: id)
        return Array(all.filter { $0.leftAt == nil && $0.userID > page.after }.prefix(page.limit))
    }
}
