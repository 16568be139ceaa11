// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore

/// Counters for the host application.
struct StatisticsRoute: Sendable {
    let statistics: Statistics

    func add(to routes: inout RouteTable) {
        routes.section(.connections)
        routes.on(
            .get, "/v1/stats", "getStatistics", "Count people's connections and their runs", .installation,
            .scope(.stats), details: "Only numbers, without names, titles or ids.", [.ok(.named("Statistics"))], read)
    }

    private func read(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try .json(try await statistics.read(for: try context.caller()).json)
    }
}
