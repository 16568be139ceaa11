// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import Pages
import Storage

/// `/app/circles/{circle}/calendar-sync`: the visitor's feeds and connections, each with its state.
struct SyncPages: Sendable {
    static let path = "/app/circles/{circle}/calendar-sync"

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .circle(.read)) { try await Self.page($0) }
        routes.page(.post, "/app/circles/{circle}/feeds", for: .circle(.read), back: Self.path) { visit in
            let (services, caller) = (visit.services, try visit.caller())
            let content = ContentForm<FeedConfiguration>(kinds: services.settings.kinds)
            do {
                let draft = Feeds.Draft(content.body(visit.form), content.kinds)
                let made = try await Feeds(services: services).create(draft, in: try visit.id("circle"), for: caller)
                return try await FeedPages.page(
                    visit, made.feed.feed.id, address: made.address, done: .feedCreated)
            } catch let refusal as Refusal {
                guard let draft = Draft(refusal, of: visit.form, content.names, fields: content.renamed) else {
                    throw refusal
                }
                return try await Self.page(visit, draft)
            }
        }
    }

    /// The page; with a draft it is the answer to a form that was refused.
    static func page(_ visit: PageVisit, _ draft: Draft = Draft()) async throws -> Response {
        let (settings, now) = (visit.services.settings, visit.services.now())
        try await visit.services.counter.fold()
        let read = try await visit.read { circle, _ in
            let connections = try circle.connections(
                PageRequest(limit: settings.quotas.connectionsPerUser), settings.connections
            ).map { ConnectionSummary($0, try circle.runs(of: $0.own, limit: 1), settings.connections) }
            let hasPhone = connections.contains { $0.provider == .apple }
            return SyncPage(
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
                    FeedConfiguration(), patients: try FeedPages.patients(of: circle)), draft: draft,
                signInOrigins: Provider.offered.compactMap { settings.connections.signInOrigin(of: $0.stored) })
        }
        return try await visit.page(read, status: draft.status, path: visit.filled(Self.path))
    }
}

extension Draft {
    /// The status of a page with this draft.
    var status: HTTPResponse.Status { problems.isEmpty ? .ok : .unprocessableContent }
}
