// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// Adds fields to answers that do not set them, so that a browser does not treat data as a page, and keeps to https.
///
/// Pages and feeds have their own fields. A browser that opens a document of the API must not guess another type for
/// it, load anything for it, or show it within another page.
struct DefaultAnswerFields: RouterMiddleware {
    typealias Context = KalendsContext

    /// The value of `Strict-Transport-Security`; nil for no such field.
    let transportPolicy: String?
    /// Whether a browser must not keep anything but the feeds, whose fields programs rely on.
    let keepsNothing: Bool

    func handle(
        _ request: Request, context: KalendsContext, next: (Request, KalendsContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        if let transportPolicy { response.headers[.strictTransportSecurity] = transportPolicy }
        let isFeed = context.endpointPath.flatMap(FeedPath.Route.init(rawValue:)) != nil
        if keepsNothing, !isFeed, response.headers[.cacheControl] == "private, no-cache" {
            response.headers[.cacheControl] = "no-store"
        }
        guard response.headers[.xContentTypeOptions] == nil else { return response }
        response.headers[.xContentTypeOptions] = "nosniff"
        if response.headers[.contentSecurityPolicy] == nil {
            response.headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'"
        }
        return response
    }
}

extension Response {
    /// The answer that ends a session: the browser deletes the pages that it cached (the W3C's Clear Site Data), and
    /// nothing else, since other data stored for the host may belong to another program.
    func forgetting() -> Response {
        var answer = self
        answer.headers[.clearSiteData] = "\"cache\""
        return answer
    }
}

extension HTTPField.Name {
    static let clearSiteData = HTTPField.Name("Clear-Site-Data") ?? .from
}
