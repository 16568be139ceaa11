// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore

/// Chooses which of a person's phones handles a connection.
struct ConnectionDeviceRoute: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.connections)
        routes.on(
            .put, "/v1/connections/{id}/device", "chooseConnectionDevice", "Assign a connection to a phone",
            .connection, .scope(.connections),
            details: "One phone carries a connection at a time. The previous phone no longer receives items or "
                + "deletions, and its later reports about them are refused as `stale`.",
            body: .json(.named("ConnectionDevice")), [.ok(.named("Connection"))], refusals: [409], choose)
    }

    static let body = InputBody(
        .required("deviceId", .text().described("The `deviceId` with which the device was registered.")),
        example: ["deviceId": "my-iphone"])

    private func choose(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller) = (try context.identifier("id"), try context.caller())
        let body = try await request.json(context)
        let shown = try await services.phoneItems(context.logger).choose(
            { try Self.body.read(body) }, of: id, for: caller)
        return try .resource(try shown.json(services.settings.kinds), etag: try shown.own.etag)
    }
}
