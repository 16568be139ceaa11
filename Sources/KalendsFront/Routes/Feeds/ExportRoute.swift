// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import NIOCore

/// A circle as one calendar file with everything in it, of any date.
struct ExportRoute: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.imports)
        routes.on(
            .get, "/v1/circles/{circle}/export.ics", "exportCircle", "A circle as one calendar file", .circle(.read),
            .scope(.readSchedule),
            [
                .init(
                    status: 200, text: "Everything in the circle, of any date.", type: "text/calendar", schema: .string)
            ], takesLong: true, get)
    }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, caller) = (try context.identifier("circle"), try context.caller())
        let file = try await CircleExport.file(of: circleID, for: caller, services.feedContext)
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/calendar; charset=utf-8", .cacheControl: "no-store",
                .contentDisposition: "attachment; filename=\"\(circleID).ics\"",
            ],
            body: file.responseBody)
    }
}
