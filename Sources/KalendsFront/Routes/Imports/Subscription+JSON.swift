// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Subscriptions.Shown: Viewed {
    /// The subscription without its address.
    static let view = View<Self>([
        .text("id", \.own.id), .id("circleId", \.own.circleID), .text("label", \.own.label), .text("host", \.own.host),
        .text("urlHint", \.own.urlHint).described("The address without the parts that may be secret."),
        .count("refreshMinutes", \.own.refreshMinutes), .instant("lastFetchedAt", \.own.lastFetchedAt),
        .instant("lastChangedAt", \.own.lastChangedAt),
        .instant("nextFetchAt") { $0.own.state == .active ? $0.own.nextAt : nil },
        .text("lastProblem", \.own.lastProblem), .choice("state", \.own.state),
        .object(
            "counts", \.self,
            View([
                .count("events", \.events), .count("created", \.own.created), .count("updated", \.own.updated),
                .count("deleted", \.own.deleted),
            ])),
        .instant("createdAt", \.own.createdAt), .instant("updatedAt", \.own.updatedAt),
    ])
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
