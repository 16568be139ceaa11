// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import KalendsCore
import Pages
import Storage

/// `/app`: a user's circles; if there is only one, it is opened at once.
struct CirclePages: Sendable {
    /// The maximum number of circles on one page.
    private static let most = 200

    func add(to routes: inout RouteTable) {
        routes.page(.get, "/app", for: .session) { visit in
            let (settings, now) = (visit.services.settings, visit.services.now())
            try await visit.services.counter.foldForReading()
            let read = try await visit.readOwn { user, _ in
                CirclesPage(
                    circles: try user.circles(limit: Self.most).map { circle in
                        let own = try user.circle(circle.id)
                        let feeds = try own.feeds(PageRequest(limit: settings.quotas.feedsPerUser))
                        let connections = try own.connections(
                            PageRequest(limit: settings.quotas.connectionsPerUser), settings.connections)
                        return CirclesPage.Circle(
                            id: circle.id, name: circle.name, feeds: feeds.count, connections: connections.count,
                            attention: try feeds.count {
                                try !FeedSummary($0, settings.kinds, now: now).alerts.isEmpty
                            } + connections.count { !$0.attention.isEmpty })
                    })
            }
            if read.0.circles.count == 1, let only = read.0.circles.first {
                return visit.redirect(to: "/app/circles/\(only.id.pathSegment)")
            }
            return try await visit.page(read)
        }
    }
}
