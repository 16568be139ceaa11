// SPDX-License-Identifier: Apache-2.0

import Calendar
import FeedTokens
import ICalBridge
import KalendsCore
import Pages
import Storage

// Converts feeds for the pages.

extension FeedSummary {
    init(_ listed: Feeds.Listed, _ kinds: ItemKinds, now: Int) throws {
        try self.init(listed.feed, listed.rhythms, bytes: nil, kinds, now: now)
    }

    init(_ shown: Feeds.Shown, _ kinds: ItemKinds, now: Int) throws {
        try self.init(shown.feed, shown.health.clients, bytes: shown.health.weight?.size, kinds, now: now)
    }

    /// - Parameter bytes: the size of the feed, if it is known.
    private init(
        _ counted: CountedFeed, _ rhythms: [ClientRhythm], bytes: Int?, _ kinds: ItemKinds, now: Int
    ) throws {
        let feed = counted.feed
        let configuration = try FeedConfiguration(stored: feed.config, kinds)
        self.init(
            id: feed.id, label: feed.label ?? "", lastReadAt: feed.lastAccessedAt,
            hidden: EntryKind.hidden(by: configuration, kinds))
        // The older option for minimal details shows at most titles.
        let isMinimal = configuration.showMinimalDetails && configuration.detail == .full
        detail = isMinimal ? FeedConfiguration.Detail.titles.rawValue : configuration.detail.rawValue
        readers = rhythms.map { (name: ClientFamily(code: $0.client).rawValue, seenAt: $0.lastSeenAt) }
        let latest = rhythms.max { $0.lastSeenAt < $1.lastSeenAt }
        lastClient = latest.map { ClientFamily(code: $0.client).rawValue }
        if let at = feed.revokedAt {
            state = .revoked(at: at)
        } else if let at = feed.expiresAt, at <= now {
            state = .expired(at: at)
        } else {
            alerts = counted.attention.map { attention in
                switch attention.kind {
                case .newClient(let code):
                    .newClient(ClientFamily(code: code).rawValue, at: attention.notedAt)
                case .manyNetworks(let count): .manyNetworks(count, at: attention.notedAt)
                }
            }
            if let at = counted.unreadSince {
                let end = counted.formerUntil ?? at
                if now < end {
                    alerts.append(.formerEnds(at: end))
                } else if end <= at
                    || (now >= end + Self.day
                        && rhythms.allSatisfy { $0.expectedAt == nil || $0.isOverdue(now: now) })
                {
                    // Who has the new address already reads there within a day, or when they usually do.
                    alerts.append(.renewed(at: at))
                }
            }
            if let bytes, FeedHealth.isLarge(bytes) { alerts.append(.large(bytes: bytes)) }
            for rhythm in rhythms where rhythm.isOverdue(now: now) {
                alerts.append(
                    .overdue(client: ClientFamily(code: rhythm.client).rawValue, lastSeenAt: rhythm.lastSeenAt))
            }
            if let at = feed.expiresAt, at - now < Self.soon { alerts.append(.expiresSoon(at: at)) }
        }
    }

    private static let day = 86_400_000
    /// An expiry closer than this needs attention, in milliseconds.
    private static let soon = 7 * day
}

extension FeedPage {
    /// - Parameters:
    /// - address: the address with its secret, if the owner asked for it.
    /// - preview: the entries of the next two weeks.
    init(
        _ shown: Feeds.Shown, patients: [Named], preview: [PageEntry], address: Feeds.Address?,
        _ settings: ServerSettings, draft: Draft = Draft(), now: Int
    ) throws {
        let feed = shown.feed.feed
        let counts = shown.feed.clients
        let links = address.map { settings.links($0.token, name: $0.circleName) }
        self.init(
            feed: try FeedSummary(shown, settings.kinds, now: now), url: links?.url,
            links: links?.apps ?? [], tokenHint: feed.tokenHint, accessCount: feed.accessCount,
            createdAt: feed.createdAt,
            expiresAt: feed.expiresAt, formerUntil: shown.feed.formerUntil.flatMap { $0 > now ? $0 : nil },
            clients: shown.health.clients.map { rhythm in
                Client(
                    name: ClientFamily(code: rhythm.client).rawValue,
                    count: counts.first { $0.client == rhythm.client }?.accessCount ?? 0,
                    lastSeenAt: rhythm.lastSeenAt, expectedAt: rhythm.expectedAt,
                    isOverdue: rhythm.isOverdue(now: now))
            },
            reads: shown.health.days.map {
                DayReads(
                    day: CivilDate(daysSinceEpoch: $0.day), client: ClientFamily(code: $0.client).rawValue,
                    count: $0.accessCount)
            },
            content: ContentForm(kinds: settings.kinds).fields(
                try FeedConfiguration(stored: feed.config, settings.kinds), patients: patients),
            preview: preview,
            leftOut: Dictionary(
                (shown.health.weight?.leftOut ?? [:]).map { ($0.key.rule, $0.value) }, uniquingKeysWith: +
            ).map { LeftOut(rule: $0.key, count: $0.value) }
                .sorted { $0.count > $1.count }, draft: draft)
    }
}

extension FeedLinks {
    /// The links and addresses for each calendar app, for pages.
    var apps: [FeedPage.AppLink] {
        SubscriptionForm.allCases.map { form in
            FeedPage.AppLink(app: form.rawValue, address: address(form), isLink: form.isLink)
        }
    }
}

extension EntryKind {
    /// The kinds of entries that a configuration hides.
    static func hidden(by configuration: FeedConfiguration, _ kinds: ItemKinds) -> [EntryKind] {
        let shown = ContentForm(kinds: kinds).shown(by: configuration)
        return [.task, .shift, .appointment, .followUp, .imported].filter { !shown.contains($0) }
    }
}

extension Exclusion {
    /// What pages say of it.
    var rule: FeedPage.LeftOut.Rule {
        switch self {
        case .kind: .kind
        case .patient: .patient
        case .completed: .completed
        case .window: .window
        case .privateEvent: .privateEvent
        case .costly: .costly
        case .repeated: .repeated
        }
    }
}
