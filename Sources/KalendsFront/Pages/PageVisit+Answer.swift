// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import Pages

extension PageVisit {
    /// Answers with a page that shows nothing but its visitor.
    func page(
        _ page: some Pages.Page, status: HTTPResponse.Status = .ok, path: String? = nil
    ) async throws -> Response {
        guard visitor?.userID != nil else { return try await self.page((page, nil), status: status, path: path) }
        return try await self.page(try await readOwn { _, _ in page }, status: status, path: path)
    }

    /// Answers with a page and the visitor, as one transaction has read them.
    ///
    /// - Parameters:
    ///   - path: the page's path, if its form was sent to another one; nil for the request's path.
    ///   - what: the action that was completed.
    ///   - notice: the same, where it can be undone.
    func page(
        _ read: (page: some Pages.Page, visitor: Visitor?), status: HTTPResponse.Status = .ok, path: String? = nil,
        done what: Notice.What? = nil, notice: Notice? = nil
    ) async throws -> Response {
        let page = read.page
        var frame = frame(for: read.visitor, path: path)
        if let done = notice ?? what.map({ Notice($0) }) { frame.notice = done }
        var cookies = cookies
        if let language = read.visitor?.language, LanguageCookie.value(of: request)?.isSameText(as: language) != true {
            // What this browser is shown without a read of the account, such as an error, is in the same language.
            cookies.append(LanguageCookie.field(language, services.settings))
        }
        // Rendering templates uses a processor for a while; short requests must not wait for it.
        let answer = try await LongWork.run(for: context.sender) { [frame] in
            PageFront(settings: services.settings).response(
                page.rendered(frame), status: status,
                as: ContentCoding(acceptEncoding: request.headers[values: .acceptEncoding], from: .browser))
        }
        return answer.with(cookies: cookies)
    }

    /// Redirects with GET (RFC 9110 section 15.4.4).
    ///
    /// - Parameters:
    ///   - path: a path below `/app`, with its query.
    ///   - notice: the completed action, which the page reports.
    func redirect(to path: String, done notice: Notice.What? = nil) -> Response {
        let target = notice.map { path + (path.contains("?") ? "&" : "?") + "done=\($0.rawValue)" } ?? path
        return PageFront(settings: services.settings).redirect(to: target).with(cookies: cookies)
    }

    /// Answers with a page that goes on by itself.
    ///
    /// - Parameters:
    ///   - address: where the browser goes.
    ///   - path: the page's path, if its form was sent to another one; nil for the request's path.
    func page(_ page: ProviderPage, refreshing address: String, path: String? = nil) async throws -> Response {
        var answer = try await self.page(page, path: path)
        answer.headers[.refresh] = "0;url=\(address)"
        return answer
    }

    /// Redirects to the sign-in page, and from there to the wanted page.
    ///
    /// - Parameter page: the page that contains the form; nil for the requested page.
    func signIn(to page: String?) -> Response {
        let target = page ?? (request.method == .get ? request.uri.string : "/app")
        return redirect(to: "/app/sign-in?to=\(target.pathSegment)")
    }

    /// An answer for a script, which the browser does not cache.
    func json(_ value: JSONValue) throws -> Response {
        try .json(value, headers: [.cacheControl: "no-store", .xContentTypeOptions: "nosniff"]).with(cookies: cookies)
    }
}

extension HTTPField.Name {
    fileprivate static let refresh = HTTPField.Name("Refresh") ?? .from
}
