// SPDX-License-Identifier: Apache-2.0

import CalendarSync

/// Reads the calendar objects of one account in processes without rights, one after the other.
///
/// No process reads what two accounts have, so whatever an object could do to its process reaches no other account.
/// One process answers many questions; if it dies, the object that it was reading is left out, and a new process goes on.
actor ObjectWorker: ObjectReading {
    /// The maximum number of processes that objects of one account may end; whoever has more of such objects wants no
    /// calendar read.
    private static let mostDeaths = 20

    private let executable: String
    private var process: ObjectProcess?
    /// Whether the process has answered before, and so may have come near to its limits.
    private var isWorn = false
    private var deaths = 0
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// The answers that all workers share.
    private let turns: ForeignAnswers
    private let sender: Sender

    init(_ executable: String, in turns: ForeignAnswers, for sender: Sender) {
        (self.executable, self.turns, self.sender) = (executable, turns, sender)
    }

    func answers(to questions: [ObjectQuestion]) async throws(ProviderFailure) -> [ObjectAnswer] {
        await enter()
        defer { leave() }
        let turn = try await turns.turn(for: sender)
        let found = try await found(for: questions)
        _ = consume turn
        return found
    }

    private func found(for questions: [ObjectQuestion]) async throws(ProviderFailure) -> [ObjectAnswer] {
        var answers: [ObjectAnswer] = []
        while answers.count < questions.count {
            let process = process ?? ObjectProcess(executable, for: sender.caller)
            self.process = process
            let found = (try? await process.answers(to: questions[answers.count...])) ?? []
            answers += found
            let wasWorn = isWorn || !found.isEmpty
            isWorn = true
            guard answers.count < questions.count else { break }
            (self.process, isWorn) = (nil, false)
            guard await process.end(), !Task.isCancelled else {
                throw ProviderFailure(
                    .unavailable(retryAfter: nil), "Events cannot be read safely on this machine now.")
            }
            deaths += 1
            guard deaths <= Self.mostDeaths else {
                throw ProviderFailure(
                    .unavailable(retryAfter: nil), "Too many events could not be read within the limits.")
            }
            // An object that ends a process at once is the cause of it.
            if !wasWorn { answers.append(.beyondLimits) }
        }
        return answers
    }

    private func enter() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}
