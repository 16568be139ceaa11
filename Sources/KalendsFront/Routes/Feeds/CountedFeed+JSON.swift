// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import KalendsCore
import Storage

extension CountedFeed {
    /// Everything but what its configuration says.
    static let view = View<CountedFeed>([
        .text("id", \.feed.id), .id("circleId", \.feed.circleID), .id("userId", \.feed.userID),
        .text("label", \.feed.label),
        .text("tokenHint", \.feed.tokenHint).described("The first characters of the secret, to distinguish addresses."),
        .instant("createdAt", \.feed.createdAt), .instant("expiresAt", \.feed.expiresAt),
        .instant("formerUntil", \.formerUntil).described(
            "When the last former address stops being answered, or stopped."),
        .instant("revokedAt", \.feed.revokedAt), .count("accessCount", \.feed.accessCount),
        .instant("lastAccessedAt", \.feed.lastAccessedAt), .instant("lastRevealedAt", \.feed.lastRevealedAt),
        .list("clients", \.clients, of: FeedClient.view),
        .list("attention", \.attention, of: FeedAttention.view(of: .feed)),
    ])

    func json(_ kinds: ItemKinds) throws -> JSONValue { .object(try members(kinds)) }

    fileprivate func members(_ kinds: ItemKinds) throws -> [ByteString: JSONValue] {
        var members = Self.view.members(of: self)
        members["config"] = try FeedConfiguration(stored: feed.config, kinds).json(kinds)
        return members
    }
}

extension Feeds.Listed {
    /// The feed as a list shows it, with less of its health than the feed itself shows.
    func json(_ kinds: ItemKinds, now: Int) throws -> [ByteString: JSONValue] {
        var json = try feed.members(kinds)
        json["health"] = FeedHealth.view.json((rhythms, nil, now))
        return json
    }
}

extension Feeds.Shown {
    func json(_ kinds: ItemKinds, now: Int) throws -> [ByteString: JSONValue] {
        var json = try feed.members(kinds)
        json["health"] = FeedHealth.view.json((health.clients, health, now))
        return json
    }
}

extension Feeds.Addressed {
    /// The feed with its secret.
    func json(_ settings: ServerSettings) throws -> [ByteString: JSONValue] {
        var json = try feed.members(settings.kinds)
        let links = settings.links(address.token, name: address.circleName)
        json.merge(FeedLinks.view.members(of: links)) { _, new in new }
        json["token"] = .string(address.token.reveal())
        return json
    }
}

extension FeedClient {
    static let view = View<FeedClient>([
        .text("client") { ClientFamily(code: $0.client).rawValue }, .count("count", \.accessCount),
        .instant("lastSeenAt", \.lastSeenAt),
    ])
}

extension FeedAttention {
    /// The feed or app password that was accessed.
    enum Holder {
        case feed, appPassword

        var advice: String {
            switch self {
            case .feed: "If that was not you, regenerate or revoke the feed."
            case .appPassword: "If that was not you, end the password."
            }
        }

        /// The action, such as “The feed was read”.
        var used: String {
            switch self {
            case .feed: "The feed was read"
            case .appPassword: "The password was used"
            }
        }

        /// The sentence about a program, without its name.
        var newClient: String {
            switch self {
            case .feed: "A program that had never read the feed before did so"
            case .appPassword: "A program that had never used the password before did so"
            }
        }
    }

    static func view(of holder: Holder) -> View<FeedAttention> {
        View([
            .init("kind", .one(of: ["newClient", "manyNetworks"])) {
                if case .newClient = $0.kind { "newClient" } else { "manyNetworks" }
            }, .instant("at", \.notedAt),
            .optional("client", .string, \.client) { .string($0) },
            .optional(
                "networks", .count, { if case .manyNetworks(let count) = $0.kind { count } else { nil } }
            ) { .integer($0) },
            .text("message") { $0.message(of: holder) },
        ])
    }

    private var client: String? {
        if case .newClient(let code) = kind { ClientFamily(code: code).rawValue } else { nil }
    }

    private func message(of holder: Holder) -> String {
        switch kind {
        case .newClient(let code):
            "\(holder.newClient): \(ClientFamily(code: code).rawValue). \(holder.advice)"
        case .manyNetworks(let count):
            "\(holder.used) from \(count) networks within 24 hours. \(holder.advice)"
        }
    }
}

extension Feed {
    /// The tag covers what a client can change, not counters.
    var etag: String {
        get throws {
            try JSONValue.array([
                .string(id), JSONValue(label), .string(config), JSONValue(expiresAt), JSONValue(revokedAt),
                .string(tokenHint),
            ]).etag
        }
    }
}

extension ListedAccess: Viewed {
    static let view = View<ListedAccess>([
        .instant("at", \.at), .text("client") { ClientFamily(code: $0.client).rawValue },
        .count("status", \.status).documented(.integer(200...304)),
        .text("network", \.network).described("The address shortened to its network: /24 or /48."),
    ])
}
