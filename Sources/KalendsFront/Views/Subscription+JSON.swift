// SPDX-License-Identifier: Apache-2.0

import Base
import KalendsCore
import Storage

extension Subscriptions.Shown {
    /// The subscription without its address.
    var json: JSONValue {
        [
            "id": .string(own.id), "circleId": .string(own.circleID), "label": JSONValue(own.label),
            "host": .string(own.host),
            "urlHint": .string(own.urlHint), "refreshMinutes": .integer(own.refreshMinutes),
            "lastFetchedAt": JSONValue(milliseconds: own.lastFetchedAt),
            "lastChangedAt": JSONValue(milliseconds: own.lastChangedAt),
            "nextFetchAt": own.state == .active ? JSONValue(milliseconds: own.nextAt) : .null,
            "lastProblem": JSONValue(own.lastProblem), "state": .string(own.state.rawValue),
            "counts": [
                "events": .integer(events), "created": .integer(own.created), "updated": .integer(own.updated),
                "deleted": .integer(own.deleted),
            ],
            "createdAt": JSONValue(milliseconds: own.createdAt), "updatedAt": JSONValue(milliseconds: own.updatedAt),
        ]
    }
}

extension Subscription {
    /// The tag, which covers only what a client can change.
    var etagOfWishes: String {
        get throws {
            try JSONValue.array([
                .string(id), JSONValue(label), .integer(refreshMinutes), .string(state.rawValue), .integer(updatedAt),
            ]).etag
        }
    }
}
