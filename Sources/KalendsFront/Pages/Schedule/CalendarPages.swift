// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Hummingbird
import ICalBridge
import KalendsCore
import Pages
import Storage

/// A circle's calendar as month, week and agenda, and a page for each of its items.
struct CalendarPages: Sendable {
    let kinds: ItemKinds

    /// The maximum number of people and patients that a filter offers.
    private static let most = 1_000
    /// The maximum number of entries that a search lists.
    private static let mostFound = 200

    func add(to routes: inout RouteTable) {
        routes.page(.get, "/app/circles/{circle}", for: .circle(.read), Self.calendar)
        for kind in kinds.list {
            routes.page(.get, "/app/circles/{circle}/\(kind.collection.rawValue)/{id}", for: .circle(.read)) { visit in
                try await Self.item(visit, kind)
            }
        }
    }

    private static func calendar(_ visit: PageVisit) async throws -> Response {
        let (services, view) = (visit.services, visit.query["view"].flatMap { CalendarPage.View(text: $0) } ?? .month)
        var filter = CalendarPage.Filter(
            kinds: Set(visit.query.all("kind").compactMap { EntryKind(text: $0) }), person: visit.given("person"),
            patient: visit.given("patient"), feed: visit.given("feed"),
            text: visit.given("q").map { String($0.prefix(CalendarPage.longestSearch)) })
        // A feed has its own rules for people and patients, which only its settings change.
        if filter.feed != nil { (filter.person, filter.patient) = (nil, nil) }
        let asked = visit.query["date"].flatMap { CalendarPage.day($0) }
        let all = PageRequest(limit: Self.most)
        let read = try await visit.read(isLarge: true) { [filter] circle, visitor in
            let zone = visitor.zone
            let day = asked ?? PageZone(zone).local(services.now()).day
            // Weeks begin where the reader's do, and a month shows the whole of its weeks.
            let days = filter.text == nil ? CalendarPage.days(of: view, from: day) : CalendarPage.searched(around: day)
            let (from, to) = (days.lowerBound.adding(days: -6), days.upperBound.adding(days: 7))
            var entries: [PageEntry]
            var isWhole = true
            if let feed = filter.feed {
                (entries, isWhole) = try Self.entries(ofFeed: feed, in: circle, from: from, to: to, zone, services)
            } else {
                let own = try CircleDays(of: circle, from: from, to: to, in: zone, services.settings)
                (entries, isWhole) = (own.pageEntries(filter, in: circle.id, zone), own.isComplete)
            }
            if !filter.kinds.isEmpty { entries = entries.filter { filter.kinds.contains($0.kind) } }
            if let text = filter.text {
                let wanted = Array(text.lowercased())
                entries = entries.filter { $0.title.lowercased().contains(wanted) }
                isWhole = isWhole && entries.count <= Self.mostFound
                // What is to come counts first, then the latest of what was.
                let ahead = entries.firstIndex { !$0.isOver(before: day, in: PageZone(zone)) } ?? entries.count
                let start = max(0, min(ahead, entries.count - Self.mostFound))
                entries = Array(entries[start...].prefix(Self.mostFound))
            }
            return CalendarPage(
                view: view, day: day, filter: filter,
                people: try circle.members(all).map { Named(id: $0.userID, name: $0.displayName) },
                patients: try circle.patients(all).map { Named(id: $0.id, name: $0.displayName) },
                feeds: try circle.feeds(PageRequest(limit: services.settings.quotas.feedsPerUser)).map {
                    Named(id: $0.feed.feed.id, name: $0.feed.feed.label ?? $0.feed.feed.tokenHint)
                },
                entries: entries, isWhole: isWhole)
        }
        return try await visit.page(read)
    }

    /// The entries that one of the reader's feeds shows.
    static func entries(
        ofFeed feed: String, in circle: AuthorizedCircle, from: CivilDate, to: CivilDate, _ zone: TimeZoneReference,
        _ services: Services
    ) throws -> (entries: [PageEntry], isWhole: Bool) {
        let days = FeedPreview.Days(from: .day(from), to: .day(to))
        let preview = try circle.preview(of: feed, days, bytes: 4 * PageText.mostBytes, services.feedContext)
        return entries(of: preview, in: circle, from: from, to: to, zone, services)
    }

    /// The entries that a new feed would show.
    static func entries(
        ofNew draft: Feeds.Draft, in circle: AuthorizedCircle, from: CivilDate, to: CivilDate,
        _ zone: TimeZoneReference, _ services: Services
    ) throws -> (entries: [PageEntry], isWhole: Bool) {
        let days = FeedPreview.Days(from: .day(from), to: .day(to))
        let preview = try circle.preview(of: draft, days, bytes: 4 * PageText.mostBytes, services.feedContext)
        return entries(of: preview, in: circle, from: from, to: to, zone, services)
    }

    private static func entries(
        of preview: FeedPreview, in circle: AuthorizedCircle, from: CivilDate, to: CivilDate,
        _ zone: TimeZoneReference, _ services: Services
    ) -> (entries: [PageEntry], isWhole: Bool) {
        let (found, isWhole) = CircleDays.occurrences(of: preview, from: from, to: to, in: zone)
        let entries = found.map { PageEntry($0.entry, $0.occurrence, services.settings.kinds, in: circle.id, zone) }
        return (entries, isWhole)
    }

    private static func item(_ visit: PageVisit, _ kind: any ItemContent.Type) async throws -> Response {
        let (services, id) = (visit.services, try visit.id("id"))
        try await services.counter.foldForReading()
        let read = try await visit.read { circle, visitor in
            let item = try circle.item(id, kind)
            guard let content = item.content else { throw Refusal.missing(kind.resource) }
            var page = ItemPage(item.item, content, try circle.names, circle.circle, reader: visitor.zone)
            page.item = "\(kind.collection.rawValue)/\(id)"
            let reach = try services.reach.of(id, kind, in: circle)
            page.reach = ItemReach(reach)
            let kinds = services.settings.kinds
            page.silent = try reach.silent.map { silent in
                let feed = silent.feed
                let hidden = EntryKind.hidden(by: try FeedConfiguration(stored: feed.config, kinds), kinds)
                return (FeedSummary(id: feed.id, label: feed.label ?? "", hidden: hidden), silent.why.rule)
            }
            return page
        }
        return try await visit.page(read)
    }
}

extension PageVisit {
    /// A query parameter; nil when it is missing or empty.
    func given(_ name: String) -> String? { query[name].flatMap { $0.isEmpty ? nil : $0 } }
}
