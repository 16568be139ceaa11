// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
package import Hummingbird
package import KalendsCore

/// A refusal as HTTP shows it: a problem document (RFC 9457) with its status and header fields.
package struct ProblemDocument: Error, HTTPResponseError {
    package var status: HTTPResponse.Status
    var code: ProblemCode
    var detail: String
    private var faults = FaultList()
    private var headers = HTTPFields()
    private var extra: [ByteString: JSONValue] = [:]

    /// Makes a refusal that exists only in HTTP.
    init(_ status: HTTPResponse.Status, code: ProblemCode? = nil, detail: String, headers: HTTPFields = HTTPFields()) {
        (self.status, self.code, self.detail) = (status, code ?? ProblemCode(status), detail)
        self.headers = headers
    }

    package init(_ refusal: Refusal) {
        (status, code, detail) = (HTTPResponse.Status(refusal.kind), refusal.code, refusal.detail)
        (faults, extra) = (refusal.faults, refusal.extra?.members ?? [:])
        if let seconds = refusal.retryAfter { headers[.retryAfter] = String(seconds) }
        headers[.wwwAuthenticate] = refusal.challenge
    }

    package func response(from request: Request, context: some RequestContext) -> Response {
        Response(status: status, headers: fields, body: ResponseBody(byteBuffer: document))
    }

    /// The answer's header fields, except those that belong to the connection.
    var fields: HTTPFields {
        var headers = headers
        headers[.contentType] = "application/problem+json"
        headers[.cacheControl] = "no-store"
        return headers
    }

    /// The body of the answer.
    var document: ByteBuffer { ByteBuffer(bytes: (try? json.serialized()) ?? []) }

    /// The problem document.
    package var json: JSONValue {
        var document: [ByteString: JSONValue] = [
            "type": "about:blank", "title": .string(status.reasonPhrase), "status": .integer(status.code),
            "code": .string(code.rawValue), "detail": .string(detail),
        ]
        if !faults.isEmpty { document.merge(faults.members) { own, _ in own } }
        document.merge(extra) { own, _ in own }
        return .object(document)
    }

    static func methodNotAllowed(_ allow: String) -> ProblemDocument {
        ProblemDocument(.methodNotAllowed, detail: "This resource accepts \(allow).", headers: [.allow: allow])
    }
}

extension HTTPResponse.Status {
    /// 507 (RFC 4918 section 11.5).
    static let insufficientStorage = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")

    init(_ kind: Refusal.Kind) {
        self =
            switch kind {
            case .badRequest: .badRequest
            case .unauthenticated: .unauthorized
            case .forbidden, .lacksScope: .forbidden
            case .missing: .notFound
            case .conflict: .conflict
            case .gone: .gone
            case .preconditionFailed: .preconditionFailed
            case .tooLarge: .contentTooLarge
            case .invalid: .unprocessableContent
            case .tooMany: .tooManyRequests
            case .failed: .internalServerError
            case .unavailable: .serviceUnavailable
            case .outOfSpace: .insufficientStorage
            }
    }
}

extension Refusal {
    /// The value of `WWW-Authenticate` (RFC 6750 section 3); nil when no other credential would help.
    fileprivate var challenge: String? {
        switch (kind, code) {
        // Without a credential the field has no error code, and a sign-in is one.
        case (.unauthenticated, .credentialMissing), (.unauthenticated, .passwordWrong),
            (.unauthenticated, .secondFactorNeeded), (.unauthenticated, .codeWrong):
            "Bearer"
        case (.unauthenticated, _): "Bearer error=\"invalid_token\""
        case (.lacksScope(let scope), _): "Bearer error=\"insufficient_scope\", scope=\"\(scope)\""
        default: nil
        }
    }
}

extension ProblemCode {
    /// The problem's code for a status whose answer names none.
    fileprivate init(_ status: HTTPResponse.Status) {
        self =
            switch status.code {
            case 401: .credentialUnknown
            case 403: .forbidden
            case 404: .notFound
            case 405: .methodNotAllowed
            case 409: .conflict
            case 410: .gone
            case 412: .preconditionFailed
            case 413: .tooLarge
            case 415: .unsupportedMediaType
            case 417: .expectationFailed
            case 422: .invalidFields
            case 429: .tooManyRequests
            case 431: .headerTooLarge
            case 503: .unavailable
            case 507: .diskFull
            case 500...599: .serverFailed
            default: .badRequest
            }
    }
}
