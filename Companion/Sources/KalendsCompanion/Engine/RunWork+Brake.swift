// SPDX-License-Identifier: Apache-2.0

extension RunWork {
    /// The maximum number of deletions that need no approval.
    static let freeDeletions = 10

    /// Whether a person has to approve the plan's deletions, and has not yet: together with those of the last 24 hours
    /// they are more than ten and more than a fifth of the linked events (those deleted in that time included), or the
    /// calendars show no events and more than two events would be deleted at the server.
    func mustBeHeld() -> Bool {
        let deletions = plans.count(where: \.deletes)
        guard deletions > 0, !state.isApproved else { return false }
        let linked = state.links.count { $0.state == .linked && $0.key != nil }
        let recent = state.deletions.count { $0 > now - 86_400_000 }
        let total = deletions + recent
        if total > Self.freeDeletions, total * 5 > linked + recent { return true }
        let gone = plans.count { $0.sending == .deletion }
        return local.events.isEmpty && gone > 2
    }
}
