// SPDX-License-Identifier: Apache-2.0

import KalendsCompanion

/// A server that keeps the planned events that it is sent, and cannot be reached for anything else.
final class PlannedService: CompanionService {
    let bodies = Shared<[PlannedBody]>([])

    func upsertPlanned(_ body: PlannedBody) async throws(CompanionFailure) -> PlannedAnswer {
        bodies.with { $0.append(body) }
        return PlannedAnswer(deleted: 0, upserted: body.events.count, unchanged: 0)
    }

    func status() async throws(CompanionFailure) -> ServiceStatus { throw .offline }
    func changes(since: Int, limit: Int) async throws(CompanionFailure) -> ChangePage { throw .offline }
    func upsert(_ body: UpsertBody) async throws(CompanionFailure) -> UpsertAnswer { throw .offline }
    func register(_ device: DeviceRegistration) async throws(CompanionFailure) -> RegisteredDevice {
        throw .offline
    }
}
