// SPDX-License-Identifier: Apache-2.0

extension RunWork {
    /// Deletions up to which nobody is asked.
    static let freeDeletions = 10

    /// Whether the plan would delete so much that a person has to approve it: more than ten events and a fifth of what
    /// is linked, with those of the last day; or anything, when calendars that had events show none.
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
