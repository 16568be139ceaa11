// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// Lets pages of the origins that the operator names call the API from a browser (the CORS protocol of Fetch).
///
/// They send a token of their own: no answer allows cookies, so that nobody's session acts for another origin.
struct CrossOrigin: RouterMiddleware {
    typealias Context = KalendsContext

    let origins: Set<ByteString>

    private static let methods = "DELETE, GET, HEAD, PATCH, POST, PUT"
    private static let fields =
        "Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-Modified-Since, If-None-Match, "
        + "If-Unmodified-Since, Kalends-User, Last-Event-ID, Prefer, X-Request-ID"
    private static let shown =
        "Content-Disposition, Deprecation, ETag, Idempotency-Replayed, Link, Location, Preference-Applied, Retry-After, "
        + "Sunset, WWW-Authenticate, X-Request-ID"
    /// How long a browser remembers what it may send, in seconds.
    private static let memory = 600

    func handle(
        _ request: Request, context: KalendsContext, next: (Request, KalendsContext) async throws -> Response
    ) async throws -> Response {
        guard request.uri.path.hasPrefix("/v1/") else { return try await next(request, context) }
        let origin = request.headers[.origin].flatMap { origins.contains(ByteString($0)) ? $0 : nil }
        if let origin, request.method == .options, request.headers[.accessControlRequestMethod] != nil {
            return Response(
                status: .noContent,
                headers: [
                    .accessControlAllowOrigin: origin, .accessControlAllowMethods: Self.methods,
                    .accessControlAllowHeaders: Self.fields, .accessControlMaxAge: String(Self.memory),
                    .vary: "Origin",
                ])
        }
        var response = try await next(request, context)
        response.headers[.vary] = (response.headers[.vary].map { "\($0), " } ?? "") + "Origin"
        guard let origin else { return response }
        response.headers[.accessControlAllowOrigin] = origin
        response.headers[.accessControlExposeHeaders] = Self.shown
        return response
    }
}
