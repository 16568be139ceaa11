// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird

/// Why a request is not answered as asked: a problem document (RFC 9457).
///
/// Nothing of a credential, a path or a stored value may stand in it.
struct Refusal: Error, HTTPResponseError {
    var status: HTTPResponse.Status
    var code: ProblemCode
    var detail: String
    var faults: FaultList
    var headers: HTTPFields
    /// Members beyond those of every problem document.
    var extra: [ByteString: JSONValue]

    /// - Parameter code: nil for the one that the status stands for.
    init(
        status: HTTPResponse.Status, code: ProblemCode? = nil, detail: String, faults: FaultList = FaultList(),
        headers: HTTPFields = HTTPFields(), extra: [ByteString: JSONValue] = [:]
    ) {
        (self.status, self.code, self.detail) = (status, code ?? ProblemCode(status), detail)
        (self.faults, self.headers, self.extra) = (faults, headers, extra)
    }

    init(
        status: HTTPResponse.Status, code: ProblemCode? = nil, detail: String, faults: [Fault],
        headers: HTTPFields = HTTPFields(), extra: [ByteString: JSONValue] = [:]
    ) {
        self.init(
            status: status, code: code, detail: detail, faults: FaultList(faults), headers: headers, extra: extra)
    }

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
        var document: [ByteString: JSONValue] = [
            "type": "about:blank", "title": .string(status.reasonPhrase), "status": .integer(status.code),
            "code": .string(code.rawValue), "detail": .string(detail),
        ]
        if !faults.isEmpty { document.merge(faults.members) { own, _ in own } }
        document.merge(extra) { own, _ in own }
        return .object(document)
    }
}

extension HTTPResponse.Status {
    /// RFC 4918 section 11.5.
    static let insufficientStorage = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}

extension Refusal {
    static func invalid(_ faults: FaultList) -> Refusal {
        let detail =
            faults.total == 1
            ? "One field is not as it must be." : "\(faults.total) fields are not as they must be."
        return Refusal(status: .unprocessableContent, detail: detail, faults: faults)
    }

    static func invalid(_ faults: [Fault]) -> Refusal { .invalid(FaultList(faults)) }

    static func invalid(_ pointer: String, code: Fault.Code = .invalid, _ message: String) -> Refusal {
        .invalid([Fault(pointer: pointer, code: code, message: message)])
    }

    static func badRequest(_ detail: String, code: ProblemCode = .badRequest) -> Refusal {
        Refusal(status: .badRequest, code: code, detail: detail)
    }

    static let forbidden = Refusal(
        status: .forbidden, code: .roleInsufficient, detail: "Your role does not allow this.")
    static let failed = Refusal(
        status: .internalServerError, detail: "The server failed; its log tells more.")

    static func tooLarge(limit: Int) -> Refusal {
        Refusal(
            status: .contentTooLarge, detail: "The body is larger than \(limit) bytes, the most that is taken here.")
    }

    static func conflict(
        _ detail: String, code: ProblemCode = .conflict, extra: [ByteString: JSONValue] = [:]
    ) -> Refusal {
        Refusal(status: .conflict, code: code, detail: detail, extra: extra)
    }

    static func methodNotAllowed(_ allow: String) -> Refusal {
        Refusal(status: .methodNotAllowed, detail: "This resource takes \(allow).", headers: [.allow: allow])
    }
}
