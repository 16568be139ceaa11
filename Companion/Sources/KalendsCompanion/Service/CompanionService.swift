// SPDX-License-Identifier: Apache-2.0

/// The server as a device sees it. Every call is safe to repeat.
public protocol CompanionService: Sendable {
    /// `GET /sync/apple/status`.
    func status() async throws(CompanionFailure) -> ServiceStatus

    /// `GET /sync/events/changes`: returns everything that changed after `since`, oldest first.
    ///
    /// - Parameters:
    ///   - since: `nextSince` of the previous page; 0 for the first page.
    ///   - limit: the most events, from 1 to 2000.
    func changes(since: Int, limit: Int) async throws(CompanionFailure) -> ChangePage

    /// `POST /sync/apple/events/upsert`, with at most 5,000 events.
    func upsert(_ body: UpsertBody) async throws(CompanionFailure) -> UpsertAnswer

    /// `POST /api/apple_sync/planned_upsert`, with at most 5,000 events.
    func upsertPlanned(_ body: PlannedBody) async throws(CompanionFailure) -> PlannedAnswer

    /// `POST /sync/devices/register`.
    func register(_ device: DeviceRegistration) async throws(CompanionFailure) -> RegisteredDevice
}
