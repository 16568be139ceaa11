// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Pages

/// Makes the common parts of every answer to a browser: header fields, brand and language; also shows errors as pages.
struct PageFront: Sendable {
    let settings: ServerSettings

    /// Whether a path belongs to the pages, so that a refusal is shown as a page.
    static func owns(_ path: String) -> Bool { path == "/app" || path.hasPrefix("/app/") }

    /// A frame without a user, in the language that the browser asks for, in UTC.
    func frame(for request: Request, now: Int) -> Frame {
        let chosen = LanguageCookie.value(of: request).flatMap { Language(text: $0) }
        let language = chosen ?? Language(accepting: Self.accepted(by: request))
        return Frame(
            language: language, zone: .utc, now: now, formToken: "", user: nil, brand: settings.brand.shown,
            base: settings.basePath, weekStart: WeekStart(language, accepting: Self.accepted(by: request)))
    }

    /// The languages that the browser asks for.
    static func accepted(by request: Request) -> String {
        request.headers[values: .acceptLanguage].joined(separator: ",")
    }

    /// Shorter pages are not compressed.
    private static let leastPacked = 1024

    /// - Parameters:
    ///   - coding: the coding that the browser accepts. Tokens in pages are masked, so that their size reveals nothing.
    ///   - origins: whose pages may show this one in a frame; nil for those of the settings.
    func response(
        _ page: RenderedPage, status: HTTPResponse.Status, as coding: ContentCoding = .identity,
        framedBy origins: [String]? = nil
    ) -> Response {
        var headers = manners
        headers[.contentType] = "text/html; charset=utf-8"
        let ancestors = origins.map { $0.isEmpty ? "'none'" : $0.joined(separator: " ") }
        headers[.contentSecurityPolicy] =
            "\(page.securityPolicy); frame-ancestors \(ancestors ?? settings.brand.frameAncestors)"
        headers[.cacheControl] = page.cacheControl
        headers[.vary] = "Cookie, Accept-Language, Accept-Encoding"
        var body = ByteBuffer(string: page.html)
        if coding == .gzip, body.readableBytes >= Self.leastPacked, let packed = Gzip.pack(body) {
            body = packed
            headers[.contentEncoding] = "gzip"
        }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    /// - Parameter path: a path on this server.
    func redirect(to path: String) -> Response {
        var headers = manners
        headers[.location] = settings.basePath + path
        headers[.cacheControl] = "no-store"
        return Response(status: .seeOther, headers: headers)
    }

    /// Header fields that keep addresses within this server, and stop a browser from guessing types.
    var manners: HTTPFields {
        // Without the origin in our forms, the server could not distinguish them from those of other sites.
        [.xContentTypeOptions: "nosniff", .referrerPolicy: "same-origin"]
    }

    /// Shows a refusal as a page.
    ///
    /// - Parameter requestID: the request's id in the log.
    func error(_ problem: ProblemDocument, for request: Request, now: Int, requestID: String?) -> Response {
        let kind: ErrorPage.Kind =
            switch problem.status.code {
            case 400, 415: .form
            case 404: .notFound
            case 403: .notAllowed
            case 410: .gone
            case 409, 412: .conflict
            case 413: .tooLarge
            case 429: .tooOften
            case 503, 507: .unavailable
            default: .fault
            }
        return error(
            kind, status: problem.status, for: request, now: now, requestID: requestID, headers: problem.fields)
    }

    /// The answer to a form that none of our pages sent.
    func foreignForm(_ request: Request, now: Int) -> Response {
        error(.form, status: .forbidden, for: request, now: now, requestID: nil)
    }

    private func error(
        _ kind: ErrorPage.Kind, status: HTTPResponse.Status, for request: Request, now: Int, requestID: String?,
        headers: HTTPFields = [:]
    ) -> Response {
        let page = ErrorPage(kind: kind, requestID: kind == .fault ? requestID : nil)
        var answer = response(page.rendered(frame(for: request, now: now)), status: status)
        for name in [HTTPField.Name.retryAfter, .allow] { answer.headers[name] = headers[name] }
        answer.headers[.cacheControl] = "no-store"
        return answer
    }
}
