// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension Connections.Shown {
    /// Everything but what its configuration says.
    static let view = View<Self>([
        .text("id", \.own.id), .id("circleId", \.own.circleID), .id("userId", \.own.userID),
        .choice("provider", \.own.provider), .text("label", \.own.label), .text("accountId", \.own.accountID),
        .text("accountName", \.own.accountName), .text("calendarId", \.own.calendarID),
        .text("calendarName", \.own.calendarName), .choice("state", \.own.state),
        .instant("lastSyncAt", \.own.lastSyncAt), .choice("lastSyncStatus", \.own.lastSyncStatus),
        .text("lastSyncError", \.own.lastSyncError), .instant("nextSyncAt", \.own.nextSyncAt),
        .object(
            "counts", \.counts,
            View([
                .count("linked", \.linked), .count("pending", \.pending), .count("conflicts", \.conflicts),
            ])),
        .list("attention", \.attention, of: ConnectionAttention.view), .instant("createdAt", \.own.createdAt),
        .instant("updatedAt", \.own.updatedAt),
    ])

    func json(_ kinds: ItemKinds) throws -> JSONValue {
        let configuration = try ConnectionConfiguration(stored: own.config, kinds)
        var members = Self.view.members(of: self)
        members["config"] = configuration.json(kinds)
        members["isTwoWay"] = .bool(configuration.twoWay)
        return .object(members)
    }
}

extension ConnectionAttention: Viewed {
    static let view = View<ConnectionAttention>([
        .choice("kind", \.kind), .instant("at", \.at),
        .text("message", \.message).described("The problem, and what to do about it."),
        .optional("count", .count, \.count) { .integer($0) }, .optional("runId", .string, \.runID) { .string($0) },
        .optional("collection", .string, \.item?.collection) { .string($0) },
        .optional("itemId", Schema.string.described("The item that is held back."), \.item?.id) { .string($0) },
        .optional(
            "occurrence", Schema.instant.described("The one occurrence of it that is held back."),
            \.item?.occurrence
        ) { JSONValue($0) },
    ])
}

extension Connection {
    /// The tag covers what a client can change, not the results of runs.
    var etag: String {
        get throws {
            try JSONValue.array([
                .string(id), JSONValue(label), .string(config), .bool(state == .paused), JSONValue(accountID),
                JSONValue(calendarID),
            ]).etag
        }
    }
}

extension ConnectionSettings {
    static let provider = View<(provider: Connection.Provider, missing: [Setting])>([
        .choice("provider", \.provider), .flag("isAvailable", \.missing.isEmpty),
        .init("missingSettings", .array(of: .string)) { .array($0.missing.map { .string($0.variable) }) },
    ])

    /// The providers that can be connected here, and what is missing for the others.
    var json: JSONValue {
        .array(Connection.Provider.allCases.map { Self.provider.json(($0, missing(for: $0))) })
    }
}
