// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import KalendsCore
import Storage

extension CountedFeed {
    func json(_ kinds: ItemKinds) throws -> JSONValue {
        [
            "id": .string(feed.id), "circleId": .string(feed.circleID), "userId": .string(feed.userID),
            "label": JSONValue(feed.label), "tokenHint": .string(feed.tokenHint),
            "config": try FeedConfiguration(stored: feed.config, kinds).json(kinds),
            "createdAt": JSONValue(milliseconds: feed.createdAt),
            "expiresAt": JSONValue(milliseconds: feed.expiresAt),
            "revokedAt": JSONValue(milliseconds: feed.revokedAt), "accessCount": .integer(feed.accessCount),
            "lastAccessedAt": JSONValue(milliseconds: feed.lastAccessedAt),
            "lastRevealedAt": JSONValue(milliseconds: feed.lastRevealedAt),
            "clients": .array(
                clients.map {
                    [
                        "client": .string(ClientFamily(code: $0.client).rawValue),
                        "count": .integer($0.accessCount), "lastSeenAt": JSONValue(milliseconds: $0.lastSeenAt),
                    ]
                }),
            "attention": .array(attention.map(\.json)),
        ]
    }
}

extension Feeds.Listed {
    /// The feed as a list shows it, with less of its health than the feed itself shows.
    func json(_ kinds: ItemKinds, now: Int) throws -> [ByteString: JSONValue] {
        var json = try feed.json(kinds).object ?? [:]
        json["health"] = ["clients": .array(rhythms.map { $0.json(now: now) })]
        return json
    }
}

extension Feeds.Shown {
    func json(_ kinds: ItemKinds, now: Int) throws -> [ByteString: JSONValue] {
        var json = try feed.json(kinds).object ?? [:]
        json["health"] = health.json(now: now)
        return json
    }
}

extension Feeds.Addressed {
    /// The feed with its secret.
    func json(_ settings: ServerSettings) throws -> [ByteString: JSONValue] {
        var json = try feed.json(settings.kinds).object ?? [:]
        json.merge(settings.links(address.token, name: address.circleName)) { _, new in new }
        json["token"] = .string(address.token.reveal())
        return json
    }
}

extension FeedAttention {
    fileprivate var json: JSONValue {
        let advice = "If that was not you, regenerate or revoke the feed."
        let at = JSONValue(milliseconds: notedAt)
        switch kind {
        case .newClient(let code):
            let client = ClientFamily(code: code).rawValue
            return [
                "kind": "newClient", "at": at, "client": .string(client),
                "message": .string("A program that had never read the feed before did so: \(client). \(advice)"),
            ]
        case .manyNetworks(let count):
            return [
                "kind": "manyNetworks", "at": at, "networks": .integer(count),
                "message": .string("The feed was read from \(count) networks within 24 hours. \(advice)"),
            ]
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

extension ListedAccess {
    var json: JSONValue {
        [
            "at": JSONValue(milliseconds: at), "client": .string(ClientFamily(code: client).rawValue),
            "status": .integer(status), "network": .string(network),
        ]
    }
}
