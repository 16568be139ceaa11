// SPDX-License-Identifier: Apache-2.0

import Calendar
import FeedTokens
import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import Pages
import Storage

/// `/app/circles/{circle}/calendar-sync`: the visitor's feeds and connections, each with its state.
struct SyncPages: Sendable {
    static let path = "/app/circles/{circle}/calendar-sync"

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .circle(.read)) { try await Self.page($0) }
        routes.page(.post, "/app/circles/{circle}/feeds", for: .circle(.read), back: Self.path) { visit in
            try await Self.answering(visit) { draft in
                let made = try await visit.services.feeds.create(
                    draft, in: try visit.id("circle"), for: try visit.caller())
                return try await FeedPages.page(
                    visit, made.feed.feed.id, address: made.address, done: .feedCreated)
            }
        }
        routes.page(.post, "/app/circles/{circle}/feed-look", for: .circle(.read), back: Self.path) { visit in
            try await Self.answering(visit) { draft in
                let names = ContentForm<FeedConfiguration>(kinds: visit.services.settings.kinds).names + ["until"]
                return try await Self.page(visit, Draft(values: visit.form.typed(names)), look: draft)
            }
        }
    }

    /// Does something with the feed of the form; a refusal is shown in the form.
    private static func answering(
        _ visit: PageVisit, _ body: (Feeds.Draft) async throws -> Response
    ) async throws -> Response {
        let content = ContentForm<FeedConfiguration>(kinds: visit.services.settings.kinds)
        do {
            var draft = Feeds.Draft(content.body(visit.form), content.kinds)
            let end = try await FeedPages.end(visit)
            draft.expiresAt = end.at
            if let fault = end.fault { draft.faults.append(fault) }
            return try await body(draft)
        } catch let refusal as Refusal {
            guard let draft = Draft(ofFeed: refusal, visit.form, content) else { throw refusal }
            return try await Self.page(visit, draft)
        }
    }

    /// The page; with a draft it is the answer to a form that was refused, or that asked for a look.
    ///
    /// - Parameter look: the new feed that the page shows before it is made.
    static func page(
        _ visit: PageVisit, _ draft: Draft = Draft(), look: Feeds.Draft? = nil
    ) async throws -> Response {
        let (services, settings, now) = (visit.services, visit.services.settings, visit.services.now())
        let audience = (visit.query["for"] ?? visit.form["for"]).flatMap { Audience(text: $0) }
        try await services.counter.foldForReading()
        let read = try await visit.read(isLarge: look != nil) { circle, visitor in
            let connections = try circle.connections(
                PageRequest(limit: settings.quotas.connectionsPerUser), settings.connections
            ).map { ConnectionSummary($0, try circle.runs(of: $0.own, limit: 1), settings.connections) }
            let hasPhone = connections.contains { $0.provider == .apple }
            let today = PageZone(visitor.zone).local(now).day
            let shown = try look.map {
                try CalendarPages.entries(
                    ofNew: $0, in: circle, from: today, to: today.adding(days: 14), visitor.zone, services)
            }
            var page = SyncPage(
                feeds: try circle.feeds(PageRequest(limit: settings.quotas.feedsPerUser)).map {
                    try FeedSummary($0, settings.kinds, now: now)
                },
                connections: connections,
                // One phone serves all of a person's circles, so it does not have to be connected again.
                offers: (Provider.offered + (hasPhone ? [] : [.apple])).map { provider in
                    SyncPage.Offer(
                        provider, missingSetting: settings.connections.missing(for: provider.stored).first?.variable)
                },
                content: ContentForm(kinds: settings.kinds).fields(
                    FeedConfiguration(for: audience ?? .me, settings.kinds),
                    patients: try FeedPages.patients(of: circle)), draft: draft,
                audience: audience, until: audience?.days.map { today.adding(days: $0) },
                look: shown?.entries)
            page.isLookWhole = shown?.isWhole ?? true
            return page
        }
        return try await visit.page(read, status: draft.status, path: visit.filled(Self.path))
    }
}

extension FeedConfiguration {
    /// The suggestion for a feed, by its audience: people who need to act see everything, others only when time is taken.
    fileprivate init(for audience: Audience, _ kinds: ItemKinds) {
        self.init()
        let shown: [EntryKind]
        switch audience {
        case .me, .home: return
        case .helper:
            includeImported = false
            return
        case .work: shown = [.shift, .appointment]
        case .everybody: shown = [.appointment]
        }
        hidden = Set(kinds.list.filter { !shown.contains(EntryKind($0)) }.map { $0.collection })
        (detail, includeImported, includeReminders, pastDays, futureDays) = (.busy, false, false, 7, 90)
    }
}

extension Draft {
    /// The status of a page with this draft.
    var status: HTTPResponse.Status { problems.isEmpty ? .ok : .unprocessableContent }
}
