// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import Pages
import Storage

extension PageVisit {
    /// A page.
    ///
    /// - Parameters:
    ///   - circle: the circle that the page is of, for its navigation.
    ///   - path: of the page, where its form was sent elsewhere; nil for that of the request.
    ///   - notice: what was done just now.
    func page(
        _ page: some Pages.Page, status: HTTPResponse.Status = .ok, in circle: Circle? = nil, path: String? = nil,
        done notice: Notice.What? = nil
    ) async throws -> Response {
        var frame = try await frame(in: circle, path: path)
        if let notice { frame.notice = Notice(notice) }
        // Templates take a processor for a while; short requests do not wait for them.
        let answer = try await LongWork.run { [frame] in
            PageFront(settings: services.settings).response(
                page.rendered(frame), status: status,
                as: ContentCoding(acceptEncoding: request.headers[values: .acceptEncoding], from: .browser))
        }
        return with(cookies, answer)
    }

    /// Leads on with GET (RFC 9110 section 15.4.4).
    ///
    /// - Parameters:
    ///   - path: below `/app`, with its query.
    ///   - notice: what was done, which the page reports.
    func redirect(to path: String, done notice: Notice.What? = nil) -> Response {
        let place = notice.map { path + (path.contains("?") ? "&" : "?") + "done=\($0.rawValue)" } ?? path
        return with(cookies, PageFront(settings: services.settings).redirect(to: place))
    }

    /// Leads to a provider's own page, which is not to know where the browser comes from.
    func leave(to address: String) -> Response {
        Response(
            status: .seeOther,
            headers: [.location: address, .cacheControl: "no-store", .referrerPolicy: "no-referrer"])
    }

    /// Leads to the page that signs in, and from there to where somebody wanted to go.
    ///
    /// - Parameter page: where a form was; nil for the page that was asked for.
    func signIn(to page: String?) -> Response {
        let place = page ?? (request.method == .get ? request.uri.string : "/app")
        return redirect(to: "/app/sign-in?to=\(place.pathSegment)")
    }

    /// An answer for a script, which no browser keeps.
    func json(_ value: JSONValue) throws -> Response {
        with(cookies, try .json(value, headers: [.cacheControl: "no-store", .xContentTypeOptions: "nosniff"]))
    }

    private func with(_ cookies: [String], _ answer: Response) -> Response {
        guard !cookies.isEmpty else { return answer }
        var answer = answer
        for cookie in cookies { answer.headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return answer
    }
}
