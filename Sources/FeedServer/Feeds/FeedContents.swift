// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// All of a circle as one feed shows it, with what is left out and by which rule: for looking at, one by one.
struct FeedContents: Sendable {
    struct Entry: Sendable {
        /// `tasks`, `shifts`, `appointments`, `follow-ups` or `imported`.
        var collection: String
        var id: String
        /// The components in the feed: one, or a series with its changed occurrences.
        var events: [Event]
        var exclusion: Exclusion?
    }

    var entries: [Entry] = []

    /// The components that the feed is made of, in the feed's order.
    var events: [Event] { entries.filter { $0.exclusion == nil }.flatMap(\.events) }

    init(of live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction) throws {
        let filter = FeedFilter(live, window: window)
        let builder = EntryBuilder(look: live.look, names: try CircleNames(live.circle.id, in: transaction))
        let (from, to) = (Int.min / 2, Int.max / 2)
        let changed = Dictionary(grouping: try transaction.occurrences(of: nil, in: live.circle.id), by: \.itemID)
        for item in try transaction.items(in: live.circle.id, from: from, to: to) {
            let content = try ItemContent(item)
            let occurrences = item.collection == .appointments ? changed[item.id] ?? [] : []
            let events = try builder.events(
                of: item, content, occurrences: occurrences, isOwn: content.ownerID == live.feed.userID)
            add(events, item.collection.rawValue, item.id, EntryTraits(item, content), filter)
        }
        let imported = try ImportedEvent.all(in: live.circle.id, from: from, to: to, transaction)
        for group in ImportedEvent.bySeries(imported) {
            add(builder.events(of: group), "imported", group.first?.uid ?? "", EntryTraits(group), filter)
        }
    }

    private mutating func add(
        _ events: [Event], _ collection: String, _ id: String, _ traits: EntryTraits, _ filter: FeedFilter
    ) {
        let exclusion =
            filter.exclusion(of: traits) ?? filter.exclusion(by: Extent(of: events, zone: filter.zone))
        entries.append(Entry(collection: collection, id: id, events: events, exclusion: exclusion))
    }
}

/// What the contents of a feed depend on besides the items.
struct LiveFeedParts: Sendable {
    let feed: Feed
    let circle: Circle
    let zone: TimeZoneReference
    let configuration: FeedConfiguration
    let look: FeedLook
    let titlePrefix: String
    /// What is told of the end of the token that is read with; nil for the feed's present one.
    let notice: GraceNotice?

    init(feed: Feed, circle: Circle, notice: GraceNotice? = nil, settings: ServerSettings) throws {
        self.feed = feed
        self.notice = notice
        self.circle = circle
        zone = try circle.zone
        configuration = try FeedConfiguration(stored: feed.config)
        titlePrefix = settings.titlePrefix
        look = FeedLook(
            style: CareStyle(
                titlePrefix: settings.titlePrefix, detail: configuration.level,
                includesReminders: configuration.includeReminders,
                showsTasksAsToDos: configuration.tasksAs == .todos),
            zone: zone, sequenceOffset: feed.sequenceOffset, shownChangedAt: feed.shownChangedAt,
            linkTemplate: settings.linkTemplate)
    }
}
