// SPDX-License-Identifier: Apache-2.0

import FeedTokens
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
                "getHealth", "Whether the server can serve", .anyone,
                [
                    .init(status: 200, text: "It can.", type: "text/plain"),
                    .init(status: 503, text: "Reads cannot be recorded.", type: "text/plain"),
                ])
        ) { _, _ in
            // What a reader would meet: a database that cannot be written alone keeps nobody from reading.
            let isWell = services.counter.journal.failure == nil
            return Response(
                status: isWell ? .ok : .serviceUnavailable,
                headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: isWell ? "ok\n" : "reads cannot be recorded\n")))
        }
    }
}
