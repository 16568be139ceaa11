// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import Storage

/// One item with its latest change, to find whose calendars the change concerns and which of them have it.
struct ReachQuery {
    let item: ScheduleItem
    let change: ItemChange
    let circle: Circle
    let now: Int
    private let content: any ItemContent
    private let kinds: ItemKinds
    private let traits: EntryTraits
    private let isCompletedTask: Bool
    private let extent: Extent
    private let span: EntrySpan
    private let zone: TimeZoneReference
    private let members: Set<ByteString>

    init(
        _ item: ScheduleItem, _ change: ItemChange, _ circle: Circle, now: Int, _ settings: ServerSettings,
        in transaction: any ReadTransaction
    ) throws {
        (self.item, self.change, self.circle, self.now) = (item, change, circle, now)
        kinds = settings.kinds
        content = try kinds.content(of: item)
        // An item that is now completed or cancelled disappears from calendars that showed it: they have the change
        // once they have read it.
        var traits = EntryTraits(item, content)
        isCompletedTask = traits.isCompletedTask
        traits.isCompletedTask = false
        self.traits = traits
        zone = try circle.zone
        let occurrences =
            item.hasOccurrences ? try transaction.occurrences(of: item.id, in: circle.id) : []
        span = EntrySpan(item, occurrences)
        let look = FeedRenderKey(
            style: CareStyle(titlePrefix: settings.titlePrefix), zone: zone, sequenceOffset: 0, shownChangedAt: 0,
            linkTemplate: nil)
        let builder = EntryBuilder(
            look: look, names: try CircleNames(circle.id, in: transaction), kinds: kinds)
        extent = Extent(
            of: try builder.events(of: item, content, occurrences: occurrences, isOwn: false), zone: zone)
        members = Set(
            try transaction.membersEverKnown(in: circle.id).filter { $0.leftAt == nil }.map { ByteString($0.userID) })
    }

    /// Whether a feed is active and shows, or showed, the item.
    func concerns(_ feed: Feed) throws -> Bool {
        guard isLive(feed) else { return false }
        return concerns(try FeedConfiguration(stored: feed.config, kinds), of: feed.userID)
    }

    /// Returns why a feed leaves out the item as it is now; nil for a feed that shows it or has ended.
    func exclusion(from feed: Feed) throws -> Exclusion? {
        guard isLive(feed) else { return nil }
        var traits = traits
        traits.isCompletedTask = isCompletedTask
        return exclusion(of: traits, from: try FeedConfiguration(stored: feed.config, kinds), of: feed.userID)
    }

    private func isLive(_ feed: Feed) -> Bool {
        feed.revokedAt == nil && feed.expiresAt ?? .max > now && members.contains(ByteString(feed.userID))
    }

    private func concerns(_ configuration: FeedConfiguration, of user: String) -> Bool {
        exclusion(of: traits, from: configuration, of: user) == nil
    }

    private func exclusion(
        of traits: EntryTraits, from configuration: FeedConfiguration, of user: String
    ) -> Exclusion? {
        let window = FeedWindow(configuration, today: FeedDay(zone, now: now).date, zone: zone)
        let filter = FeedFilter(configuration, userID: user, window: window, zone: zone)
        var budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries)
        return filter.exclusion(of: traits) ?? filter.exclusion(by: extent, span, &budget)
    }

    /// Whether a connected calendar has the change; nil for a connection that the change does not concern.
    func isHeld(by own: Connection, in transaction: any ReadTransaction) throws -> Bool? {
        guard own.state != .unauthorized, own.state != .choosing, members.contains(ByteString(own.userID)) else {
            return nil
        }
        // A series whose occurrences are single events has arrived once all of them have.
        let link = try transaction.linkState(of: own.id, ofItem: item.id, in: item.collection.rawValue)
        let isGone = item.deletedAt != nil || content.isCancelled
        switch link.flatMap({ Link.State(text: $0.state) }) {
        // A person wants the event to stay as it is, or it is far outside the window.
        case .ignored, .untracked: return nil
        case .deleted: return isGone ? true : try wants(own) ? false : nil
        case nil: return try !isGone && wants(own) ? false : nil
        case .pending, .quarantined, .conflict: return false
        case .linked: break
        }
        guard !isGone, let link else { return false }
        if own.provider == .apple { return try isOnPhone(own, link, in: transaction) }
        // Either both sides were seen to agree after the change, or a run that came to its end began with it, whatever
        // it held back of others. Links have the seconds of their times only.
        if let agreed = link.lastSyncedAt, agreed > change.at, link.isOnly { return true }
        return try transaction.syncRuns(of: own.id, before: .max, limit: Self.runs).contains { run in
            let record: RunRecord = try storedRecord(run.content)
            return record.state == .done && (record.status == .success || record.isWhole == true)
                && record.version ?? 0 >= change.version
        }
    }

    /// How many of a connection's latest runs are considered.
    private static let runs = 3

    private func wants(_ own: Connection) throws -> Bool {
        concerns(try ConnectionConfiguration(stored: own.config, kinds).feed, of: own.userID)
    }

    /// Whether the phone's event was made after the change and has reached the phone.
    private func isOnPhone(
        _ own: Connection, _ link: SyncLinkState, in transaction: any ReadTransaction
    ) throws -> Bool {
        guard let carrier = try transaction.phoneCarrier(of: own.userID, source: own.id), carrier.carrier != nil,
            let made = carrier.shown?.split(separator: " ").first.flatMap({ Int($0) }), made >= change.version,
            let id = link.externalID, let event = try transaction.personalEventEverKnown(id, of: own.userID)
        else { return false }
        return carrier.deliveredAt >= event.updatedAt
    }
}
