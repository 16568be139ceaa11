// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
package import Storage

extension ConnectionProviders: CalendarProviding {
    package func open(_ connection: Connection, isQuestion: Bool) async throws -> OpenedCalendar {
        let circle = connection.circleID
        if connection.provider == .apple { return try await phone(of: connection) }
        let zone = try await store.read { try $0.circle(circle)?.timeZone } ?? "UTC"
        let door = door(of: connection, isQuestion: isQuestion)
        do {
            let provider = try await provider(of: connection, zone: zone, over: door)
            return OpenedCalendar(provider: provider) { door.count }
        } catch let refusal as Refusal {
            // Only problems that the user can fix end a connection's runs: a missing setting may come back.
            let isPersons = refusal.code == .connectionUnauthorized
            throw ProviderFailure(isPersons ? .unauthorized : .misconfigured, refusal.detail)
        }
    }

    /// The contents of phones' calendars are in the database, so no request is sent.
    private func phone(of connection: Connection) async throws -> OpenedCalendar {
        let (installation, zone) = try await store.read { transaction in
            let named = try transaction.user(connection.userID)?.timeZone.flatMap { TimeZoneReference($0) }
            let zone = try named ?? transaction.circle(connection.circleID)?.zone ?? TimeZoneReference("UTC")
            return (try transaction.installationID(), zone)
        }
        guard let zone else { throw StorageError.unusable("This machine's tzdata lacks the zone UTC.") }
        return OpenedCalendar(
            provider: PhoneCalendar(
                store: store, connection: connection, installation: installation, zone: zone, now: now)
        ) { 0 }
    }

    package func release(_ connection: Connection) async {
        let id = connection.id
        if let stored = try? await store.read({ try $0.credential(ofConnection: id) }) {
            _ = await revoke(stored, connection.provider)
        }
        grants.forget(id)
    }
}
