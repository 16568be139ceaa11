// SPDX-License-Identifier: Apache-2.0

/// One call to the API.
struct GoogleCall: Sendable {
    var method: String
    /// The path below `/calendar/v3/`, with encoded segments.
    var path: String
    var query: [(String, String)] = []
    var body: JSONValue?
    /// The etag that the event must still have, including its quotes.
    var ifMatch: String?

    var target: String { "/calendar/v3/" + path + (query.isEmpty ? "" : "?" + PercentEncoding.fields(query)) }

    var headers: [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = [("Accept", "application/json")]
        if body != nil { headers.append(("Content-Type", "application/json")) }
        if let ifMatch { headers.append(("If-Match", ifMatch)) }
        return headers
    }

    // Only a number that is not finite cannot be written as JSON, and no body has one.
    var bytes: [UInt8]? { body.map { (try? $0.serialized()) ?? [] } }

    /// The requests as which Google counts it: the reference of `events.patch` says three.
    var weight: Int { method.utf8.elementsEqual("PATCH".utf8) ? 3 : 1 }
}

/// Sends calls with the account's token, one by one or in batches.
struct GoogleWire: Sendable {
    /// The number of calls in one batch; Google accepts no more for calendars.
    static let batchSize = 50
    /// How often a call that may succeed in a few seconds is sent in total.
    static let attempts = 3
    private static let longestAnswer = 64 << 20

    let http: any ProviderHTTP
    let tokens: any AccessTokens
    /// The part before `/calendar/v3/` and `/batch/calendar/v3`.
    let base: String
    /// Waits for some milliseconds before calls are sent again.
    let pause: @Sendable (Int) async -> Void
    /// Returns a random number from 0 up to, but not including, its argument.
    let random: @Sendable (Int) -> Int

    /// Returns the answer, whatever its status except 401; throws when no answer arrived, or when the account has no
    /// token.
    func send(_ call: GoogleCall) async throws(ProviderFailure) -> GoogleAnswer {
        var attempt = 1
        while true {
            var request = ProviderRequest(
                call.method, base + call.target, headers: call.headers, body: call.bytes,
                longestAnswer: Self.longestAnswer)
            request.calls = call.weight
            let answer = try await read(try await authorized(request))
            guard answer.isWorthRepeating, attempt < Self.attempts, !Task.isCancelled else { return answer }
            await wait(before: attempt, answer.retryAfter)
            attempt += 1
        }
    }

    /// Returns the answers to calls in order, from as few requests as possible.
    ///
    /// A failure that affects all of them (a dead account, a used-up quota, a server that does not answer) holds back
    /// the remaining batches: none of their calls is sent.
    func send(_ calls: [GoogleCall]) async -> [Result<GoogleAnswer, ProviderFailure>] {
        var results: [Result<GoogleAnswer, ProviderFailure>] = []
        for start in stride(from: 0, to: calls.count, by: Self.batchSize) {
            let chunk = Array(calls[start..<min(start + Self.batchSize, calls.count)])
            var batch = GoogleBatchSending(chunk, wire: self)
            await batch.send()
            results += batch.results
            if let stop = batch.stop {
                results += calls[results.count...].map { _ in .failure(stop) }
                break
            }
        }
        return results
    }

    /// Sends one batch once; an answer is nil for a call that was not answered.
    func exchange(
        _ calls: [GoogleCall]
    ) async throws(ProviderFailure) -> (answers: [GoogleAnswer?], token: String) {
        var request = ProviderRequest(
            "POST", base + "/batch/calendar/v3", headers: [("Content-Type", GoogleBatch.contentType)],
            body: GoogleBatch.body(calls), longestAnswer: Self.longestAnswer)
        request.calls = calls.reduce(0) { $0 + $1.weight }
        let answer = try await authorized(request)
        guard answer.status == 200 else {
            let failure = try await read(answer).failure
            // The failure is that of the whole batch, not of a calendar or a cursor.
            switch failure.kind {
            case .calendarMissing, .cursorExpired:
                throw ProviderFailure(.refused, "Google refused a batch of calls.", code: failure.code)
            default: throw failure
            }
        }
        // Calls whose answers cannot be read may have been carried out all the same.
        let count = calls.count
        let read = try await http.read(answer) { GoogleBatch.answers($0, count: count) }
        guard let answers = read else {
            throw ProviderFailure(.unanswered, "Google's answer to a batch of calls cannot be read.")
        }
        return (answers, try await tokens.current())
    }

    private func read(_ answer: ProviderAnswer) async throws(ProviderFailure) -> GoogleAnswer {
        try await http.read(answer) { GoogleAnswer($0) }
    }

    /// Sends a request with the token; a refused token is renewed once.
    private func authorized(_ request: ProviderRequest) async throws(ProviderFailure) -> ProviderAnswer {
        var request = request
        let headers = request.headers
        var token = try await tokens.current()
        for isLast in [false, true] {
            request.headers = headers + [("Authorization", "Bearer " + token)]
            let answer: ProviderAnswer
            do throws(TransportFailure) {
                answer = try await http.send(request)
            } catch {
                throw ProviderFailure(error)
            }
            guard answer.status == 401 else { return answer }
            guard try await read(answer).needsToken else { return answer }
            guard !isLast else { break }
            token = try await tokens.renewed(after: token)
        }
        throw ProviderFailure(.unauthorized, "The account has to be connected again.", code: "authError")
    }

    /// Waits with truncated exponential back-off and jitter, or as long as Google asks.
    func wait(before attempt: Int, _ retryAfter: Int?) async {
        await pause(max((retryAfter ?? 0) * 1000, 500 << attempt) + random(500))
    }
}
