// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

extension Activity {
    /// Undoes a change of an item, of an occurrence, or of an imported event that was changed by itself: brings back what
    /// was deleted, deletes what was created, or puts back the values from before.
    ///
    /// It is a change like any other, so it can be undone, too. Throws 404 for a change that does not exist, 410 for one
    /// that is too old, and 409 for one that was undone already or after which somebody changed the same.
    package func undo(
        _ number: Int, in circle: String, for caller: Caller
    ) async throws -> (entry: Entry, zone: TimeZoneReference) {
        let isOfEvent = try await acts.store.read { transaction in
            let own = try Rights.authorized(circle, for: caller.identity, .write, in: transaction)
            return try transaction.change(number, in: circle, seenBy: own.user)?.subject == .event
        }
        return isOfEvent
            ? try await undoEvent(number, in: circle, for: caller)
            : try await undoItem(number, in: circle, for: caller)
    }

    /// An imported event is put back as a whole, as it was changed.
    private func undoEvent(
        _ number: Int, in circle: String, for caller: Caller
    ) async throws -> (entry: Entry, zone: TimeZoneReference) {
        let (acts, kinds, keptDays, quotas) = (acts, kinds, keptDays, quotas.clamped(to: caller.identity))
        return try await turns.alone(in: circle) {
            try await EventStaging.discard(in: circle, acts.store)
            return try await acts.act(on: .circle(circle, .write), for: caller) { act in
                let transaction = act.transaction
                let own = try Rights.authorized(circle, for: caller.identity, .write, in: transaction)
                let undoable = try UndoableChange(number, in: own, kinds, keptDays: keptDays, now: act.now)
                guard let uid = undoable.change.id, let kept = try undoable.history.keptEvent(of: undoable.change)
                else { throw Refusal.notKept(keptDays) }
                let now = try transaction.components(of: uid, from: kept.source, in: act.circle)
                guard KeptEvent(now, replacedBy: []).isAsLeft(by: kept) else {
                    let later = try transaction.firstChange(
                        of: uid, KeptContent.events, part: nil, in: circle, after: number)
                    throw Refusal.changedSince(by: later, try CircleNames(circle, in: transaction))
                }
                transaction.isMade(by: caller.author(undoing: number))
                let replacement = SeriesReplacement(
                    circle: act.circle, uid: uid, source: kept.source, quotas: quotas, limits: nil)
                let done = try replacement.write(
                    now, replacedBy: try kept.records(of: uid, in: act.circle, now: act.now), in: transaction,
                    now: act.now)
                // The circle as it shows the event now.
                let after = try Rights.authorized(circle, for: caller.identity, in: transaction)
                let history = try ActivityHistory(after, kinds, keptDays: keptDays, now: act.now)
                let change = try transaction.change(done, in: circle, seenBy: own.user)
                guard let entry = try change.map({ try history.entries([$0]) })?.first else {
                    throw StorageError.unexpectedResult("An undo was not kept.")
                }
                return .unnoted("The circle's changes list it.", (entry, try act.circle.zone))
            }
        }
    }
}
