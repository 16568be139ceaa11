// SPDX-License-Identifier: Apache-2.0

internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// A server over HTTP. Its responses are untrusted: their size is limited, and only what the API describes is read.
public struct HTTPCompanionService: CompanionService {
    private let address: ServerAddress
    private let credential: Credential
    private let transport: any HTTPTransport
    private let retry: RequestRetry
    private let chance: @Sendable () -> Double
    private let wait: @Sendable (Duration) async throws -> Void

    /// The maximum size in bytes of a response: a page of changes ends at 4 MiB, and one event may follow.
    static let longestAnswer = 32 << 20
    /// The maximum size in bytes of a request body that the server accepts, and the maximum number of events in it.
    static let longestBody = 16 << 20
    static let mostEvents = 5_000

    /// - Parameters:
    ///   - chance: returns a random number from 0 up to 1, which spreads the waits.
    ///   - wait: sleeps; throws when the task is cancelled.
    public init(
        _ address: ServerAddress, credential: Credential, transport: any HTTPTransport = URLSessionTransport(),
        retry: RequestRetry = RequestRetry(), chance: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        wait: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.address = address
        self.credential = credential
        self.transport = transport
        self.retry = retry
        self.chance = chance
        self.wait = wait
    }

    public func status() async throws(CompanionFailure) -> ServiceStatus { try await get("/sync/apple/status") }

    public func changes(since: Int, limit: Int) async throws(CompanionFailure) -> ChangePage {
        let page: ChangePage = try await get(
            "/sync/events/changes", query: [("since", String(since)), ("limit", String(limit))])
        // A page that does not advance would be requested without end.
        guard page.nextSince >= since, !page.hasMore || page.nextSince > since, page.events.count <= limit else {
            throw .badAnswer
        }
        return page
    }

    public func upsert(_ body: UpsertBody) async throws(CompanionFailure) -> UpsertAnswer {
        let answer: UpsertAnswer = try await post("/sync/apple/events/upsert", body)
        guard answer.events.allSatisfy({ body.events.indices.contains($0.index) }),
            answer.rejected.allSatisfy({ body.events.indices.contains($0.index) })
        else { throw .badAnswer }
        return answer
    }

    public func upsertPlanned(_ body: PlannedBody) async throws(CompanionFailure) -> PlannedAnswer {
        let answer: PlannedAnswer = try await post("/api/apple_sync/planned_upsert", body)
        guard answer.failed.allSatisfy({ body.events.indices.contains($0.index) }) else { throw .badAnswer }
        return answer
    }

    public func register(_ device: DeviceRegistration) async throws(CompanionFailure) -> RegisteredDevice {
        // A repeated request would make a second token, and nobody would know the first one.
        let answer: RegisteredDevice = try await post("/sync/devices/register", device, retry: .once)
        guard Credential.device(answer.deviceToken).isSendable else { throw .badAnswer }
        return answer
    }
}

extension HTTPCompanionService {
    private func get<Answer: Decodable>(
        _ path: String, query: [(String, String)] = []
    ) async throws(CompanionFailure) -> Answer {
        try await read(try request(path, query: query), retry: retry)
    }

    private func post<Body: Encodable, Answer: Decodable>(
        _ path: String, _ body: Body, retry: RequestRetry? = nil
    ) async throws(CompanionFailure) -> Answer {
        var request = try request(path)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        do { request.httpBody = try JSONEncoder().encode(body) } catch {
            throw .refused(status: 0, code: "unreadable")
        }
        guard request.httpBody?.count ?? 0 <= Self.longestBody else { throw .refused(status: 413, code: "too-large") }
        return try await read(request, retry: retry ?? self.retry)
    }

    private func request(_ path: String, query: [(String, String)] = []) throws(CompanionFailure) -> URLRequest {
        guard credential.isSendable else { throw .unauthorized }
        guard let url = address.route(path, query: query) else { throw .refused(status: 0, code: "address") }
        var request = URLRequest(url: url)
        for (name, value) in credential.headers { request.setValue(value, forHTTPHeaderField: name) }
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        return request
    }

    private func read<Answer: Decodable>(
        _ request: URLRequest, retry: RequestRetry
    ) async throws(CompanionFailure) -> Answer {
        let body = try await answer(to: request, retry: retry).body
        guard let answer = try? Answer(decodingJSON: body) else { throw .badAnswer }
        return answer
    }

    private func answer(to request: URLRequest, retry: RequestRetry) async throws(CompanionFailure) -> HTTPAnswer {
        var attempt = 1
        while true {
            let failure: CompanionFailure
            do throws(CompanionFailure) {
                let answer = try await transport.send(request, limit: Self.longestAnswer)
                guard let found = CompanionFailure(answer) else { return answer }
                failure = found
            } catch { failure = error }
            guard let pause = retry.wait(after: attempt, failure, chance: chance()) else { throw failure }
            do { try await wait(pause) } catch { throw .cancelled }
            attempt += 1
        }
    }
}

extension CompanionFailure {
    /// Makes the failure of a response's status; nil for a successful response.
    fileprivate init?(_ answer: HTTPAnswer) {
        switch answer.status {
        case 200..<300: return nil
        case 401: self = .unauthorized
        case 403: self = .forbidden
        case 408: self = .timedOut
        case 429: self = .tooManyRequests(retryAfter: answer.retryAfter)
        case 400..<500: self = .refused(status: answer.status, code: Self.code(of: answer.body))
        case 500...: self = .server(status: answer.status, retryAfter: answer.retryAfter)
        default: self = .badAnswer
        }
    }

    /// Returns the code of a problem document (RFC 9457) if it is a short word, so that it cannot repeat text of the
    /// request.
    private static func code(of body: [UInt8]) -> String {
        guard body.count <= 65_536, let code = (try? JSONValue(parsing: body))?["code"]?.string,
            (1...40).contains(code.utf8.count),
            code.utf8.allSatisfy({ (97...122).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 95 })
        else { return "unknown" }
        return code
    }
}
