// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import NIOCore
import Storage
import Synchronization

/// The accesses of one turn of an event loop: the first is recorded at once, and all others together at the turn's end.
///
/// In a turn the loop reads from every connection that has something to read. One write, one lock and one wake-up then
/// serve nearly all of them. The first does not wait for the reading of a long turn, in which it is often the only one;
/// nobody waits for others to come, since the turn ends once what has arrived is read.
final class TurnAccesses {
    private struct Waiting {
        let access: FeedAccess
        /// The answer that waits, and who sends it.
        let answer: FeedFastPath.Answer
        let handler: EdgeHandler
    }

    private let counter: AccessCounter
    private let loop: any EventLoop
    private var waiting: [Waiting] = []
    /// Whether an access was recorded in this turn.
    private var hasBegun = false

    private init(_ counter: AccessCounter, _ loop: any EventLoop) { (self.counter, self.loop) = (counter, loop) }

    /// Counts an access; `handler` learns the outcome on the event loop.
    func count(_ access: FeedAccess, of answer: FeedFastPath.Answer, for handler: EdgeHandler) {
        let one = Waiting(access: access, answer: answer, handler: handler)
        guard !hasBegun else { return waiting.append(one) }
        hasBegun = true
        let bound = NIOLoopBound(self, eventLoop: loop)
        loop.execute { bound.value.end() }
        record([one])
    }

    /// The turn is over.
    private func end() {
        hasBegun = false
        guard !waiting.isEmpty else { return }
        let accesses = waiting[...]
        waiting = []
        record(accesses)
    }

    private func record(_ accesses: ArraySlice<Waiting>) {
        let bound = NIOLoopBound((turn: self, accesses: accesses), eventLoop: loop)
        let loop = loop
        counter.count(accesses.map(\.access)) { result in
            if loop.inEventLoop {
                bound.value.turn.finish(bound.value.accesses, result)
            } else {
                loop.execute { bound.value.turn.finish(bound.value.accesses, result) }
            }
        }
    }

    private func finish(_ accesses: ArraySlice<Waiting>, _ result: Result<Void, JournalFailure>) {
        // A journal without room for all of them takes as many as fit.
        if accesses.count > 1, case .failure(.full) = result {
            let middle = accesses.startIndex + accesses.count / 2
            record(accesses[..<middle])
            record(accesses[middle...])
            return
        }
        for one in accesses { one.handler.finish(one.answer, result) }
    }

    /// The turns of a server's event loops.
    final class Loops: Sendable {
        private let counter: AccessCounter
        private let turns = Mutex<[ObjectIdentifier: NIOLoopBound<TurnAccesses>]>([:])

        init(_ counter: AccessCounter) { self.counter = counter }

        /// The turn of the event loop on which this is called.
        func turn(of loop: any EventLoop) -> TurnAccesses {
            turns.withLock { turns in
                if let known = turns[ObjectIdentifier(loop)] { return known }
                let new = NIOLoopBound(TurnAccesses(counter, loop), eventLoop: loop)
                turns[ObjectIdentifier(loop)] = new
                return new
            }.value
        }
    }
}
