// SPDX-License-Identifier: Apache-2.0

package import CalendarSync
package import ICalBridge
import Storage

/// A problem that a person should look at, and what to do about it.
package struct ConnectionAttention: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case needsReconnect, calendarGone, providerUnavailable, heldRun, openConflicts, heldBack, shortened, failing
    }

    package var kind: Kind
    /// When the problem began, in milliseconds since 1970.
    package var at: Int
    package var message: String
    /// The number of open conflicts, of items that are not named or that another connection has, or of failures.
    package var count: Int?
    /// The run that waits for a person's decision.
    package var runID: String?
    /// Why it waits.
    package var hold: Hold?
    /// The item that the calendar does not show, or not as it is.
    package var item: Item?
    /// Why it does not, and of which fields it keeps less.
    package var problem: SyncProblem?
    package var fields: [EntryField] = []

    package struct Item: Hashable, Sendable {
        package var collection: String
        package var id: String
        /// The original start of the one occurrence concerned; nil for the whole item.
        package var occurrence: Instant?
        package var title: String
    }

    /// The number of consecutive failures after which a problem no longer counts as temporary.
    private static let manyFailures = 3

    /// The maximum number of items that are named one by one.
    static let mostItems = 20

    /// Makes one of an item that cannot be written as it is.
    init(heldBack row: SyncLinkRow) throws {
        let link: Link = try storedRecord(row.content)
        self.init(
            kind: .heldBack, at: row.since, message: link.reason ?? "The calendar does not take this item.",
            item: Item(
                collection: row.collection, id: row.itemID, occurrence: link.item.occurrence,
                title: link.refused?.title ?? link.agreed?.ours.title ?? ""), problem: link.problem ?? .refused)
    }

    /// Makes the alerts for items that the calendar keeps only in part.
    static func all(of short: ShortenedItems, at: Int) -> [ConnectionAttention] {
        let named = short.items.prefix(mostItems).map { one in
            ConnectionAttention(
                kind: .shortened, at: at, message: one.message,
                item: Item(
                    collection: one.item.collection.rawValue, id: one.item.id, occurrence: one.item.occurrence,
                    title: one.title), fields: one.fields ?? [])
        }
        return named + more(short.count - named.count, .shortened, "that the calendar keeps only in part", at: at)
    }

    /// Makes one that says how many further items there are; none for no items.
    private static func more(_ count: Int, _ kind: Kind, _ what: String, at: Int) -> [ConnectionAttention] {
        count < 1
            ? []
            : [
                ConnectionAttention(
                    kind: kind, at: at,
                    message: count == 1 ? "There is one more item \(what)." : "There are \(count) more items \(what).",
                    count: count)
            ]
    }

    init(
        kind: Kind, at: Int, message: String, count: Int? = nil, runID: String? = nil, hold: Hold? = nil,
        item: Item? = nil, problem: SyncProblem? = nil, fields: [EntryField] = []
    ) {
        (self.kind, self.at, self.message) = (kind, at, message)
        (self.count, self.runID, self.hold, self.item) = (count, runID, hold, item)
        (self.problem, self.fields) = (problem, fields)
    }

    static func all(
        of own: Connection, _ counts: SyncCounts, heldRun: (row: SyncRunRow, record: RunRecord)? = nil,
        heldBack: [ConnectionAttention] = [], shortened: [ConnectionAttention] = [], _ settings: ConnectionSettings
    ) -> [ConnectionAttention] {
        let conflicts = counts.conflicts
        var found: [ConnectionAttention] = []
        if let missing = settings.missing(for: own.provider).first {
            found.append(
                ConnectionAttention(
                    kind: .providerUnavailable, at: own.stateAt,
                    message: "\(own.provider.name) is no longer set up on this server: its operator has to set "
                        + "\(missing.variable)."))
        }
        switch own.state {
        case .needsReconnect:
            found.append(
                ConnectionAttention(
                    kind: .needsReconnect, at: own.stateAt,
                    message: own.provider == .caldav
                        ? "The server no longer accepts the password. Enter it again."
                        : "\(own.provider.name) no longer accepts our access. Sign in again."))
        case .calendarGone:
            found.append(
                ConnectionAttention(
                    kind: .calendarGone, at: own.stateAt,
                    message: "The calendar was deleted or can no longer be written. Choose another one."))
        default: break
        }
        if let heldRun {
            found.append(
                ConnectionAttention(
                    kind: .heldRun, at: heldRun.row.startedAt,
                    message: (heldRun.record.error.map { "\($0) " } ?? "")
                        + "Nothing was written. Look at the run, then approve it or leave it.",
                    count: heldRun.record.isHeldToShare ? heldRun.record.held?.shared : nil, runID: heldRun.row.id,
                    hold: heldRun.record.held))
        }
        if conflicts > 0 {
            found.append(
                ConnectionAttention(
                    kind: .openConflicts, at: own.lastSyncAt ?? own.stateAt,
                    message: conflicts == 1
                        ? "One item was changed on both sides. Say which is right."
                        : "\(conflicts) items were changed on both sides. Say which are right.", count: conflicts))
        }
        found += heldBack
        found += more(
            counts.heldBack - heldBack.count, .heldBack, "that the calendar does not take", at: heldBack.last?.at ?? 0)
        found += shortened
        if own.failures >= manyFailures, own.state == .active {
            found.append(
                ConnectionAttention(
                    kind: .failing, at: own.lastSyncAt ?? own.stateAt,
                    message: "The last \(own.failures) tries failed. Further tries follow at longer intervals.",
                    count: own.failures))
        }
        return found
    }
}

extension RunRecord {
    /// Whether a run waits only because another connection has its items in the calendar.
    package var isHeldToShare: Bool { state == .held && held?.causes == [.shared] }
}
