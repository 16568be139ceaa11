// SPDX-License-Identifier: Apache-2.0

import Crypto
import HTTPTypes
import Hummingbird
import KalendsCore
import NIOCore
import Synchronization

extension RouteTable.Route {
    /// Whether a request may have a key with which it takes effect once: every POST of a known caller, and one that
    /// makes something for others.
    var takesKey: Bool {
        method == .post
            && (operation.access.needsCredential || operation.replies.contains { $0.status == 201 })
    }
}

/// Lets requests with `Idempotency-Key` take effect once (draft-ietf-httpapi-idempotency-key-header-07).
///
/// The same request gets the same answer for a day, another one with the same key 422, and one that comes before the
/// answer 409.
struct OnceGate: Sendable {
    let services: Services
    let route: RouteTable.Route

    /// The operations whose work no single act does, or that only ask: their answer is kept when it is done, so after a kill
    /// they run again. That may be answered differently, and changes nothing, but for a batch, whose lines are put again.
    static let inSteps: Set<String> = [
        "askFreeBusy", "authorizeConnection", "cleanUpOfficeDays", "commitImport", "dismissConflict", "postBatch",
        "redeemAuthorization", "refreshSubscription", "resetOfficeSettings", "resolveConflict", "undoImport",
        "upsertAppleEvents", "upsertPlannedEvents",
    ]

    /// The maximum size in bytes of a body that is only compared.
    private static let mostCompared = 1 << 30

    /// Wraps a handler that runs for a known caller.
    func admitting(_ handler: @escaping Handler) -> Handler {
        guard route.takesKey else { return handler }
        return { request, context in
            guard let key = try IdempotencyKey(request.headers) else { return try await handler(request, context) }
            return try await answer(request, context, key, handler)
        }
    }

    private func answer(
        _ request: Request, _ context: KalendsContext, _ key: IdempotencyKey, _ handler: @escaping Handler
    ) async throws -> Response {
        var (request, context) = (request, context)
        let hash = RequestHash(request, hasBody: route.operation.body != nil)
        if context.knownCaller == nil {
            let bytes = try await request.bytes(limit: Request.jsonLimit, times: 1, context)
            hash.add(bytes)
            hash.end()
            request.body = RequestBody(buffer: ByteBuffer(bytes: bytes))
        } else {
            request.body = RequestBody(asyncSequence: HashedBody(body: request.body, hash: hash))
        }
        let once = OnceRequest(
            key: key.text, operation: "\(route.method) \(route.path)", caller: context.knownCaller,
            network: services.settings.network(of: request, context), services
        ) { hash.text }
        context.once = once
        let (asked, known) = (request, context)
        return try await services.once(once) { given, fingerprint in
            try await repeated(once, given, fingerprint, hash, asked, known, handler)
        } work: {
            try await first(once, hash, asked, known, handler)
        }
    }

    /// The value that is kept in place of an answer that is too long; nil for a question, which is simply answered again.
    private var instead: GivenAnswer? { route.operation.access == .circle(.read) ? nil : .tooLong }

    /// Does what was not done yet.
    private func first(
        _ once: OnceRequest, _ hash: RequestHash, _ request: Request, _ context: KalendsContext, _ handler: Handler
    ) async throws -> Response {
        do {
            let response = try await handler(request, context)
            if let answer = once.kept, answer.importID == nil { return answer.response }
            assert(
                once.kept != nil || Self.inSteps.contains(route.operation.id)
                    || request.uri.queryParameters["mode"] == "preview",
                "\(route.operation.id) changes something, and its act keeps no answer: use `context.answering`.")
            let answer = try await GivenAnswer(of: response)
            if hash.isWhole, let kept = answer ?? (once.kept == nil ? instead : nil) {
                try await once.keep(kept, services)
            }
            return answer?.response ?? response
        } catch {
            // A failure after the act does not undo it.
            if let answer = once.kept, answer.importID == nil { return answer.response }
            if context.knownCaller != nil, hash.isWhole, let answer = (error as? Refusal).flatMap({ GivenAnswer($0) }) {
                try await once.keep(answer, services)
            }
            // The next request still finds out whether an import that has begun took place.
            throw error
        }
    }

