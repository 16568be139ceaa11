// SPDX-License-Identifier: Apache-2.0

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
            "days": .array(days.map(FeedClientDay.view.json)), "clients": .array(clients.map { $0.json(now: now) }),
            "leftOut": .object(Dictionary(leftOut) { first, _ in first }),
        ]
    }
}

extension FeedClientDay {
    static let view = View<FeedClientDay>([
        .text("date") { "\(CivilDate(daysSinceEpoch: $0.day))" }.documented(.date),
        .text("client") { ClientFamily(code: $0.client).rawValue }, .count("count", \.accessCount),
    ])
}

extension ClientRhythm {
    static let view = View<(rhythm: ClientRhythm, now: Int)>([
        .text("client") { ClientFamily(code: $0.rhythm.client).rawValue }, .instant("lastSeenAt", \.rhythm.lastSeenAt),
        .instant("expectedAt", \.rhythm.expectedAt), .flag("isOverdue") { $0.rhythm.isOverdue(now: $0.now) },
    ])

    func json(now: Int) -> JSONValue { Self.view.json((self, now)) }
}
