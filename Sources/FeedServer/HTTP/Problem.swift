// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// One fault of a request: where it is (RFC 6901) and what is wrong there.
struct Fault: Hashable, Sendable {
    var pointer: String
    var message: String

    var json: JSONValue { ["pointer": .string(pointer), "message": .string(message)] }
}

/// Why a request is not answered as asked: a problem document (RFC 9457).
///
/// Nothing of a credential, a path or a stored value may stand in it.
struct Refusal: Error, HTTPResponseError {
    var status: HTTPResponse.Status
    var detail: String
    var faults: [Fault] = []
    var headers = HTTPFields()
    /// Members beyond those of every problem document.
    var extra: [String: JSONValue] = [:]

    func response(from request: Request, context: some RequestContext) -> Response {
        Response(status: status, headers: fields, body: ResponseBody(byteBuffer: document))
    }

    /// Header fields of the answer, without those that belong to the connection.
    var fields: HTTPFields {
        var headers = headers
        headers[.contentType] = "application/problem+json"
        headers[.cacheControl] = "no-store"
        return headers
    }

    /// The body of the answer.
    var document: ByteBuffer { ByteBuffer(bytes: (try? json.serialized()) ?? []) }

    /// The problem document.
    var json: JSONValue {
        var document: [String: JSONValue] = [
            "type": "about:blank", "title": .string(status.reasonPhrase), "status": .integer(status.code),
            "detail": .string(detail),
        ]
        if !faults.isEmpty { document["errors"] = .array(faults.map(\.json)) }
        document.merge(extra) { own, _ in own }
        return .object(document)
    }
}

extension HTTPResponse.Status {
    /// RFC 4918 section 11.5.
    static let insufficientStorage = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}

extension Refusal {
    static func invalid(_ faults: [Fault]) -> Refusal {
        let count = faults.count == 1 ? "One field is" : "\(faults.count) fields are"
        return Refusal(status: .unprocessableContent, detail: "\(count) not as it must be.", faults: faults)
    }

    static func invalid(_ pointer: String, _ message: String) -> Refusal {
        .invalid([Fault(pointer: pointer, message: message)])
    }

    static func badRequest(_ detail: String) -> Refusal { Refusal(status: .badRequest, detail: detail) }

    static let notFound = Refusal(status: .notFound, detail: "There is no such resource.")
    static let forbidden = Refusal(status: .forbidden, detail: "Your role does not allow this.")
    static let unauthenticated = Refusal(
        status: .unauthorized, detail: "A valid credential is needed: Authorization: Bearer …",
        headers: [.wwwAuthenticate: "Bearer"])

    static let failed = Refusal(
        status: .internalServerError, detail: "The server failed; its log tells more.")

    static func tooLarge(limit: Int) -> Refusal {
        Refusal(
            status: .contentTooLarge, detail: "The body is larger than \(limit) bytes, the most that is taken here.")
    }

    static func conflict(_ detail: String, extra: [String: JSONValue] = [:]) -> Refusal {
        Refusal(status: .conflict, detail: detail, extra: extra)
    }

    static func methodNotAllowed(_ allow: String) -> Refusal {
        Refusal(status: .methodNotAllowed, detail: "This resource takes \(allow).", headers: [.allow: allow])
    }
}
