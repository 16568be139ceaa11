// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

/// What is read of a circle for the contents of a feed; what it comes to is worked out without the database.
struct FeedRows: Sendable {
    fileprivate var items: [ScheduleItem]
    fileprivate let changed: [ByteString: [ChangedOccurrence]]
    fileprivate var imported: [ImportedEventRecord]
    fileprivate let names: CircleNames
    /// What only the feed's owner has.
    fileprivate let own: OwnEntries

    /// All of a circle, and what a feed shows beside it near its window.
    init(of live: LiveFeedParts, window: FeedWindow, in transaction: any ReadTransaction) throws {
        let own =
            live.configuration.showsOwn ? try OwnEntries(of: live, window: window, in: transaction) : OwnEntries.none
        try self.init(of: live.circle, own: own, in: transaction)
    }

    init(of circle: Circle, own: OwnEntries = .none, in transaction: any ReadTransaction) throws {
        self.own = own
        let (from, to) = (Int.min / 2, Int.max / 2)
        names = try CircleNames(circle.id, in: transaction)
        changed = Dictionary(grouping: try transaction.occurrences(of: nil, in: circle.id), by: \.itemID)
        items = try transaction.items(in: circle.id, from: from, to: to)
        imported = try transaction.importedEvents(in: circle, from: from, to: to)
    }
}

/// All of a circle as one feed shows it, with what is left out and by which rule: for looking at, one by one.
package struct FeedContents: Sendable {
    package struct Entry: Sendable {
        /// `tasks`, `shifts`, `appointments`, `follow-ups`, `imported`, or what is the owner's: `personal`, `planned`.
        package var collection: String
        package var id: String
        /// The components in the feed: one, or a series with its changed occurrences.
        package var events: [Event]
        package var exclusion: Exclusion?
    }

    /// How much of each event is kept.
    enum Detail {
        case whole
        /// What a list shows: no descriptions, no reminders, nothing that only another program understands.
        case outline
        /// Only which rule leaves it out.
        case verdict
    }

    var entries: [Entry] = []

    /// The components that the feed is made of, in the feed's order.
    var events: [Event] { entries.filter { $0.exclusion == nil }.flatMap(\.events) }

    /// - Parameter window: nil for all, whatever the day.
    init(of live: LiveFeedParts, window: FeedWindow?, in transaction: any ReadTransaction) throws {
        var work = FeedContentsWork(live, window: window, try FeedRows(of: live.circle, in: transaction))
        while try work.goOn() {}
        self = work.contents
    }

    fileprivate init() {}

    /// The same after its transaction has ended, with turns for others in between.
    ///
    /// - Parameter rows: each is given back as soon as its events are made.
    static func make(
        of live: LiveFeedParts, window: FeedWindow?, _ rows: consuming FeedRows, keeping detail: Detail = .whole
    ) async throws -> FeedContents {
        var work = FeedContentsWork(live, window: window, rows, keeping: detail)
        while try work.goOn() { await Task.yield() }
        return work.contents
    }
}

/// The contents of a feed in the making.
private struct FeedContentsWork {
    /// Entries, and steps of following rules, after which others have their turn.
    private static let entriesAtOnce = 100
    private static let stepsAtOnce = 100_000

    var contents = FeedContents()
    private let filter: FeedFilter
    private let isUnlimited: Bool
    private let builder: EntryBuilder
    private let userID: String
    private let detail: FeedContents.Detail
    /// The last one first.
    private var rows: FeedRows
    private var budget = RecurrenceBudget(steps: SeriesWork.ofFeed)
    private var series: [ImportedSeries]?

    init(
        _ live: LiveFeedParts, window: FeedWindow?, _ rows: consuming FeedRows,
        keeping detail: FeedContents.Detail = .whole
    ) {
        let today = CivilDate(daysSinceEpoch: 0)
        filter = FeedFilter(live, window: window ?? FeedWindow(live.configuration, today: today, zone: live.zone))
        isUnlimited = window == nil
        builder = EntryBuilder(look: live.look, names: rows.names)
        userID = live.feed.userID
        self.detail = detail
        self.rows = rows
        self.rows.items.reverse()
    }

    /// Takes some entries; false when there are no more.
    mutating func goOn() throws -> Bool {
        let before = budget.left
        for _ in 0..<Self.entriesAtOnce where before - budget.left < Self.stepsAtOnce {
            guard try next() else { return false }
        }
        return true
    }

    private mutating func next() throws -> Bool {
        if let row = rows.items.popLast() {
            let content = try ItemContent(row)
            let occurrences = row.collection == .appointments ? rows.changed[row.id] ?? [] : []
            let events = try builder.events(
                of: row, content, occurrences: occurrences, isOwn: content.ownerID == userID)
            add(
                events, row.collection.rawValue, row.id, EntryTraits(row, content), EntrySpan(row, occurrences))
            return true
        }
        if series == nil {
            series = try ImportedSeries.all(rows.imported).reversed()
            rows.imported = []
        }
        guard let one = series?.popLast() else {
            addOwn()
            return false
        }
        add(builder.events(of: one), "imported", one.shownUID, EntryTraits(one), EntrySpan(one))
        return true
    }

    /// Adds what is the owner's alone, behind all of the circle.
    private mutating func addOwn() {
        for (entry, exclusion) in rows.own.judged(by: filter) {
            append(entry.events, entry.collection, entry.id, exclusion)
        }
    }

    private mutating func add(
        _ events: [Event], _ collection: String, _ id: String, _ traits: EntryTraits, _ span: EntrySpan
    ) {
        var exclusion = filter.exclusion(of: traits)
        if exclusion == nil, !isUnlimited {
            exclusion = filter.exclusion(by: Extent(of: events, zone: filter.zone), span, &budget)
        }
        append(events, collection, id, exclusion)
    }

    private mutating func append(_ events: [Event], _ collection: String, _ id: String, _ exclusion: Exclusion?) {
        let kept =
            switch detail {
            case .whole: events
            case .outline: events.map(\.outline)
            case .verdict: [Event]()
            }
        contents.entries.append(
            FeedContents.Entry(collection: collection, id: id, events: kept, exclusion: exclusion))
    }
}

extension Event {
    /// The event without what no list shows.
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
