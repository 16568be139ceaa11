// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore

/// Reports whether the server can serve requests.
struct HealthRoute: Sendable {
    let upkeep: Upkeep

    func add(to routes: inout RouteTable) {
        routes.section(.server)
        routes.on(
            .get, "/healthz", "getHealth", "Check whether the server can serve requests", .anyone, .noKey,
            [
                .init(status: 200, text: "The server can serve requests.", type: "text/plain"),
                .init(
                    status: 503, text: "Reads cannot be recorded, or the database's file was deleted or replaced.",
                    type: "text/plain"),
            ]
        ) { _, _ in
            let trouble = upkeep.trouble
            return Response(
                status: trouble == nil ? .ok : .serviceUnavailable,
                headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: "\(trouble ?? "ok")\n")))
        }
        routes.on(
            .get, "/readyz",
            Operation(
                "getReadiness", "Check whether requests should be sent here", .anyone, .noKey,
                details: """
                    For load balancers and orchestrators. A server that was asked to stop finishes its requests, and \
                    is not ready.
                    """,
                [
                    .ok(.named("Readiness"), "Requests should be sent here."),
                    .init(
                        status: 503, text: "Requests should be sent elsewhere, or later.", type: "application/json",
                        schema: .named("Readiness")),
                ])
        ) { _, _ in
            let reasons = upkeep.reasons
            let body: JSONValue = [
                "ready": .bool(reasons.isEmpty),
                "reasons": .array(reasons.map { ["code": .string($0.code), "detail": .string($0.text)] }),
            ]
            return try .json(body, status: reasons.isEmpty ? .ok : .serviceUnavailable)
        }
    }
}
