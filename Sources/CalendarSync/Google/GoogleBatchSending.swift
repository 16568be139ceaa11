// SPDX-License-Identifier: Apache-2.0

/// Sends one batch until all of its calls are answered or given up: calls that Google throttles are sent again.
struct GoogleBatchSending {
    private let calls: [GoogleCall]
    private let wire: GoogleWire
    private(set) var results: [Result<GoogleAnswer, ProviderFailure>]
    /// Why no other batch may be sent now.
    private(set) var stop: ProviderFailure?
    private var isRenewed = false

    init(_ calls: [GoogleCall], wire: GoogleWire) {
        self.calls = calls
        self.wire = wire
        results = calls.map { _ in .failure(ProviderFailure(.unanswered, "Google did not answer.")) }
    }

    mutating func send() async {
        guard calls.count > 1 else {
            do throws(ProviderFailure) {
                for index in calls.indices { results[index] = .success(try await wire.send(calls[index])) }
            } catch {
                results = calls.map { _ in .failure(error) }
            }
            return
        }
        var open = Array(calls.indices)
        for attempt in 1...GoogleWire.attempts {
            let again: [Int]
            do throws(ProviderFailure) {
                again = try await sendOnce(open, isLast: attempt == GoogleWire.attempts || Task.isCancelled)
            } catch {
                for index in open { results[index] = .failure(error) }
                // The remaining calls were not sent, so they were not carried out.
                stop =
                    error.kind == .unanswered
                    ? ProviderFailure(.unreachable, "Google did not answer earlier, so it was not asked again.") : error
                return
            }
            guard !again.isEmpty, attempt < GoogleWire.attempts, !Task.isCancelled else { break }
            await wire.wait(before: attempt, again.compactMap { answer($0)?.retryAfter }.max())
            open = again
        }
        stop = calls.indices.compactMap { quota($0) }.first
    }

    /// Sends calls once, and returns those that are worth sending again.
    private mutating func sendOnce(_ open: [Int], isLast: Bool) async throws(ProviderFailure) -> [Int] {
        var again: [Int] = []
        var refused: [Int] = []
        let (answers, token) = try await wire.exchange(open.map { calls[$0] })
        for (index, answer) in zip(open, answers) {
            guard let answer else {
                results[index] = .failure(ProviderFailure(.unanswered, "Google left a call unanswered."))
                continue
            }
            results[index] = answer.needsToken ? .failure(answer.failure) : .success(answer)
            if answer.needsToken {
                refused.append(index)
            } else if answer.isWorthRepeating {
                again.append(index)
            }
        }
        guard !refused.isEmpty, !isRenewed, !isLast else { return again }
        isRenewed = true
        do throws(ProviderFailure) {
            _ = try await wire.tokens.renewed(after: token)
            again += refused
        } catch {
            for index in refused { results[index] = .failure(error) }
        }
        return again
    }

    private func answer(_ index: Int) -> GoogleAnswer? { try? results[index].get() }

    private func quota(_ index: Int) -> ProviderFailure? {
        guard let failure = answer(index)?.failure else { return nil }
        switch failure.kind {
        case .throttled, .quotaExceeded: return failure
        default: return nil
        }
    }
}
