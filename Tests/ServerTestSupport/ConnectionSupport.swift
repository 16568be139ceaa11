// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import FeedTokens
import Foundation
import HTTPTypes
import ICalBridge
import Storage
import Testing

@testable import KalendsCore

extension TestServer {
    /// Returns an active CalDAV connection in the circle `c` with the calendar `cal`, as if a person had chosen it.
    func connect(
        user: String = "ann", label: String? = nil, config: JSONValue = [:], calendar: String = "cal"
    ) async throws -> String {
        let made = try await call(
            .post, "/v1/circles/c/connections",
            ["provider": "caldav", "label": label.map(JSONValue.string) ?? .null, "config": config], as: user
        ).expect(201)
        let id = try #require(made.json["id"]?.string)
        let now = clock.now
        try await services.store.record { transaction in
            var own = try #require(try transaction.connection(id))
            (own.accountID, own.accountName) = ("account", "account")
            (own.calendarID, own.calendarName) = (calendar, calendar)
            own.turn(to: .active, now: now)
            own.nextSyncAt = now
            try transaction.recordConnection(own)
        }
        return id
    }

    func parts(_ connection: String) async throws -> ConnectionParts {
        let settings = services.settings
        return try await services.store.read { transaction in
            let own = try #require(try transaction.connectionEverKnown(connection))
            return try ConnectionParts(own, in: transaction, settings)
        }
    }

    func syncStore(_ connection: String, holder: String = "test") async throws -> DatabaseSyncStore {
        DatabaseSyncStore(context: services.syncContext, parts: try await parts(connection), holder: holder)
    }

    func item(_ collection: String, _ id: String) async throws -> JSONValue {
        try await call(.get, "/v1/circles/c/\(collection)/\(id)").expect(200).json
    }
}

func instant(_ text: String) throws -> Instant { try #require(Instant(rfc3339: text)) }

extension TimeSpan {
    static func at(_ start: String, _ end: String, _ zone: String = "America/Los_Angeles") throws -> TimeSpan {
        .timed(start: try instant(start), end: try instant(end), zone: zone)
    }
}