    /// Answers a request that was done; throws 422 for another one.
    private func repeated(
        _ once: OnceRequest, _ given: GivenAnswer, _ fingerprint: String, _ hash: RequestHash, _ request: Request,
        _ context: KalendsContext, _ handler: Handler
    ) async throws -> Response {
        if !hash.isWhole {
            var count = 0
            for try await buffer in request.body {
                count += buffer.readableBytes
                guard count <= Self.mostCompared else { throw Refusal.tooLarge(limit: Self.mostCompared) }
            }
        }
        guard hash.text.isSameText(as: fingerprint) else {
            throw Refusal(
                .invalid, code: .idempotencyKeyReused,
                detail: "This Idempotency-Key belongs to another request. Use a new key for each request.")
        }
        var response: Response
        if let id = given.importID {
            var context = context
            context.begunImport = id
            do {
                response = try await handler(request, context)
            } catch let refusal as Refusal where refusal.kind == .missing || refusal.code == .interrupted {
                // The import failed, and the server ended before it could say so, or while it was made.
                try await once.forget(services)
                throw Refusal(.unavailable, detail: "The import did not take place. Send it again.", retryAfter: 1)
            }
        } else {
            response = given.response
        }
        response.headers[.idempotencyReplayed] = "true"
        return response
    }
}

/// The value of `Idempotency-Key`: a string in quotes (RFC 8941 section 3.3.3), or the same text without quotes.
struct IdempotencyKey: Sendable {
    let text: String

    static let longest = 255

    /// Nil without the field; throws 400 for one that is not a key.
    init?(_ headers: HTTPFields) throws {
        let values = headers[values: .idempotencyKey]
        if values.isEmpty { return nil }
        guard values.count == 1, let value = values.first, let text = Self.read(value),
            (1...Self.longest).contains(text.utf8.count)
        else {
            throw Refusal.badRequest(
                "Idempotency-Key must be a single value of 1 to \(Self.longest) visible ASCII characters, preferably quoted.",
                code: .idempotencyKeyInvalid)
        }
        self.text = text
    }

    private static func read(_ value: String) -> String? {
        var bytes = Array(value.utf8)[...]
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        guard bytes.first == quote else {
            let isPlain = bytes.allSatisfy { (0x21...0x7E).contains($0) && ![quote, UInt8(ascii: ",")].contains($0) }
            return isPlain ? value : nil
        }
        bytes = bytes.dropFirst()
        var text: [UInt8] = []
        while let byte = bytes.popFirst() {
            if byte == quote { return bytes.isEmpty ? String(fromOutside: text) : nil }
            guard (0x20...0x7E).contains(byte) else { return nil }
            guard byte == backslash else {
                text.append(byte)
                continue
            }
            guard let next = bytes.popFirst(), [quote, backslash].contains(next) else { return nil }
            text.append(next)
        }
        return nil
    }
}

/// The hash of a request: its path, its media type, and its body as that is read.
private final class RequestHash: Sendable {
    private struct State {
        var hash = SHA256()
        var isWhole: Bool
    }

    private let state: Mutex<State>

    /// - Parameter hasBody: false for an operation that reads no body.
    init(_ request: Request, hasBody: Bool) {
        var state = State(isWhole: !hasBody)
        let type = hasBody ? request.headers[.contentType] ?? "" : ""
        state.hash.update(data: Array("\(request.uri.path)?\(request.uri.query ?? "")\n\(type)\n".utf8))
        self.state = Mutex(state)
    }

    func add(_ bytes: some Collection<UInt8>) { state.withLock { $0.hash.update(data: Array(bytes)) } }

    func end() { state.withLock { $0.isWhole = true } }

    /// Whether the body was read to its end.
    var isWhole: Bool { state.withLock(\.isWhole) }

    var text: String {
        let hash = state.withLock { $0.hash }
        return Hexadecimal.text(hash.finalize())
    }
}

/// A body whose bytes are added to the hash of its request.
private struct HashedBody: AsyncSequence, Sendable {
    let body: RequestBody
    let hash: RequestHash

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: RequestBody.AsyncIterator
        let hash: RequestHash

        mutating func next() async throws -> ByteBuffer? {
            guard let buffer = try await rest.next() else {
                hash.end()
                return nil
            }
            if !hash.isWhole { hash.add(buffer.readableBytesView) }
            return buffer
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: body.makeAsyncIterator(), hash: hash) }
}

extension HTTPField.Name {
    static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .from
    static let idempotencyReplayed = HTTPField.Name("Idempotency-Replayed") ?? .from
}
