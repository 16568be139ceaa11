// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Pages
import Storage

/// `/app/circles/{circle}/calendar-sync`: the visitor's feeds and connections, each with its state.
struct SyncPages: Sendable {
    static let path = "/app/circles/{circle}/calendar-sync"

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .circle(.read)) { visit in
            try await Self.page(visit, in: try await visit.circle())
        }
        routes.page(.post, "/app/circles/{circle}/feeds", for: .circle(.read), back: Self.path) { visit in
            let (services, caller, circle) = (visit.services, try visit.caller(), try await visit.circle())
            let content = ContentForm(
                form: visit.form, isConnection: false, kinds: visit.services.settings.kinds)
            do {
                let draft = try Feeds.Draft(content.body, content.kinds, for: caller, now: services.now())
                let made = try await Feeds(services: services).create(draft, in: circle.id, for: caller)
                return try await FeedPages.page(
                    visit, made.feed.feed.id, in: circle, address: made.address, done: .feedCreated)
            } catch let refusal as Refusal {
                guard let draft = Draft(refusal, of: visit.form, content.names, fields: ContentForm.fields) else {
                    throw refusal
                }
                return try await Self.page(visit, in: circle, draft)
            }
        }
    }

    /// The page; with a draft it is the answer to a form that was refused.
    static func page(_ visit: PageVisit, in circle: Circle, _ draft: Draft = Draft()) async throws -> Response {
        let (services, caller) = (visit.services, try visit.caller())
        let (quotas, now) = (services.settings.quotas, services.now())
        let feeds = try await Feeds(services: services).list(
            PageRequest(limit: quotas.feedsPerUser), in: circle.id, for: caller)
        var connections: [ConnectionSummary] = []
        for shown in try await services.connections.list(
            PageRequest(limit: quotas.connectionsPerUser), in: circle.id, for: caller)
        {
            let runs = try await services.connections.runs(of: shown.own.id, before: Int.max, limit: 1, for: caller)
            connections.append(ConnectionSummary(shown, runs, services.settings.connections))
        }
        let hasPhone = connections.contains { $0.provider == .apple }
        let page = SyncPage(
            feeds: try feeds.map { try FeedSummary($0, services.settings.kinds, now: now) },
            connections: connections,
            // One phone serves all of a person's circles, so it does not have to be connected again.
            offers: (Provider.offered + (hasPhone ? [] : [.apple])).map { provider in
                SyncPage.Offer(
                    provider,
                    missingSetting: services.settings.connections.missing(for: provider.stored).first?.variable)
            }, patients: try await FeedPages.patients(of: circle, visit), draft: draft,
            signInOrigins: Provider.offered.compactMap {
                services.settings.connections.signInOrigin(of: $0.stored)
            })
        return try await visit.page(
            page, status: draft.problems.isEmpty ? .ok : .unprocessableContent, in: circle,
            path: visit.filled(Self.path))
    }
}
