// SPDX-License-Identifier: Apache-2.0

/// One call of the API.
struct GoogleCall: Sendable {
    var method: String
    /// Below `/calendar/v3/`, its segments encoded.
    var path: String
    var query: [(String, String)] = []
    var body: JSONValue?
    /// The etag that the event must still have, with its quotes.
    var ifMatch: String?

    var target: String { "/calendar/v3/" + path + (query.isEmpty ? "" : "?" + PercentEncoding.fields(query)) }

    var headers: [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = [("Accept", "application/json")]
        if body != nil { headers.append(("Content-Type", "application/json")) }
        if let ifMatch { headers.append(("If-Match", ifMatch)) }
        return headers
    }

    // Only a number that is not finite has no form in JSON, and no body holds one.
    var bytes: [UInt8]? { body.map { (try? $0.serialized()) ?? [] } }
}

/// Sends calls with the account's token, one by one or in batches.
struct GoogleWire: Sendable {
    /// Calls in one batch; Google takes no more for calendars.
    static let batchSize = 50
    /// How often a call that may succeed in some seconds is sent in all.
    static let attempts = 3
    private static let longestAnswer = 64 << 20

    let http: any ProviderHTTP
    let tokens: any AccessTokens
    /// The part before `/calendar/v3/` and `/batch/calendar/v3`.
    let base: String
    /// Waits for some milliseconds before calls are sent again.
    let pause: @Sendable (Int) async -> Void
    /// A random number from 0 up to, and without, its argument.
    let random: @Sendable (Int) -> Int

    /// The answer, whatever its status but 401; throws when no answer came, or when the account has no token.
    func send(_ call: GoogleCall) async throws(ProviderFailure) -> GoogleAnswer {
        var attempt = 1
        while true {
            let request = ProviderRequest(
                call.method, base + call.target, headers: call.headers, body: call.bytes,
                longestAnswer: Self.longestAnswer)
            let answer = GoogleAnswer(try await authorized(request))
            guard answer.isWorthRepeating, attempt < Self.attempts, !Task.isCancelled else { return answer }
            await wait(before: attempt, answer.retryAfter)
            attempt += 1
        }
    }

    /// The answers to calls, in their order and in as few requests as can be.
    ///
    /// What holds for all of them (a dead account, a used-up quota, a server that does not answer) holds back the
    /// batches that are left: nothing of them is sent.
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

    /// One batch as it is; nil for a call without an answer in it.
    func exchange(
        _ calls: [GoogleCall]
    ) async throws(ProviderFailure) -> (answers: [GoogleAnswer?], token: String) {
        let request = ProviderRequest(
            "POST", base + "/batch/calendar/v3", headers: [("Content-Type", GoogleBatch.contentType)],
            body: GoogleBatch.body(calls), longestAnswer: Self.longestAnswer)
        let answer = try await authorized(request)
        guard answer.status == 200 else {
            let failure = GoogleAnswer(answer).failure
            // Of the whole batch: none of its calls is about a calendar or a cursor here.
            switch failure.kind {
            case .calendarMissing, .cursorExpired:
                throw ProviderFailure(.refused, "Google refused a batch of calls.", code: failure.code)
            default: throw failure
            }
        }
        // What cannot be read may have been done all the same.
        guard let answers = GoogleBatch.answers(answer, count: calls.count) else {
            throw ProviderFailure(.unanswered, "Google's answer to a batch of calls cannot be read.")
        }
        return (answers, try await tokens.current())
    }

    /// Sends with the token; one that is refused is renewed once.
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
            let refused = GoogleAnswer(answer)
            guard refused.needsToken else { return answer }
            guard !isLast else { break }
            token = try await tokens.renewed(after: token)
        }
        throw ProviderFailure(.unauthorized, "The account has to be connected again.", code: "authError")
    }

    /// Truncated exponential back-off with jitter, or as long as Google asks.
    func wait(before attempt: Int, _ retryAfter: Int?) async {
        await pause(max((retryAfter ?? 0) * 1000, 500 << attempt) + random(500))
    }
}
