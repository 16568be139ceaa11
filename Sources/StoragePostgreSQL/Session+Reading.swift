// SPDX-License-Identifier: Apache-2.0

internal import CPostgres
internal import Storage

// A transaction that only reads is in libpq's pipeline, where what is sent waits for no answer: its beginning goes with its
// first query, its end is answered while the session is idle, and queries that were announced go together. So it waits once
// for each group of queries.

/// How far a transaction that only reads has come; `none` where there is no such transaction.
enum Reading {
    case none, toBegin, begun
}

/// The queries that the server has yet to answer.
enum Awaited {
    case beginning, ending
    case preparation
    case description(PreparedStatement, of: String)
    case rows(PreparedStatement, of: Query)
    /// The end of what was sent together: when one of it is refused, the server skips the others.
    case endOfGroup
}

extension Session {
    /// Begins a transaction that only reads, with the first query: so its snapshot is not older.
    func beginReading() throws(SessionFailure) {
        try makeRoom()
        reading = .toBegin
    }

    /// Ends the transaction, whether or not one of its queries was refused; `failure` has what was refused.
    ///
    /// Its answer is not waited for: what was read is valid, and a session that cannot answer is lost for the next one.
    func endReading() throws(SessionFailure) {
        guard reading == .begun else {
            reading = .none
            return
        }
        // Otherwise the server might wait for somebody to take these rows, and keep its snapshot in the meantime.
        try drain()
        try send("COMMIT", .ending)
        try endGroup()
        reading = .none
        if unsafe PQflush(connection) != 0 { try drain() }
    }

    /// Sends those of some queries that are not on their way already; their answers are asked for later, in this order.
    func expect(_ queries: [Query]) throws(SessionFailure) {
        let queries = queries.filter { query in !awaited.contains { $0.isOf(query) } }
        guard !queries.isEmpty else { return }
        if unsafe PQpipelineStatus(connection) == PQ_PIPELINE_OFF {
            guard unsafe PQenterPipelineMode(connection) == 1 else { throw noted(lost()) }
        }
        do {
            if reading == .toBegin {
                try send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", .beginning)
                reading = .begun
            }
            for query in queries {
                let statement =
                    if let known = known(query.sql, query.arguments) { known } else { try sendNew(query) }
                try send(statement, query.arguments)
                awaited.append(.rows(statement, of: query))
            }
            try endGroup()
        } catch {
            throw noted(error)
        }
    }

    /// Passes on the rows of a query, which may have been sent before.
    ///
    /// - Returns: how many there are.
    func answer(to query: Query, _ body: (SQLRow) throws -> Void) throws -> Int {
        if !awaited.contains(where: { $0.isOf(query) }) { try expect([query]) }
        while !awaited.isEmpty {
            let next = awaited.removeFirst()
            if case .rows(let statement, of: query) = next { return try takeRows(of: statement, body) }
            try take(next)
        }
        throw SessionFailure.lost("a query has no answer")
    }

    /// Leaves the pipeline, in which only single statements can be sent.
    func leavePipeline() throws(SessionFailure) {
        guard unsafe PQpipelineStatus(connection) != PQ_PIPELINE_OFF else { return }
        try drain()
        guard unsafe PQexitPipelineMode(connection) == 1 else { throw noted(lost()) }
    }

    /// Reads everything that the server has yet to answer; throws only when the session is lost.
    private func drain() throws(SessionFailure) {
        while !awaited.isEmpty {
            do {
                try take(awaited.removeFirst())
            } catch {
                if case .lost = error { throw error }
            }
        }
    }

    /// Reads one answer that nobody asks for.
    private func take(_ next: Awaited) throws(SessionFailure) {
        switch next {
        case .beginning, .preparation: try unsafe take { _ in }
        case .description(let statement, of: let sql):
            try unsafe take { result in unsafe statement.describe(result) }
            keep(statement, for: sql)
        case .rows:
            // Row by row, so that never all of them are in memory.
            _ = unsafe PQsetSingleRowMode(connection)
            try unsafe take { _ in }
        case .ending:
            do {
                try unsafe take { _ in }
            } catch {
                // The next transaction could be a part of this one.
                let failure = SessionFailure.lost(error.reason)
                self.failure = failure
                throw failure
            }
        case .endOfGroup:
            do { try awaitAnswer() } catch { throw noted(error) }
            let result = unsafe PQgetResult(connection)
            defer { unsafe PQclear(result) }
            guard unsafe PQresultStatus(result) == PGRES_PIPELINE_SYNC else { throw noted(lost()) }
        }
    }

    private func sendNew(_ query: Query) throws(SessionFailure) -> PreparedStatement {
        let statement = try sendPreparation(of: query.sql, query.arguments)
        awaited.append(.preparation)
        try sendDescription(of: statement)
        awaited.append(.description(statement, of: query.sql))
        return statement
    }

    private func send(_ statement: String, _ answer: Awaited) throws(SessionFailure) {
        let isSent = unsafe PQsendQueryParams(connection, statement, 0, nil, nil, nil, nil, 0)
        guard isSent == 1 else { throw noted(lost()) }
        awaited.append(answer)
    }

    private func endGroup() throws(SessionFailure) {
        guard unsafe PQpipelineSync(connection) == 1 else { throw noted(lost()) }
        awaited.append(.endOfGroup)
        isSent = true
    }
}

extension Awaited {
    fileprivate func isOf(_ query: Query) -> Bool {
        if case .rows(_, of: query) = self { true } else { false }
    }
}
