// SPDX-License-Identifier: Apache-2.0

/// All that a run would do.
struct Plan {
    var steps: [Step]
    var counts: RunRecord.Counts
    /// Why the run has to wait for a person; nil when nothing holds it.
    var hold: Hold?

    init(steps: [Step], planner: Planner) {
        self.steps = steps
        counts = RunRecord.Counts()
        for step in steps { counts.add(step, planner) }
        hold = Plan.hold(steps, planner)
    }

    var items: [PreviewItem] { steps.compactMap(\.preview) }

    /// Applies the brake to this run together with the 24 hours before it.
    private static func hold(_ steps: [Step], _ planner: Planner) -> Hold? {
        guard planner.policy.purpose == .sync else { return nil }
        let linked = planner.links.values.filter { $0.externalID != nil && $0.state != .untracked }
        // Office days are deleted only because their person asked for it, never automatically.
        let deletions = steps.count {
            $0.isDeletion && $0.item.collection != .officeDays && !planner.isShownOtherwise($0.item)
        }
        let missing = steps.filter(\.isMissing).count
        var causes: [Hold.Cause] = []
        if planner.brakes(deletions, planner.deletionsBefore.out, of: linked.count) { causes.append(.deletions) }
        if planner.brakes(missing, planner.deletionsBefore.missing, of: linked.count) { causes.append(.missing) }
        let watched = linked.count { $0.agreed?.theirs.overlaps(planner.policy.window) ?? false }
        // Before anyone has looked, all events that should be there may be missing.
        let isEmpty = planner.sightings.isEmpty && watched > 0
        if isEmpty { causes.append(.empty) }
        if planner.sightings.unaccounted > 0 { causes.append(.restored) }
        let shared = planner.itemsOfOthers
        if shared > 0 { causes.append(.shared) }
        guard !causes.isEmpty else { return nil }
        return Hold(
            causes: causes, deletions: deletions, missing: isEmpty ? max(missing, linked.count) : missing,
            shared: shared > 0 ? shared : nil)
    }
}

extension Planner {
    fileprivate func brakes(_ deletions: Int, _ before: Int, of linked: Int) -> Bool {
        deletions > 0 && policy.brake.holds(deletions + before, of: linked)
    }
}

extension Planner {
    /// Whether a conflict is an open one that is known already, with all its occurrences: it may have become smaller.
    func knows(_ conflict: ConflictRecord) -> Bool {
        conflicts[conflict.item]?.contains {
            $0.id == conflict.id && Set(conflict.starts).isSubset(of: $0.starts)
        } ?? false
    }
}

extension Hold {
    /// Reports whether the approval of this hold also covers another one.
    func allows(_ other: Hold) -> Bool {
        // Approving that a calendar is empty also approves that its events are missing.
        let approved = causes + (causes.contains(.empty) ? [.missing] : [])
        return other.causes.allSatisfy(approved.contains) && other.deletions <= deletions && other.missing <= missing
            && other.shared ?? 0 <= shared ?? 0
    }
}

extension RunRecord.Counts {
    fileprivate mutating func add(_ step: Step, _ planner: Planner) {
        var isUnchanged = true
        for draft in step.drafts where !draft.isClearing {
            isUnchanged = false
            switch draft.kind {
            case .create where !draft.isReplacement: created += 1
            case .create: updated += 1
            case .update: updated += 1
            case .delete: deleted += 1
            case .clear: break
            }
        }
        if step.change != nil {
            pulled += 1
            isUnchanged = false
        }
        conflicts += step.conflicts.count { $0.isNews && !planner.knows($0) }
        if step.isFailure {
            failed += 1
        } else if isUnchanged {
            unchanged += 1
        }
    }
}

extension ConflictRecord {
    /// Whether the run found this conflict, rather than settled an older one.
    var isNews: Bool { state == .open || outcome == .kalends && at == resolvedAt }
}
