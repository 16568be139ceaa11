// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// What a feed shows, and what it leaves out by which rule.
struct FeedContents: Sendable {
    /// Why an item of the circle is not in a feed; the raw value is what the API says.
    enum Exclusion: String, Sendable {
        case kind = "kind-not-included"
        case patient = "patient-not-included"
        case completed = "completed-task"
        case window = "outside-window"
        case privateEvent = "private-event"
    }

    struct Entry: Sendable {
        /// `tasks`, `shifts`, `appointments`, `follow-ups` or `imported`.
        var collection: String
        var id: String
        /// The components in the feed: one, or a series with its changed occurrences.
        var events: [Event]
        var exclusion: Exclusion?
    }

    var entries: [Entry]

    /// The components that the feed is made of, in an order that follows from them alone.
    var events: [Event] {
        entries.filter { $0.exclusion == nil }.flatMap(\.events)
    }

    /// Collects what a feed shows in a window.
    ///
    /// - Parameter keepsExcluded: also returns what is left out, for explaining it.
    init(
        of live: LiveFeedParts, window: FeedWindow, keepsExcluded: Bool, in transaction: any ReadTransaction
    ) throws {
        let day = 86_400_000
        let names = try CircleNames(live.circle.id, in: transaction)
        // All-day items are looked up by UTC's days: a day more on each side holds every zone.
        let (from, to) =
            keepsExcluded
            ? (Int.min / 2, Int.max / 2) : (window.from.milliseconds - day, window.to.milliseconds + day)
        let items = try transaction.items(in: live.circle.id, from: from, to: to)
        let changed = Dictionary(grouping: try transaction.occurrences(of: nil, in: live.circle.id), by: \.itemID)
        var entries: [Entry] = []
        entries.reserveCapacity(items.count)
        for item in items {
            let builder = EntryBuilder(live: live, window: window, names: names)
            let entry = try builder.entry(
                item, occurrences: item.collection == .appointments ? changed[item.id] ?? [] : [])
            if keepsExcluded || entry.exclusion == nil { entries.append(entry) }
        }
        let imported = try ImportedEvent.all(in: live.circle.id, from: from, to: to, transaction)
        for group in ImportedEvent.bySeries(imported) {
            let entry = EntryBuilder(live: live, window: window, names: names).entry(imported: group)
            if keepsExcluded || entry.exclusion == nil { entries.append(entry) }
        }
        self.entries = entries
    }
}

/// What the contents of a feed depend on besides the items.
struct LiveFeedParts: Sendable {
    var feed: Feed
    var circle: Circle
    var zone: TimeZoneReference
    var configuration: FeedConfiguration
    var titlePrefix: String
    var linkTemplate: String?

    init(feed: Feed, circle: Circle, settings: ServerSettings) throws {
        self.feed = feed
        self.circle = circle
        self.zone = try circle.zone
        self.configuration = try FeedConfiguration(stored: feed.config)
        self.titlePrefix = settings.titlePrefix
        self.linkTemplate = settings.linkTemplate
    }

    /// Where the host application shows an item, nil when it was not told.
    func link(_ collection: String, _ id: String) -> String? {
        linkTemplate?.replacing("{circle}", with: pathComponent(circle.id))
            .replacing("{collection}", with: collection).replacing("{id}", with: pathComponent(id))
    }

    var style: CareStyle {
        CareStyle(
            titlePrefix: titlePrefix, detail: configuration.level, includesReminders: configuration.includeReminders,
            showsTasksAsToDos: configuration.tasksAs == .todos)
    }
}
