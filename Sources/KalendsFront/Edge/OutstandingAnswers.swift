// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import NIOCore

/// The answers of a connection that have not left, in the order of their requests: each may leave once its access is
/// counted and all before it have left.
struct OutstandingAnswers {
    private struct Outstanding {
        let answer: FeedFastPath.Answer
        /// Nil until it is known whether the access is counted.
        var outcome: Result<Void, JournalFailure>?
    }

    private var queue = CircularBuffer<Outstanding>()
    /// The number of the first answer in the queue.
    private var firstNumber = 0

    var isEmpty: Bool { queue.isEmpty }
    var count: Int { queue.count }

    /// Adds an answer, and returns the number by which its access is reported; one without an access may leave at once.
    mutating func append(_ answer: FeedFastPath.Answer) -> Int {
        queue.append(Outstanding(answer: answer, outcome: answer.access == nil ? .success(()) : nil))
        return firstNumber + queue.count - 1
    }

    /// The access of an answer is counted, or cannot be.
    mutating func finish(_ number: Int, _ outcome: Result<Void, JournalFailure>) {
        let place = queue.index(queue.startIndex, offsetBy: number - firstNumber)
        guard queue.indices.contains(place) else { return }
        queue[place].outcome = outcome
    }

    /// Removes the first answer, if it may leave.
    mutating func popReady() -> (answer: FeedFastPath.Answer, outcome: Result<Void, JournalFailure>)? {
        guard let first = queue.first, let outcome = first.outcome else { return nil }
        queue.removeFirst()
        firstNumber += 1
        return (first.answer, outcome)
    }
}
