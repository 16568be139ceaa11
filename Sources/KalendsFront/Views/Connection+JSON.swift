// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import KalendsCore
import Storage

extension Connections.Shown {
    func json(_ kinds: ItemKinds) throws -> JSONValue {
        let configuration = try ConnectionConfiguration(stored: own.config, kinds)
        return [
            "id": .string(own.id), "circleId": .string(own.circleID), "userId": .string(own.userID),
            "provider": .string(own.provider.rawValue), "label": JSONValue(own.label),
            "accountId": JSONValue(own.accountID), "accountName": JSONValue(own.accountName),
            "calendarId": JSONValue(own.calendarID), "calendarName": JSONValue(own.calendarName),
            "state": .string(own.state.rawValue), "config": configuration.json(kinds),
            "lastSyncAt": JSONValue(milliseconds: own.lastSyncAt),
            "lastSyncStatus": JSONValue(own.lastSyncStatus?.rawValue),
            "lastSyncError": JSONValue(own.lastSyncError),
            "nextSyncAt": JSONValue(milliseconds: own.nextSyncAt), "isTwoWay": .bool(configuration.twoWay),
            "counts": [
                "linked": .integer(counts.linked), "pending": .integer(counts.pending),
                "conflicts": .integer(counts.conflicts),
            ],
            "attention": .array(attention.map(\.json)),
            "createdAt": JSONValue(milliseconds: own.createdAt),
            "updatedAt": JSONValue(milliseconds: own.updatedAt),
        ]
    }
}

extension ConnectionAttention {
    fileprivate var json: JSONValue {
        var members: [ByteString: JSONValue] = [
            "kind": .string(kind.rawValue), "at": JSONValue(milliseconds: at), "message": .string(message),
        ]
        if let count { members["count"] = .integer(count) }
        if let runID { members["runId"] = .string(runID) }
        if let item {
            members["collection"] = .string(item.collection)
            members["itemId"] = .string(item.id)
            if let occurrence = item.occurrence { members["occurrence"] = JSONValue(occurrence) }
        }
        return .object(members)
    }
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
    /// The providers that can be connected here, and what is missing for the others.
    var json: JSONValue {
        .array(
            Connection.Provider.allCases.map { provider in
                let missing = missing(for: provider)
                return [
                    "provider": .string(provider.rawValue), "isAvailable": .bool(missing.isEmpty),
                    "missingSettings": .array(missing.map { .string($0.variable) }),
                ]
            })
    }
}
