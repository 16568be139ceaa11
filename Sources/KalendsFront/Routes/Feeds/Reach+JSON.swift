// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import KalendsCore
import Storage

extension Reach.Shown: Viewed {
    static let view = View<Self>([
        .instant("changedAt", \.change.at),
        .init("change", .one(of: ["created", "updated", "deleted"])) { .string($0.change.kind.rawValue) },
        .list("readers", \.readers, of: Reach.Reader.view),
        .list("connections", \.connections, of: Reach.ConnectedCalendar.view),
        .count("have", \.have), .count("of", \.of),
    ])
}

extension Reach.Reader {
    fileprivate static let view = View<Self>([
        .text("feedId", \.feed?.id).described("Null for somebody else's feed."), .text("label", \.feed?.label),
        .text("userId", \.feed?.userID).documented(.identifier.orNull), .text("client", \.client.rawValue),
        .flag("hasIt", \.hasIt).described("Whether an answer to the program showed the circle with the change."),
        .instant("fetchedAt", \.fetchedAt),
        .instant("expectedAt", \.expectedAt)
            .described("The time at which the program is expected; in the past when it is late."),
    ])
}

extension Reach.ConnectedCalendar {
    fileprivate static let view = View<Self>([
        .text("connectionId", \.connectionID).described("Null for somebody else's connection."),
        .choice("provider", \.provider), .flag("hasIt", \.hasIt), .instant("syncedAt", \.syncedAt),
    ])
}
