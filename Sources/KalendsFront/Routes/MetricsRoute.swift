// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore

/// Prometheus metrics: on the operator's socket, and on a separate port if one is configured.
struct MetricsRoute: Sendable {
    let monitoring: Monitoring

    func add(to routes: inout RouteTable) {
        routes.onlyForOperator(.get, "/metrics") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: await monitoring.exposition())))
        }
    }
}
