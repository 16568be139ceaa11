// SPDX-License-Identifier: Apache-2.0

import Storage

/// The connections that are due, as last read from the database, in the order in which their runs begin.
///
/// It is read at most once a second, however many runs end in between: the cost of the query grows with everything that
/// waits, and must not be paid for every run.
struct SyncQueue: Sendable {
    /// The connections that wait for one provider or, if users give the addresses, for one host.
    private struct Line: Sendable {
        var waiting: [DueSync]
        var next = 0
    }

    private var lines: [Line] = []
    /// The line with which the next turn begins, so that no line is always the first.
    private var turn = 0

    init(_ due: [DueSync] = []) {
        let ordered = Self.ordered(due)
        let lines = Dictionary(grouping: ordered, by: SyncScheduler.Gate.init)
        // The lines are ordered by their first connections; runs that people asked for come first.
        self.lines = lines.values.sorted {
            ($0[0].isWanted ? 0 : 1, $0[0].dueAt) < ($1[0].isWanted ? 0 : 1, $1[0].dueAt)
        }
        .map { Line(waiting: $0) }
    }

    var isEmpty: Bool { lines.allSatisfy { $0.next >= $0.waiting.count } }

    /// Sorts the connections: first those that people asked for, then each user's first one before anybody's second
    /// one, then those due for longest.
    static func ordered(_ due: [DueSync]) -> [DueSync] {
        var seen: [ByteString: Int] = [:]
        let ranked = due.sorted { ($0.dueAt, ByteString($0.id)) < ($1.dueAt, ByteString($1.id)) }.map { own in
            let rank = seen[ByteString(own.userID), default: 0]
            seen[ByteString(own.userID)] = rank + 1
            return (own, rank)
        }
        return ranked.sorted { left, right in
            (left.0.isWanted ? 0 : 1, left.1, left.0.dueAt, ByteString(left.0.id))
                < (right.0.isWanted ? 0 : 1, right.1, right.0.dueAt, ByteString(right.0.id))
        }.map(\.0)
    }

    /// Removes and returns the connections whose runs can begin.
    ///
    /// - Parameter enter: takes a place for one connection, or returns the reason why no place is free.
    mutating func take(_ enter: (DueSync) -> SyncScheduler.Admission) -> [DueSync] {
        var taken: [DueSync] = []
        let count = lines.count
        for offset in 0..<count {
            let index = (turn + offset) % count
            var line = lines[index]
            // Connections whose user has to wait stay in the line, in order.
            var passed: [DueSync] = []
            entering: while line.next < line.waiting.count {
                let own = line.waiting[line.next]
                switch enter(own) {
                case .entered: taken.append(own)
                case .userWaits: passed.append(own)
                case .running: break
                case .full: break entering
                }
                line.next += 1
            }
            if !passed.isEmpty {
                line.waiting = passed + line.waiting[line.next...]
                line.next = 0
            }
            lines[index] = line
        }
        if count > 0 { turn = (turn + 1) % count }
        return taken
    }
}
