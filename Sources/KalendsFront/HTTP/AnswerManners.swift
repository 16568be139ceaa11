// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// Gives answers that say nothing of it themselves the fields that keep a browser from taking data for a page.
///
/// Pages and feeds have their own. A browser that is led to a document of the API neither guesses another type for it, nor
/// loads anything for it, nor shows it within another page.
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
    /// The answer that ends a session: the browser forgets the pages that it keeps to go back to (the W3C's Clear Site Data).
    /// Only those: what else the host's name has stored may be another program's.
    func forgetting() -> Response {
        var answer = self
        answer.headers[.clearSiteData] = "\"cache\""
        return answer
    }
}

extension HTTPField.Name {
    static let clearSiteData = HTTPField.Name("Clear-Site-Data") ?? .from
}
