// SPDX-License-Identifier: Apache-2.0

@testable import Pages

extension Samples {
    var healthSamples: [Sample] {
        typealias Subscription = SubscriptionsPage.Subscription
        let feed = FeedSummary(
            id: "f6", label: text("Tablet"), lastReadAt: Self.hours(-60), lastClient: text("Outlook"),
            alerts: [.overdue(client: text("Outlook"), lastSeenAt: Self.hours(-60))])
        let renewed = FeedSummary(
            id: "f7", label: text("Watch"), lastReadAt: Self.hours(-20), lastClient: text("Apple Calendar (iOS)"),
            alerts: [.renewed(at: Self.hours(-4))])
        let moved = FeedSummary(
            id: "f8", label: text("Tower"), lastReadAt: Self.hours(-1), lastClient: text("Outlook"),
            alerts: [.formerEnds(at: Self.hours(70))])
        let ended = FeedSummary(id: "f9", label: text("Visitors"), state: .expired(at: Self.hours(-100)))
        let circles = [
            HealthPage.Circle(
                id: "rose-family", name: text("Rose Family"), feeds: feeds + [feed, renewed, moved, ended],
                connections: [
                    connection(.google, .active), connection(.outlook, .needsReconnect, .failed),
                    connection(.caldav, .active, .partial, alerts: [.held(run: "r9", deletions: 14), .conflicts(2)]),
                    connection(.apple, .active),
                ],
                subscriptions: [
                    Subscription(
                        id: "s1", label: text("Matches"), host: text("club.example.org"), events: 38, minutes: 60,
                        lastFetchedAt: Self.hours(-0.6))
                ]),
            HealthPage.Circle(
                id: "b", name: text("Hans at home"), feeds: [],
                connections: [
                    connection(.google, .calendarGone, alerts: [.calendarGone]), connection(.caldav, .paused),
                    connection(.outlook, .choosing, nil), connection(.apple, .paused),
                ],
                subscriptions: [
                    Subscription(
                        id: "s2", label: "", host: text("school.example.org"), events: 0, minutes: 60,
                        lastFetchedAt: Self.hours(-30), problem: .missing),
                    Subscription(
                        id: "s3", label: text("Holidays"), host: text("example.org"), isPaused: true, events: 1,
                        minutes: 60),
                ]),
        ]
        let well = HealthPage.Circle(
            id: "rose-family", name: text("Rose Family"), feeds: [feeds[0], feeds[2]], connections: [],
            subscriptions: [])
        return [
            Sample(
                name: "health",
                page: HealthPage(
                    circles: circles, apple: .connected(read: true, write: true),
                    phone: ConnectorPhone(
                        name: text("Maria’s iPhone"), lastSeenAt: Self.hours(-2),
                        trouble: (.permissionRevoked, at: Self.hours(-30))),
                    devices: [
                        .init(id: "d2", name: text("Pixel"), since: Self.hours(-2000), lastSeenAt: Self.hours(-900)),
                        .init(id: "d3", name: text("iPad"), since: Self.hours(-3)),
                    ],
                    passwords: [
                        .init(id: "p2", label: text("Thunderbird"), lastUsedAt: Self.hours(-30)),
                        .init(
                            id: "p1", label: text("Laptop"), lastUsedAt: Self.hours(-0.2),
                            alerts: [.manyNetworks(11, at: Self.hours(-1))]),
                        .init(id: "p4", label: text("Old"), lastUsedAt: Self.hours(-900), expiredAt: Self.hours(-8)),
                    ])),
            Sample(
                name: "health-well",
                page: HealthPage(
                    circles: [well], apple: .connected(read: true, write: true),
                    phone: ConnectorPhone(name: text("Maria’s iPhone"), lastSeenAt: Self.hours(-2)), devices: [],
                    passwords: [])),
            Sample(
                name: "health-empty",
                page: HealthPage(circles: [], apple: .notConnected, phone: nil, devices: [], passwords: [])),
        ]
    }
}
