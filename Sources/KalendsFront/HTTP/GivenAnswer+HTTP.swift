// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import NIOCore
import Synchronization

extension GivenAnswer {
    /// The longest body that is kept.
    private static let most = 64 << 10

    /// A JSON answer.
    static func json(
        _ value: JSONValue, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) throws -> GivenAnswer {
        let bytes = try value.serialized()
        return GivenAnswer(
            status: status, Response.json(bytes: bytes, status: status, headers: headers).headers, bytes)
    }

    /// A refusal that stays the same however often the request is sent; nil for one that may pass.
    init?(_ refusal: Refusal) {
        guard refusal.retryAfter == nil else { return nil }
        switch refusal.kind {
        case .badRequest where refusal.code != .bodyBroken: break
        case .missing, .conflict, .gone, .preconditionFailed, .tooLarge, .invalid: break
        default: return nil
        }
        let problem = ProblemDocument(refusal)
        self.init(status: problem.status, problem.fields, Array(problem.document.readableBytesView))
    }

    /// What to answer the same request with in place of an answer that is too long to be kept: it is not carried out
    /// twice.
    static let tooLong = GivenAnswer(
        Refusal(
            .conflict,
            detail: "This request was carried out, and its answer is too long to be given twice. Read what it changed."
        ))

    /// An answer with its body, which is read here; nil for one that is too long to be kept.
    init?(of response: Response) async throws {
        guard let length = response.body.contentLength, length <= Self.most else { return nil }
        let body = CollectedBody()
        try await response.body.write(CollectingWriter(body: body))
        self.init(status: response.status, response.headers, body.bytes)
    }

    private init(status: HTTPResponse.Status, _ fields: HTTPFields, _ bytes: [UInt8]) {
        self.init(
            status: status.code, fields: fields.map { Field($0.name.rawName, $0.value) },
            body: String(decoding: bytes, as: UTF8.self).fromOutside)
    }

    /// The answer as it is sent; all of its bytes are those that were given first.
    var response: Response {
        var headers = HTTPFields()
        for field in fields {
            if let name = HTTPField.Name(field.name) { headers.append(HTTPField(name: name, value: field.value)) }
        }
        return Response(
            status: HTTPResponse.Status(code: status), headers: headers,
            body: body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(string: body)))
    }
}

extension KalendsContext {
    /// Answers with what an act makes; the act of a request with a key keeps the answer.
    func answering<Made: Sendable>(
        _ answer: @escaping @Sendable (Made) throws -> GivenAnswer, to work: () async throws -> Made
    ) async throws -> Response {
        let made = try await keeping(answer, work)
        return try (once?.kept ?? answer(made)).response
    }

    /// Does work whose act keeps an answer that is made from the act's own value.
    func keeping<Made, Value: Sendable>(
        _ answer: @escaping @Sendable (Made) throws -> GivenAnswer, _ work: () async throws -> Value
    ) async throws -> Value {
        guard let once else { return try await work() }
        return try await once.answering(answer, work)
    }
}

/// The bytes of a body that is written into memory.
private final class CollectedBody: Sendable {
    private let held = Mutex<[UInt8]>([])

    var bytes: [UInt8] { held.withLock { $0 } }

    func append(_ buffer: ByteBuffer) { held.withLock { $0 += buffer.readableBytesView } }
}

private struct CollectingWriter: ResponseBodyWriter {
    let body: CollectedBody

    mutating func write(_ buffer: ByteBuffer) async throws { body.append(buffer) }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
