// SPDX-License-Identifier: Apache-2.0

/// One request of a batch.
struct GraphStep {
    var method: String
    /// The path below the base: `/me/…`.
    var path: String
    var etag: String?
    var body: JSONValue?
    /// Whether bodies are wanted as HTML, with everything that is in them.
    var wantsHTML = false
}

/// The outcome of one request of a batch.
enum GraphOutcome {
    case answered(GraphAnswer)
    case failed(ProviderFailure)

    func has(_ statuses: [Int]) -> Bool {
        if case .answered(let answer) = self { statuses.contains(answer.status) } else { false }
    }

    /// The answer when it is a success, otherwise its failure.
    var success: Result<GraphAnswer, ProviderFailure> {
        switch self {
        case .answered(let answer): answer.isSuccess ? .success(answer) : .failure(answer.failure)
        case .failed(let failure): .failure(failure)
        }
    }
}

extension GraphWire {
    /// The maximum number of requests in one batch.
    static let batchSize = 20

    /// Sends groups of requests, twenty requests at a time; the requests of a group are carried out in order, and those
    /// after a failed one are answered with 424.
    ///
    /// Batches are sent one after the other, because Exchange works on four of a batch's requests at once. After a
    /// refusal for too many requests, or a lost answer, nothing more is sent: the rest is answered with a transient
    /// failure.
    func batch(_ groups: [[GraphStep]]) async -> [[GraphOutcome]] {
        var outcomes: [[GraphOutcome]] = groups.map { _ in [] }
        var stop: ProviderFailure?
        var next = 0
        while next < groups.count {
            if let stop {
                outcomes[next] += groups[next][outcomes[next].count...].map { _ in .failed(stop) }
                next += 1
                continue
            }
            // Takes as many groups as fit; a group that is longer than a batch continues in the next one.
            var steps: [(group: Int, step: Int)] = []
            var position = next
            while position < groups.count, steps.count < Self.batchSize {
                let done = outcomes[position].count
                let left = groups[position].count - done
                guard left <= Self.batchSize - steps.count || steps.isEmpty else { break }
                let taken = min(left, Self.batchSize - steps.count)
                steps += (done..<done + taken).map { (position, $0) }
                guard taken == left else { break }
                position += 1
            }
            guard !steps.isEmpty else { break }
            let answers = await sendBatch(
                steps.map { (groups[$0.group][$0.step], $0.step > 0 ? $0.group : nil) }, steps)
            for (index, outcome) in answers.enumerated() {
                outcomes[steps[index].group].append(outcome)
                if stop == nil { stop = Self.stop(after: outcome) }
            }
            // A group that failed in this batch does not continue in the next one.
            if let last = steps.last, outcomes[last.group].count < groups[last.group].count,
                case .failure = outcomes[last.group].last?.success
            {
                let left = groups[last.group].count - outcomes[last.group].count
                outcomes[last.group] += (0..<left).map { _ in .answered(GraphAnswer(status: 424, body: .null)) }
            }
            while next < groups.count, outcomes[next].count == groups[next].count { next += 1 }
        }
        return outcomes
    }

    /// Returns why nothing more is sent after an outcome.
    private static func stop(after outcome: GraphOutcome) -> ProviderFailure? {
        guard case .failure(let failure) = outcome.success else { return nil }
        switch failure.kind {
        case .throttled: return failure
        case .unanswered:
            return ProviderFailure(.unreachable, "Microsoft did not answer, so nothing more was sent.")
        default: break
        }
        // The failure of a whole batch, not of one request of it.
        if case .failed = outcome { return failure }
        return nil
    }

    private func sendBatch(
        _ steps: [(step: GraphStep, chain: Int?)], _ positions: [(group: Int, step: Int)]
    ) async -> [GraphOutcome] {
        do throws(ProviderFailure) {
            var outcomes = try await exchange(Array(steps.indices), steps, positions)
            var mayRenew = true
            var round = 0
            while true {
                // The token expired between two requests of the batch, or the mailbox had too many at once: none of
                // these requests was carried out.
                let refused = steps.indices.filter { outcomes[$0].has(mayRenew ? [401, 429] : [429]) }
                guard let first = refused.first, case .failure(let failure) = outcomes[first].success else { break }
                if outcomes[first].has([401]) {
                    mayRenew = false
                    _ = try await tokens.renewed(after: try await tokens.current())
                } else {
                    guard await waits(for: failure, round: round) else { break }
                    round += 1
                }
                let groups = Set(refused.map { positions[$0].group })
                let again = steps.indices.filter {
                    groups.contains(positions[$0].group) && outcomes[$0].has([401, 424, 429])
                }
                let second = try await exchange(again, steps, positions)
                for (index, outcome) in zip(again, second) { outcomes[index] = outcome }
            }
            return outcomes
        } catch {
            return steps.map { _ in .failed(error) }
        }
    }

    /// Sends one batch as one HTTP request.
    private func exchange(
        _ chosen: [Int], _ steps: [(step: GraphStep, chain: Int?)], _ positions: [(group: Int, step: Int)]
    ) async throws(ProviderFailure) -> [GraphOutcome] {
        let requests = chosen.map { index -> JSONValue in
            let step = steps[index].step
            var headers: [ByteString: JSONValue] = [
                "Prefer": .string(step.wantsHTML ? Self.htmlPreferences : Self.preferences)
            ]
            if let etag = step.etag { headers["If-Match"] = .string(etag) }
            var members: [ByteString: JSONValue] = [
                "id": .string(String(index)), "method": .string(step.method), "url": .string(step.path),
            ]
            if let body = step.body {
                headers["Content-Type"] = "application/json"
                members["body"] = body
            }
            members["headers"] = .object(headers)
            if steps[index].chain != nil, index > 0, chosen.contains(index - 1),
                positions[index - 1].group == positions[index].group
            {
                members["dependsOn"] = [.string(String(index - 1))]
            }
            return .object(members)
        }
        let answer = try await send(
            "POST", "/$batch", body: ["requests": .array(requests)], prefer: nil, permits: MailboxGate.width,
            calls: requests.count)
        guard answer.isSuccess else { throw answer.failure }
        guard let responses = answer.body["responses"]?.array, responses.count <= 4 * Self.batchSize else {
            throw ProviderFailure(.malformed, "Microsoft's answer to a batch has no answers.")
        }
        var found: [Int: GraphAnswer] = [:]
        for response in responses {
            guard let id = (response["id"]?.string).flatMap({ Int($0) }), let status = response["status"]?.integer,
                (100...599).contains(status), found[id] == nil
            else { continue }
            let headers = response["headers"]?.object ?? [:]
            let wait = headers.first { $0.key.string.asciiLowercased == "retry-after" }?.value
            found[id] = GraphAnswer(
                status: status, body: response["body"] ?? .null,
                retryAfter: wait?.integer.map { min(max($0, 0), 86_400) } ?? GraphAnswer.retryAfter(wait?.string),
                date: answer.date)
        }
        return chosen.map { index in
            found[index].map { .answered($0) }
                ?? .failed(ProviderFailure(.unanswered, "Microsoft's answer leaves out a request of a batch."))
        }
    }
}
