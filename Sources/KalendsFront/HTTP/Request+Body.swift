// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
package import Hummingbird
import KalendsCore
import NIOCore

extension Request {
    /// The largest JSON document, and the largest line of a batch.
    static let jsonLimit = 1 << 20

    /// The memory that a document takes with its text, for each byte of that: the smallest members and elements take
    /// most.
    static let documentFactor = 25

    /// Reads the whole body; throws 413 when it is larger than the limit, 503 when too many large ones are under way.
    ///
    /// Memory is taken when all of it has arrived, because nobody may wait for a slow sender.
    ///
    /// - Parameter factor: the memory that is needed for each byte until the request is handled.
    package func bytes(limit: Int, times factor: Int, _ context: KalendsContext) async throws -> [UInt8] {
        let length = headers[.contentLength].flatMap { Int($0) }
        if let length, length > limit { throw Refusal.tooLarge(limit: limit) }
        var arriving = try context.arrivingBody(length: length)
        for try await buffer in body {
            guard arriving.count + buffer.readableBytes <= limit else { throw Refusal.tooLarge(limit: limit) }
            try arriving.append(buffer.readableBytesView)
        }
        let needed = arriving.count * factor
        if arriving.count > Self.jsonLimit {
            // Many others may come first, so long that a client gives up.
            try await context.awaiting { try await context.memory.large.hold(needed) }
        } else {
            try await context.memory.document.hold(needed)
        }
        return try arriving.take()
    }

    /// Reads the body as JSON; throws 400 when it is not JSON, 413 over 1 MiB, 503 when too many large ones are under
    /// way. An empty body is read as an empty object.
    func json(_ context: KalendsContext) async throws -> JSONValue {
        let bytes = try await bytes(limit: Self.jsonLimit, times: Self.documentFactor, context)
        if bytes.isEmpty { return [:] }
        let document =
            bytes.count <= MemoryShare.free
            ? try Self.document(bytes)
            : try await LongWork.run(for: context.sender) { try Self.document(bytes) }
        context.givenFields?.add(document)
        return document
    }

    /// Parses a body's bytes as JSON; throws 400 with the place of the error.
    static func document(_ bytes: [UInt8]) throws -> JSONValue {
        do throws(JSONFault) {
            return try JSONValue(parsing: bytes)
        } catch {
            throw Refusal(
                .badRequest, code: .invalidJSON,
                detail: "The body is not a valid JSON document.",
                faults: [error.fault])
        }
    }

    /// A query parameter that is a whole number in a range; throws 422 when it is anything else.
    func queryInteger(_ name: String, in range: ClosedRange<Int>, default value: Int) throws -> Int {
        guard let text = uri.queryParameters[Substring(name)] else { return value }
        guard let number = Int(text), range.contains(number) else {
            throw Refusal.invalid(
                "/query/\(name)", code: .outOfRange,
                "This must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}

extension Response {
    /// A JSON answer.
    static func json(
        _ value: JSONValue, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) throws -> Response {
        .json(bytes: try value.serialized(), status: status, headers: headers)
    }

    /// A JSON answer from bytes that are already encoded.
    static func json(bytes: [UInt8], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) -> Response {
        .json(ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)), status, headers)
    }

    /// A JSON answer from a text that may be long.
    static func json(text: AnswerText) -> Response { .json(text.responseBody, .ok, HTTPFields()) }

    private static func json(_ body: ResponseBody, _ status: HTTPResponse.Status, _ headers: HTTPFields) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        headers[.cacheControl] = headers[.cacheControl] ?? "no-store"
        return Response(status: status, headers: headers, body: body)
    }

    static let noContent = Response(status: .noContent)
}

extension JSONFault {
    var fault: Fault { Fault(pointer: pointer, code: .malformed, message: message) }
}
