// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore

/// Redirects the server's own address: to the pages for a browser, otherwise to the documentation.
struct RootRoute: Sendable {
    let settings: ServerSettings

    func add(to routes: inout RouteTable) {
        let base = settings.basePath
        routes.section(.server)
        routes.on(
            .get, "/", "getRoot", "Redirect to the pages or the documentation", .anyone, .noKey,
            [
                .init(
                    status: 302, text: "To the pages for a browser; to the documentation for any other client.",
                    headers: ["Location"])
            ]
        ) { request, _ in
            // The target depends on the client.
            let index = base + (PagePreference.isIn(accept: request.headers[values: .accept]) ? "/app" : "/docs")
            return Response(
                status: .found, headers: [.cacheControl: "no-cache", .vary: "Accept", .location: index])
        }
    }
}
