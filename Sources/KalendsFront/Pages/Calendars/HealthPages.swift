// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import KalendsCore
import Pages
import Storage

/// `/app/health`: everything that keeps the visitor's calendars in step, as one transaction finds it.
struct HealthPages: Sendable {
    /// The maximum number of circles, and the maximum number of app passwords, on the page.
    private static let (mostCircles, mostPasswords) = (200, 1000)

    func add(to routes: inout RouteTable) {
        routes.page(.get, HealthPage.path, for: .session) { visit in
            let (settings, now) = (visit.services.settings, visit.services.now())
            try await visit.services.counter.foldForReading()
            return try await visit.page(
                try await visit.readOwn { user, _ in
                    let connector = try user.appleConnector
                    let others = try user.devices(PageRequest(limit: settings.quotas.devicesPerUser)).filter {
                        connector.uses == nil || $0.id != connector.device?.id
                    }
                    return HealthPage(
                        circles: try user.circles(limit: Self.mostCircles).map {
                            try Self.circle(try user.circle($0.id), $0.name, settings, now: now)
                        },
                        apple: connector.state, phone: connector.phone, devices: others.map(\.shown),
                        passwords: try user.appPasswords(PageRequest(limit: Self.mostPasswords)).map {
                            AppPasswordSummary($0, now: now)
                        })
                })
        }
    }

    private static func circle(
        _ own: AuthorizedCircle, _ name: String, _ settings: ServerSettings, now: Int
    ) throws -> HealthPage.Circle {
        HealthPage.Circle(
            id: own.id, name: name,
            feeds: try own.feeds(PageRequest(limit: settings.quotas.feedsPerUser)).map {
                try FeedSummary($0, settings.kinds, now: now)
            },
            connections: try own.connections(
                PageRequest(limit: settings.quotas.connectionsPerUser), settings.connections
            ).map { ConnectionSummary($0, try own.runs(of: $0.own, limit: 1), settings.connections) },
            subscriptions: try own.subscriptions(PageRequest(limit: settings.quotas.subscriptionsPerCircle)).map(
                \.page))
    }
}
