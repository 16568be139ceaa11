// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Pages
import Storage

/// `/app`: a user's circles; if there is only one, it is opened at once.
struct CirclePages: Sendable {
    /// The most circles on one page.
    private static let most = 200

    func add(to routes: inout RouteTable) {
        routes.page(.get, "/app", for: .session) { visit in
            let (services, caller) = (visit.services, try visit.caller())
            let circles = try await services.circles.list(PageRequest(limit: Self.most), for: caller)
            if circles.count == 1, let only = circles.first {
                return visit.redirect(to: "/app/circles/\(only.id.pathSegment)")
            }
            var shown: [CirclesPage.Circle] = []
            for circle in circles {
                let feeds = try await Feeds(services: services).list(
                    PageRequest(limit: services.settings.quotas.feedsPerUser), in: circle.id, for: caller)
                let connections = try await services.connections.list(
                    PageRequest(limit: services.settings.quotas.connectionsPerUser), in: circle.id, for: caller)
                let (kinds, now) = (services.settings.kinds, services.now())
                shown.append(
                    CirclesPage.Circle(
                        id: circle.id, name: circle.name, feeds: feeds.count, connections: connections.count,
                        attention: try feeds.count { try !FeedSummary($0, kinds, now: now).alerts.isEmpty }
                            + connections.count { !$0.attention.isEmpty }))
            }
            return try await visit.page(CirclesPage(circles: shown))
        }
    }
}
