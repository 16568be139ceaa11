// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import ICalBridge
import KalendsCore
import Pages
import Storage

/// A circle's calendar as month, week and agenda, and a page for each of its items.
struct CalendarPages: Sendable {
    let kinds: ItemKinds

    /// The most people and patients that a filter offers.
    private static let most = 1_000

    func add(to routes: inout RouteTable) {
        routes.page(.get, "/app/circles/{circle}", for: .circle(.read), Self.calendar)
        for kind in kinds.list {
            routes.page(.get, "/app/circles/{circle}/\(kind.collection.rawValue)/{id}", for: .circle(.read)) { visit in
                try await Self.item(visit, kind)
            }
        }
    }

    @Sendable
    private static func calendar(_ visit: PageVisit) async throws -> Response {
        let (services, caller, circle) = (visit.services, try visit.caller(), try await visit.circle())
        let zone = try await visit.zone(in: circle)
        let view = visit.query["view"].flatMap { CalendarPage.View(text: $0) } ?? .month
        let today = PageZone(zone).local(services.now()).day
        let day = visit.query["date"].flatMap { CivilDay($0) }.flatMap { Self.bounds.contains($0) ? $0 : nil } ?? today
        let filter = CalendarPage.Filter(
            kinds: Set(visit.query.all("kind").compactMap { EntryKind(text: $0) }), person: visit.given("person"),
            patient: visit.given("patient"), feed: visit.given("feed"))
        let all = PageRequest(limit: Self.most)
        let feeds = try await Feeds(services: services).list(
            PageRequest(limit: services.settings.quotas.feedsPerUser), in: circle.id, for: caller)
        var days = CalendarPage.days(of: view, from: day)
        if view == .month { days = days.lowerBound.adding(-6)...days.upperBound.adding(6) }
        let (from, to) = (CivilDate(days.lowerBound), CivilDate(days.upperBound.adding(1)))
        let entries = try await LongWork.run {
            if let feed = filter.feed {
                return try await Self.entries(ofFeed: feed, in: circle, from: from, to: to, zone, visit)
            }
            let found = try await CircleDays.of(
                circle.id, from: from, to: to, in: zone, for: caller, services)
            return found.entries.filter { $0.isWanted(filter) }.map {
                PageEntry($0, in: circle.id, found.names, zone)
            }
        }
        let kept = filter.kinds.isEmpty ? entries : entries.filter { filter.kinds.contains($0.kind) }
        return try await visit.page(
            CalendarPage(
                view: view, day: day, filter: filter,
                people: try await services.members.list(all, in: circle.id, for: caller).map {
                    Named(id: $0.userID, name: $0.displayName)
                },
                patients: try await services.patients.list(all, in: circle.id, for: caller).map {
                    Named(id: $0.id, name: $0.displayName)
                },
                feeds: feeds.map { Named(id: $0.feed.feed.id, name: $0.feed.feed.label ?? $0.feed.feed.tokenHint) },
                entries: kept), in: circle)
    }

    /// The years that a calendar page can show.
    private static let bounds = CivilDay(year: 1900, month: 2, day: 1)...CivilDay(year: 2199, month: 11, day: 1)

    /// The entries that one of the reader's feeds shows.
    static func entries(
        ofFeed feed: String, in circle: Circle, from: CivilDate, to: CivilDate, _ zone: TimeZoneReference,
        _ visit: PageVisit
    ) async throws -> [PageEntry] {
        let days = FeedPreview.Days(from: .day(from), to: .day(to))
        let preview = try await FeedPreview.of(
            feed, for: try visit.caller(), days: days, .init(bytes: 4 * PageText.mostBytes, isShownOnly: true),
            visit.services)
        defer { withExtendedLifetime(preview) {} }
        return CircleDays.occurrences(of: preview, from: from, to: to, in: zone).map {
            PageEntry($0.entry, $0.occurrence, visit.services.settings.kinds, in: circle.id, zone)
        }
    }

    private static func item(_ visit: PageVisit, _ kind: any ItemContent.Type) async throws -> Response {
        let (services, caller, circle) = (visit.services, try visit.caller(), try await visit.circle())
        let shown = try await services.schedule.get(try visit.id("id"), kind, in: circle.id, for: caller)
        guard let content = shown.content else { throw Refusal.missing(kind.resource) }
        let names = try await CircleDays.names(of: circle.id, for: caller, services)
        let zone = try await visit.zone(in: circle)
        var page = ItemPage(shown.item, content, names, circle, reader: zone)
        let reach = try await Reach(services: services).of(shown.item.id, kind, in: circle.id, for: caller)
        page.reach = ItemReach(reach)
        let kinds = services.settings.kinds
        page.silent = try reach.silent.map { silent in
            let feed = silent.feed
            let hidden = EntryKind.hidden(by: try FeedConfiguration(stored: feed.config, kinds), kinds)
            return (FeedSummary(id: feed.id, label: feed.label ?? "", hidden: hidden), silent.why.word)
        }
        return try await visit.page(page, in: circle)
    }
}

extension PageVisit {
    /// A query parameter; nil when it is missing or empty.
    func given(_ name: String) -> String? { query[name].flatMap { $0.isEmpty ? nil : $0 } }
}

extension CivilDate {
    init(_ day: CivilDay) { self.init(daysSinceEpoch: day.number) }
}
