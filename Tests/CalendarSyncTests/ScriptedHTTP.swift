// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import Foundation
import Synchronization

/// Answers from a script, one step for each request, and records the requests.
final class ScriptedHTTP: ProviderHTTP {
    enum Step: Sendable {
        case answer(Int, String, [(name: String, value: String)] = [])
        case failure(TransportFailure)
    }

    private let state: Mutex<(steps: [Step], requests: [ProviderRequest], kept: Int, worked: [String])>
    /// Runs before each answer.
    private let pause: @Sendable () async -> Void
    /// The maximum number of bytes that may be kept.
    private let room: Int

    init(_ steps: [Step], room: Int = .max, pause: @escaping @Sendable () async -> Void = {}) {
        state = Mutex((steps, [], 0, []))
        (self.room, self.pause) = (room, pause)
    }

    var requests: [ProviderRequest] { state.withLock { $0.requests } }

    /// The types of the values that were made where long work is done.
    var worked: [String] { state.withLock { $0.worked } }

    func work<Value: Sendable>(
        on bytes: Int?, _ work: @escaping @Sendable () throws(ProviderFailure) -> Value
    ) async throws(ProviderFailure) -> Value {
        state.withLock { $0.worked.append("\(Value.self)") }
        return try work()
    }

    func keep(_ bytes: Int) async throws(ProviderFailure) {
        let kept = state.withLock { state in
            state.kept += bytes
            return state.kept
        }
        guard kept <= room else { throw ProviderFailure(.busy(retryAfter: 1), "No room.") }
    }

    func send(_ request: ProviderRequest) async throws(TransportFailure) -> ProviderAnswer {
        await pause()
        let step = state.withLock { state in
            state.requests.append(request)
            return state.steps.isEmpty ? nil : state.steps.removeFirst()
        }
        switch step {
        case .answer(let status, let body, let headers):
            return ProviderAnswer(status: status, headers: headers, body: Array(body.utf8))
        case .failure(let failure): throw failure
        case nil: throw .neverSent("The script has ended.")
        }
    }
}

extension ProviderRequest {
    /// The fields of a body that is a form.
    var form: [String: String] {
        var fields: [String: String] = [:]
        for pair in String(decoding: body ?? [], as: UTF8.self).split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            fields[String(sides[0])] = String(sides[1]).removingPercentEncoding ?? ""
        }
        return fields
    }
}
