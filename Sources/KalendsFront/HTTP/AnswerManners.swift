// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// Adds fields to answers that do not set them, so that a browser does not treat data as a page.
///
/// Pages and feeds have their own fields. A browser that opens a document of the API must not guess another type for
/// it, load anything for it, or show it within another page.
struct AnswerManners: RouterMiddleware {
    typealias Context = KalendsContext

    func handle(
        _ request: Request, context: KalendsContext, next: (Request, KalendsContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
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
