// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

/// All entries of a circle from the view of one feed, including those left out and the rule that leaves each out, for a
/// preview.
package struct FeedContents: Sendable {
    package struct Entry: Sendable {
        /// `tasks`, `shifts`, `appointments`, `follow-ups`, `imported`, or for the owner's own entries `personal` or
        /// `planned`.
        package var collection: String
        package var id: String
        /// The components in the feed: one, or a series with its changed occurrences.
        package var events: [Event]
        package var exclusion: Exclusion?
        /// Whether it is an item of the circle whose owner is the feed's user.
        var isOwn = false

        /// The entry reduced to what lists show: no descriptions, no reminders, and no properties for other programs.
        var outline: Entry {
            var entry = self
            entry.events = events.map(\.outline)
            return entry
        }
    }

    private(set) var entries: [Entry] = []

    /// The components that the feed is made of, in the feed's order.
    var events: [Event] { entries.filter { $0.exclusion == nil }.flatMap(\.events) }

    /// - Parameter window: nil for the whole circle, whatever the day, without the reader's own entries.
    init(of live: LiveFeedParts, window: FeedWindow?, in transaction: any ReadTransaction) throws {
        try Self.each(of: live, window: window, in: transaction) { entries.append($0) }
    }

    /// Calls the body with the entries in the feed's order, with few of them in memory at a time.
    ///
    /// - Parameters:
    ///   - window: nil for the whole circle, whatever the day, without the reader's own entries.
    ///   - body: must not query the database.
    static func each(
        of live: LiveFeedParts, window: FeedWindow?, in transaction: any ReadTransaction, _ body: (Entry) throws -> Void
    ) throws {
        let (from, to) = (Int.min / 2, Int.max / 2)
        try transaction.expect { next in
            _ = try CircleNames(live.circle.id, in: next)
            _ = try next.itemUsage(of: live.circle.id)
        }
        var work = FeedContentsWork(live, window: window, names: try CircleNames(live.circle.id, in: transaction))
        try transaction.eachChangedItem(in: live.circle.id, from: from, to: to) { next in
            _ = try next.importedUsage(in: live.circle.id)
            _ = try next.importedPlaces(in: live.circle, from: from, to: to)
        } _: { item, changed in
            try body(try work.entry(item, changed))
        }
        try ImportedSeries.eachInOrder(in: live.circle, from: from, to: to, transaction) { series in
            try body(work.entry(series))
            return true
        }
        guard let window, live.configuration.showsOwn else { return }
        // The owner's own entries come after those of the circle.
        try OwnEntries.each(of: live, window: window, in: transaction, body)
    }
}

/// The work of making a feed's contents.
private struct FeedContentsWork {
    let filter: FeedFilter
    private let isUnlimited: Bool
    private let builder: EntryBuilder
    private let userID: String
    private var budget = RecurrenceBudget(steps: SeriesWork.ofFeed)

    init(_ live: LiveFeedParts, window: FeedWindow?, names: CircleNames) {
        let today = CivilDate(daysSinceEpoch: 0)
        filter = FeedFilter(live, window: window ?? FeedWindow(live.configuration, today: today, zone: live.zone))
        isUnlimited = window == nil
        builder = EntryBuilder(look: live.look, names: names, kinds: live.kinds, year: window?.today.year)
        userID = live.feed.userID
    }

    mutating func entry(_ row: ScheduleItem, _ occurrences: [ChangedOccurrence]) throws -> FeedContents.Entry {
        let content = try builder.kinds.content(of: row)
        let isOwn = content.ownerID == userID
        let events = try builder.events(of: row, content, occurrences: occurrences, isOwn: isOwn)
        var entry = entry(
            events, row.collection.rawValue, row.id, EntryTraits(row, content), EntrySpan(row, occurrences))
        entry.isOwn = isOwn
        return entry
    }

    mutating func entry(_ series: ImportedSeries) -> FeedContents.Entry {
        entry(builder.events(of: series), "imported", series.shownUID, EntryTraits(series), EntrySpan(series))
    }

    private mutating func entry(
        _ events: [Event], _ collection: String, _ id: String, _ traits: EntryTraits, _ span: EntrySpan
    ) -> FeedContents.Entry {
        var exclusion = filter.exclusion(of: traits)
        if exclusion == nil, !isUnlimited {
            exclusion = filter.exclusion(by: Extent(of: events, zone: filter.zone), span, &budget)
        }
        return FeedContents.Entry(collection: collection, id: id, events: events, exclusion: exclusion)
    }
}

extension Event {
    fileprivate var outline: Event {
        var event = self
        (event.description, event.url, event.alarms, event.textParameters) = (nil, nil, [], nil)
        event.otherProperties = []
        return event
    }
}

/// What the contents of a feed depend on besides the items.
struct LiveFeedParts: Sendable {
    let feed: Feed
    let circle: Circle
    let zone: TimeZoneReference
    let configuration: FeedConfiguration
    let look: FeedRenderKey
    let titlePrefix: String
    let kinds: ItemKinds
    /// The notice that the token in use will end; nil for the feed's current token.
    let notice: GraceNotice?

    /// - Parameter isExport: whether files at all addresses and imported components of all kinds are shown.
    init(
        feed: Feed, circle: Circle, notice: GraceNotice? = nil, settings: ServerSettings, isExport: Bool = false
    ) throws {
        self.feed = feed
        self.notice = notice
        self.circle = circle
        zone = try circle.zone
        kinds = settings.kinds
        configuration = try FeedConfiguration(stored: feed.config, kinds)
        titlePrefix = settings.titlePrefix
        look = FeedRenderKey(
            style: CareStyle(
                titlePrefix: settings.titlePrefix, detail: configuration.level,
                includesReminders: configuration.includeReminders,
                showsTasksAsToDos: configuration.tasksAs == .todos),
            zone: zone, sequenceOffset: feed.sequenceOffset, shownChangedAt: feed.shownChangedAt,
            linkTemplate: settings.linkTemplate, extras: configuration.extras, isExport: isExport)
    }
}
