// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import ICalBridge
import KalendsCore
import Storage

extension FeedHealth {
    /// A feed's readers, and what a list of feeds leaves out.
    static let view = View<(clients: [ClientRhythm], health: FeedHealth?, now: Int)>([
        .optional("bytes", Schema.count.orNull, \.health) { JSONValue($0.weight?.size) },
        .optional("sizeBytes", Schema.count.orNull, \.health) { JSONValue($0.weight?.size) },
        .optional("isLarge", Schema.bool.orNull, \.health) { $0.isLarge.map(JSONValue.bool) ?? .null },
        .optional("warnings", .array(of: .string), \.health) {
            $0.isLarge == true
                ? ["The feed is larger than 1 MB, the most that Google reads: show fewer days or kinds."] : []
        },
        .optional("days", .array(of: FeedClientDay.view.schema), \.health) {
            .array($0.days.map(FeedClientDay.view.json))
        },
        .list("clients", { shown in shown.clients.map { ($0, shown.now) } }, of: ClientRhythm.view),
        .optional("leftOut", Schema(["type": "object", "additionalProperties": Schema.count.value]), \.health) {
            health in
            let leftOut = (health.weight?.leftOut ?? [:]).map {
                (ByteString($0.key.rawValue), JSONValue.integer($0.value))
            }
            return .object(Dictionary(leftOut) { first, _ in first })
        },
    ])

    private var isLarge: Bool? { weight.map { Self.isLarge($0.size) } }
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
}
