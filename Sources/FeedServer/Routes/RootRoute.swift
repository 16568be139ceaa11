// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import HTTPTypes
import Hummingbird

/// What somebody meets who opens the server's address: a page for a browser, the documentation for everything else.
struct RootRoute: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        // A proxy may offer us below a path of its own.
        let base = URL(string: services.settings.publicURL)?.path() ?? ""
        let place = (base == "/" ? "" : base) + "/docs"
        let page = Array(Self.page.utf8)
        routes.section(.server)
        routes.on(
            .get, "/",
            Operation(
                "getRoot", "What this is", .anyone, .noKey,
                [
                    .init(status: 200, text: "A page for a browser: what this is, and where to go.", type: "text/html"),
                    .init(status: 302, text: "To the documentation, for everything but a browser."),
                ])
        ) { request, _ in
            // Which of the two comes hangs on who asks.
            var headers: HTTPFields = [.cacheControl: "no-cache", .vary: "Accept"]
            guard Self.isBrowser(request) else {
                headers[.location] = place
                return Response(status: .found, headers: headers)
            }
            headers[.contentType] = "text/html; charset=utf-8"
            headers[.contentSecurityPolicy] = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
            headers[.xContentTypeOptions] = "nosniff"
            return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: page)))
        }
    }

    /// A browser names HTML; a program takes anything, or names what it wants.
    private static func isBrowser(_ request: Request) -> Bool {
        request.headers[values: .accept].joined(separator: ",").split(separator: ",").contains { range in
            range.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased() == "text/html"
        }
    }

    /// Links are relative, so that they hold below a proxy's path too.
    private static let page = """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="robots" content="noindex">
        <title>Kalends</title>
        <style>
        :root { color-scheme: light dark; }
        body { font: 1rem/1.5 system-ui, sans-serif; max-width: 38rem; margin: 4rem auto; padding: 0 1rem; }
        code { font-size: 0.95em; }
        </style>
        </head>
        <body>
        <h1>Kalends is running</h1>
        <p>This is a calendar server. Apps send it their schedule, and people subscribe to it in Apple Calendar, Google
        Calendar, Outlook or Thunderbird.</p>
        <p>Did somebody give you a calendar address? It begins with this server’s name and goes on with
        <code>/feeds/</code>. Paste it into your calendar app; here there is nothing to sign in to.</p>
        <ul>
        <li><a href="docs">Documentation</a> of everything that programs can ask for (<a href="openapi.json">OpenAPI</a>)</li>
        <li><a href="healthz">Whether the server is well</a></li>
        </ul>
        </body>
        </html>

        """
}
