// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// Keeps what a calendar answers from filling the database: an event there may have more text than the item has, but
/// only so much.
extension RunSession {
    /// The maximum number of bytes that one event may have beyond its item's.
    static let mostSurplus = 64 << 10
    /// The same for all events of a connection.
    static let mostSurplusOfAll = 16 << 20
    /// About how many bytes of records a run makes before the rest waits for the next one, which begins once the oldest
    /// records are gone.
    static let mostRecorded = 32 << 20

    /// Removes from a batch the texts of events that are out of proportion; their items are held back.
    mutating func lighten(_ batch: inout SyncBatch) {
        for index in batch.links.indices {
            let item = batch.links[index].item
            let others = surplus - (surpluses[item] ?? 0)
            let own = batch.links[index].surplus
            if own > Self.mostSurplus || own > 0 && others + own > Self.mostSurplusOfAll {
                batch.links[index].lighten(at: context.now())
                failed.insert(item)
            }
            surpluses[item] = batch.links[index].surplus
            surplus = others + batch.links[index].surplus
        }
        for index in batch.journal.indices { batch.journal[index].lighten(to: allowance(batch.journal[index].item)) }
        for index in batch.conflicts.indices {
            batch.conflicts[index].lighten(to: allowance(batch.conflicts[index].item))
        }
        recorded += batch.recordWeight
        if recorded > Self.mostRecorded, failure == nil {
            failure = ProviderFailure(
                .unavailable(retryAfter: nil), "So much was changed that the rest waits for the next run.")
        }
    }

    private func allowance(_ item: ItemKey) -> Int { (planner.shown[item]?.entry.weight ?? 0) + Self.mostSurplus }
}

extension SyncBatch {
    /// The approximate number of bytes that are stored for its records.
    var recordWeight: Int {
        journal.reduce(0) { $0 + [$1.before, $1.after].weight }
            + conflicts.reduce(0) { $0 + [$1.ours, $1.theirs].weight + $1.fields.reduce(0) { $0 + $1.weight } }
    }

    /// The approximate number of bytes that are stored for it, not counting its operations.
    var weight: Int {
        links.reduce(recordWeight) { $0 + $1.weight }
    }
}

extension Link {
    /// The approximate number of bytes that are stored for it.
    var weight: Int {
        [agreed?.ours, agreed?.theirs, refused, refusedSeries?.entry].weight
            + flips.reduce(0) { $0 + $1.field.utf8.count + $1.value.utf8.count + 32 }
    }

    /// The approximate number of bytes by which the event exceeds the item.
    var surplus: Int { agreed.map { max(0, $0.theirs.weight - $0.ours.weight) } ?? 0 }

    /// Forgets the event's texts. It counts as unknown, and is compared again when it is tried again.
    fileprivate mutating func lighten(at now: Instant) {
        guard let ours = agreed?.ours else { return }
        agreed?.theirs = ours
        (etag, stamp) = (nil, nil)
        guard state == .linked || state == .pending || state == .quarantined else { return }
        hold(.tooLong, "The event has far more text in the calendar than its item.")
        refused = ours
        since = now
    }
}

extension JournalEntry {
    /// Makes a line that is too long one that cannot be undone.
    fileprivate mutating func lighten(to bytes: Int) {
        guard [before, after].weight > 2 * bytes else { return }
        let outline = (after ?? before)?.outline
        (before, after) = (outline, outline)
    }
}

extension ConflictRecord.Field {
    /// The approximate number of bytes that are stored for it.
    fileprivate var weight: Int { [base, kalends, calendar].reduce(64) { $0 + ($1?.utf8.count ?? 0) } }
}

extension ConflictRecord {
    /// Shortens the values for people, and forgets an event that nobody could take over.
    fileprivate mutating func lighten(to bytes: Int) {
        guard [theirs].weight > bytes else { return }
        theirs = nil
        for index in fields.indices {
            fields[index].base = fields[index].base.map { String($0.prefix(2000)) }
            fields[index].kalends = fields[index].kalends.map { String($0.prefix(2000)) }
            fields[index].calendar = fields[index].calendar.map { String($0.prefix(2000)) }
        }
    }
}
