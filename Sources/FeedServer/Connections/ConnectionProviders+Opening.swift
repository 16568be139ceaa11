// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Storage

extension ConnectionProviders: CalendarProviding {
    func open(_ connection: Connection) async throws -> OpenedCalendar {
        let circle = connection.circleID
        let zone = try await store.read { try $0.circle(circle)?.timeZone } ?? "UTC"
        let counted = CountedHTTP(http(for: connection.provider))
        do {
            let provider = try await provider(of: connection, zone: zone, over: counted)
            return OpenedCalendar(provider: provider) { counted.count }
        } catch let refusal as Refusal {
            // Only what its person can mend ends a connection's runs: a setting that is missing may come back.
            let isPersons = refusal.code == .connectionUnauthorized
            throw ProviderFailure(isPersons ? .unauthorized : .misconfigured, refusal.detail)
        }
    }

    func release(_ connection: Connection) async {
        let id = connection.id
        if let stored = try? await store.read({ try $0.credential(ofConnection: id) }) {
            _ = await revoke(stored, connection.provider)
        }
        grants.forget(id)
    }
}
