// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// Whether the server can serve.
struct HealthRoute: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.server)
        routes.on(
            .get, "/healthz",
            Operation(
                "getHealth", "Whether the server can serve", .anyone, .noKey,
                [
                    .init(status: 200, text: "It can.", type: "text/plain"),
                    .init(
                        status: 503, text: "Reads cannot be recorded, or the database's file was deleted or replaced.",
                        type: "text/plain"),
                ])
        ) { _, _ in
            let trouble = services.upkeep.trouble
            return Response(
                status: trouble == nil ? .ok : .serviceUnavailable,
                headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: "\(trouble ?? "ok")\n")))
        }
    }
}
