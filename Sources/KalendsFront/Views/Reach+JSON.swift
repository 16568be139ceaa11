// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import KalendsCore
import Storage

extension Reach.Shown {
    var json: JSONValue {
        [
            "changedAt": JSONValue(milliseconds: change.at), "change": .string(change.kind.rawValue),
            "readers": .array(readers.map(\.json)), "connections": .array(connections.map(\.json)),
            "have": .integer(have), "of": .integer(of),
        ]
    }
}

extension Reach.Reader {
    fileprivate var json: JSONValue {
        [
            "feedId": JSONValue(feed?.id), "label": JSONValue(feed?.label), "userId": JSONValue(feed?.userID),
            "client": .string(client.rawValue), "hasIt": .bool(hasIt), "fetchedAt": JSONValue(milliseconds: fetchedAt),
            "expectedAt": JSONValue(milliseconds: expectedAt),
        ]
    }
}

extension Reach.Held {
    fileprivate var json: JSONValue {
        [
            "connectionId": JSONValue(connectionID), "provider": .string(provider.rawValue), "hasIt": .bool(hasIt),
            "syncedAt": JSONValue(milliseconds: syncedAt),
        ]
    }
}
