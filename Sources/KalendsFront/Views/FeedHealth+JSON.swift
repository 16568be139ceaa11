// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import ICalBridge
import KalendsCore
import Storage

extension FeedHealth {
    func json(now: Int) -> JSONValue {
        let isLarge = weight.map { Self.isLarge($0.size) }
        var warnings: [JSONValue] = []
        if isLarge == true {
            warnings.append("The feed is larger than 1 MB, the most that Google reads: show fewer days or kinds.")
        }
        let leftOut = (weight?.leftOut ?? [:]).map { ($0.key.rawValue, JSONValue.integer($0.value)) }
        return [
            "bytes": JSONValue(weight?.size), "sizeBytes": JSONValue(weight?.size),
            "isLarge": isLarge.map(JSONValue.bool) ?? .null, "warnings": .array(warnings),
            "days": .array(days.map(\.json)), "clients": .array(clients.map { $0.json(now: now) }),
            "leftOut": .object(Dictionary(leftOut) { first, _ in first }),
        ]
    }
}

extension FeedClientDay {
    fileprivate var json: JSONValue {
        [
            "date": .string("\(CivilDate(daysSinceEpoch: day))"),
            "client": .string(ClientFamily(code: client).rawValue), "count": .integer(accessCount),
        ]
    }
}

extension ClientRhythm {
    func json(now: Int) -> JSONValue {
        [
            "client": .string(ClientFamily(code: client).rawValue), "lastSeenAt": JSONValue(milliseconds: lastSeenAt),
            "expectedAt": JSONValue(milliseconds: expectedAt), "isOverdue": .bool(isOverdue(now: now)),
        ]
    }
}
