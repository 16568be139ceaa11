// SPDX-License-Identifier: Apache-2.0

internal import CPostgres
internal import Glibc
internal import Storage

/// A connection to the server, used by one thread at a time.
///
/// Every wait has its own deadline: a server that was cut off sends no answer, not even an error.
@safe final class Session {
    /// How long the server may take for a statement; an answer may take a little longer to arrive.
    static let statementLimit = Duration.seconds(60)
    /// How long to wait for an answer.
    var answerLimit = statementLimit + .seconds(5)
    /// Whether the server was replaced, so that its answer is not waited for any longer.
    var isReplaced: () -> Bool = { false }
    /// How often that is looked at during a wait.
    private static let look = Duration.milliseconds(250)
    /// How many prepared statements a server keeps for a session at most.
    private static let preparedLimit = 400

    let connection: OpaquePointer
    private var prepared: [String: [PreparedStatement]] = [:]
    private var preparedCount = 0
    /// The transaction in the pipeline, if it is one that only reads.
    var reading = Reading.none
    /// The queries in the pipeline that the server has yet to answer, in this order.
    var awaited: [Awaited] = []
    /// How often an answer was waited for, however much was sent before it.
    private(set) var waits = 0
    /// Whether anything was sent since an answer was last waited for.
    var isSent = false
    /// The warnings since the last look.
    private let notices: Unmanaged<NoticeCount>
    /// The first failure since `begin`, whatever the caller did about it.
    var failure: SessionFailure?

    /// The id of the server's process for this session.
    private(set) var process = 0
    /// When the server was started, in seconds since 1970; another server, or the same one after a restart, has another
    /// time.
    var serverStart: String?

    /// Connects within a few seconds.
    ///
    /// - Parameter skipped: how many of several hosts are tried after the others.
    init(_ target: ConnectionTarget, skipping skipped: Int = 0) throws(SessionFailure) {
        let parameters = target.parameters(skipping: skipped)
        let names = parameters.map(\.name)
        let values = parameters.map(\.value)
        let opened = unsafe CStrings.withPointers(names) { names in
            unsafe CStrings.withPointers(values) { values in unsafe PQconnectdbParams(names, values, 1) }
        }
        guard let opened = unsafe opened else { throw .lost("there is not enough memory for a connection") }
        unsafe connection = opened
        unsafe notices = Unmanaged.passRetained(NoticeCount())
        guard unsafe PQstatus(connection) == CONNECTION_OK, unsafe PQsetnonblocking(connection, 1) == 0 else {
            throw .lost(Self.words(unsafe String(cString: PQerrorMessage(connection))))
        }
        // The count lives as long as the connection that uses it.
        _ = unsafe PQsetNoticeReceiver(
            connection,
            { context, result in
                guard let context = unsafe context else { return }
                let severity = unsafe PQresultErrorField(result, Field.severity)
                guard let severity = unsafe severity, unsafe String(cString: severity) == "WARNING" else { return }
                unsafe Unmanaged<NoticeCount>.fromOpaque(context).takeUnretainedValue().warnings += 1
            }, notices.toOpaque())
        process = Int(unsafe PQbackendPID(connection))
    }

    deinit {
        unsafe PQfinish(connection)
        unsafe notices.release()
    }

    // MARK: Statements

    /// Runs statements without parameters, and returns the rows of all of them.
    @discardableResult
    func run(_ statements: String) throws(SessionFailure) -> [[String?]] {
        try leavePipeline()
        isSent = true
        guard unsafe PQsendQuery(connection, statements) == 1 else { throw noted(lost()) }
        var rows: [[String?]] = []
        try unsafe take { result in
            for row in 0..<(unsafe PQntuples(result)) {
                rows.append(
                    (0..<(unsafe PQnfields(result))).map { column in
                        unsafe PQgetisnull(result, row, column) == 1
                            ? nil : String(cString: PQgetvalue(result, row, column))
                    })
            }
        }
        return rows
    }

    /// Ends a transaction; returns whether the server reports it as committed.
    func commit() throws(SessionFailure) -> Bool {
        isSent = true
        guard unsafe PQsendQuery(connection, "COMMIT") == 1 else { throw noted(lost()) }
        var isKept = false
        try unsafe take { result in isKept = unsafe String(cString: PQcmdStatus(result)) == "COMMIT" }
        return isKept
    }

    /// Clears the last failure.
    func beginAnew() { failure = nil }

    /// Runs a statement of the store, and passes on its rows one by one.
    ///
    /// - Returns: how many rows it changed or returned.
    @discardableResult
    func each(
        _ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Void
    ) throws -> Int {
        do {
            if reading != .none { return try answer(to: Query(sql, arguments), body) }
            let statement = try statement(sql, arguments)
            try send(statement, arguments)
            return try takeRows(of: statement, body)
        } catch let failure as SessionFailure {
            throw noted(failure)
        }
    }

    /// Passes on the rows of a statement that was sent, whose answer is the next.
    ///
    /// - Returns: how many rows it changed or returned.
    func takeRows(of statement: PreparedStatement, _ body: (SQLRow) throws -> Void) throws -> Int {
        // An answer that is a refusal already has no rows, and the mode cannot be set for it any more.
        _ = unsafe PQsetSingleRowMode(connection)
        var count = 0
        var problem: (any Error)?
        try unsafe take { result in
            if unsafe PQresultStatus(result) != PGRES_SINGLE_TUPLE {
                count = unsafe Int(String(cString: PQcmdTuples(result))) ?? 0
            }
            for index in 0..<(unsafe PQntuples(result)) {
                // Anything after a failure is read from the connection and ignored.
                guard problem == nil else { return }
                do {
                    try unsafe body(Self.row(result, index, statement))
                } catch {
                    problem = error
                }
            }
        }
        if let problem { throw problem }
        return count
    }

    /// Removes the prepared statements from the server.
    func forgetStatements() throws(SessionFailure) {
        prepared = [:]
        preparedCount = 0
        try run("DEALLOCATE ALL")
    }

    /// Whether another session has sent a notification since the last look.
    func wasRung() -> Bool {
        var isRung = false
        while let notification = unsafe PQnotifies(connection) {
            if unsafe Int(notification.pointee.be_pid) != process { isRung = true }
            unsafe PQfreemem(notification)
        }
        return isRung
    }

    /// Returns how many warnings the server has sent since the last look.
    func takeWarnings() -> Int {
        let count = unsafe notices.takeUnretainedValue()
        defer { count.warnings = 0 }
        return count.warnings
    }

    // MARK: Preparing

    /// Returns a statement that the server keeps for the session, if the server has it already.
    func known(_ sql: String, _ arguments: [SQLValue]) -> PreparedStatement? {
        prepared[sql]?.first { $0.takes(arguments) }
    }

    func keep(_ statement: PreparedStatement, for sql: String) { prepared[sql, default: []].append(statement) }

    /// Keeps the server from being asked to keep more statements than it should.
    func makeRoom() throws(SessionFailure) {
        if preparedCount >= Self.preparedLimit { try forgetStatements() }
    }

    private func statement(_ sql: String, _ arguments: [SQLValue]) throws(SessionFailure) -> PreparedStatement {
        if let known = known(sql, arguments) { return known }
        // A change of the schema is run only once.
        let isOnce = ["CREATE ", "ALTER ", "DROP "].contains { sql.hasPrefix($0) }
        try makeRoom()
        let new = try sendPreparation(of: sql, arguments, isOnce: isOnce)
        try unsafe take { _ in }
        try sendDescription(of: new)
        try unsafe take { result in unsafe new.describe(result) }
        if !isOnce { keep(new, for: sql) }
        return new
    }

    /// Sends a statement to be prepared.
    ///
    /// - Parameter isOnce: whether the next one takes its place.
    func sendPreparation(
        of sql: String, _ arguments: [SQLValue], isOnce: Bool = false
    ) throws(SessionFailure) -> PreparedStatement {
        isSent = true
        if !isOnce { preparedCount += 1 }
        let statement = PreparedStatement(name: isOnce ? "" : "k\(preparedCount)")
        let types = arguments.map { argument in
            switch argument {
            case .integer: ServerType.bigint
            case .text: ServerType.text
            // The server infers the type from the context.
            case .null: Oid(0)
            }
        }
        guard unsafe PQsendPrepare(connection, statement.name, Dialect.adapted(sql), CInt(types.count), types) == 1
        else { throw lost() }
        return statement
    }

    /// Asks for the columns and the types of a statement.
    func sendDescription(of statement: PreparedStatement) throws(SessionFailure) {
        isSent = true
        guard unsafe PQsendDescribePrepared(connection, statement.name) == 1 else { throw lost() }
    }

    func send(_ statement: PreparedStatement, _ arguments: [SQLValue]) throws(SessionFailure) {
        isSent = true
        let texts = arguments.map { argument -> String? in
            switch argument {
            case .null: nil
            case .integer(let number): String(number)
            case .text(let text): text
            }
        }
        let isSent = unsafe CStrings.withPointers(texts) { values in
            unsafe PQsendQueryPrepared(connection, statement.name, CInt(texts.count), values, nil, nil, 0)
        }
        guard isSent == 1 else { throw lost() }
    }

    private static func row(_ result: OpaquePointer, _ row: CInt, _ statement: PreparedStatement) throws -> SQLRow {
        var values: [SQLValue] = []
        values.reserveCapacity(statement.types.count)
        for (index, type) in statement.types.enumerated() {
            let column = CInt(index)
            if unsafe PQgetisnull(result, row, column) == 1 {
                values.append(.null)
                continue
            }
            let bytes = unsafe UnsafeRawBufferPointer(
                start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
            let text = unsafe String(decoding: bytes, as: UTF8.self)
            switch type {
            case ServerType.bigint, ServerType.integer, ServerType.smallint, ServerType.numeric:
                // A sum of numbers may be too large for an integer.
                values.append(Int(text).map(SQLValue.integer) ?? .null)
            case ServerType.bool: values.append(.integer(text == "t" ? 1 : 0))
            default: values.append(.text(text))
            }
        }
        return SQLRow(columns: statement.columns, values: values)
    }

    // MARK: Answers

    /// Reads all results of a query; throws the first failure among them after everything has been read.
    func take(_ body: (OpaquePointer) -> Void) throws(SessionFailure) {
        var problem: SessionFailure?
        while true {
            do {
                try awaitAnswer()
            } catch {
                throw noted(error)
            }
            guard let result = unsafe PQgetResult(connection) else { break }
            defer { unsafe PQclear(result) }
            switch unsafe PQresultStatus(result) {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE: if problem == nil { unsafe body(result) }
            // An earlier one of the same group was refused.
            case PGRES_PIPELINE_ABORTED: if problem == nil { problem = .refused(state: "25P02", words: "") }
            default: if problem == nil { problem = unsafe Self.failure(result) }
            }
        }
        guard let problem else { return }
        let isOver = unsafe PQstatus(connection) != CONNECTION_OK
        throw noted(isOver ? ended(problem) : problem)
    }

    func awaitAnswer() throws(SessionFailure) {
        if isSent { (waits, isSent) = (waits + 1, false) }
        let deadline = ContinuousClock.now + answerLimit
        while true {
            let left = unsafe PQflush(connection)
            guard left >= 0 else { throw lost() }
            if unsafe left == 0 && PQisBusy(connection) == 0 { return }
            let rest = deadline - ContinuousClock.now
            guard rest > .zero else { throw .lost("it did not answer in time") }
            var place = pollfd(
                fd: unsafe PQsocket(connection), events: Int16(POLLIN | (left == 1 ? POLLOUT : 0)), revents: 0)
            let count = unsafe poll(&place, 1, CInt(min(rest, Self.look) / .milliseconds(1)) + 1)
            if count < 0, errno == EINTR { continue }
            if count == 0, isReplaced() { throw .lost("another server has replaced it") }
            guard count >= 0 else { throw lost() }
            if place.revents & Int16(POLLIN | POLLERR | POLLHUP) != 0 {
                guard unsafe PQconsumeInput(connection) == 1 else { throw lost() }
            }
        }
    }

    private static func failure(_ result: OpaquePointer) -> SessionFailure {
        let state = unsafe PQresultErrorField(result, Field.state)
        // The detail and the statement are left out, because they contain values.
        let words = unsafe PQresultErrorField(result, Field.words)
        guard let state = unsafe state else { return .lost("the connection is lost") }
        let text = unsafe words.map { unsafe String(cString: $0) } ?? ""
        // The server has ended the session, which may show only later where several answers are awaited.
        let severity = unsafe PQresultErrorField(result, Field.severity)
        let isEnd = unsafe severity.map { ["FATAL", "PANIC"].contains(unsafe String(cString: $0)) } ?? false
        return isEnd ? .lost(text) : .refused(state: unsafe String(cString: state), words: text)
    }

    /// A refusal after which the connection has ended counts as its loss.
    private func ended(_ failure: SessionFailure) -> SessionFailure {
        guard case .refused(_, let words) = failure else { return failure }
        return .lost(words)
    }

    func lost() -> SessionFailure {
        .lost(Self.words(unsafe String(cString: PQerrorMessage(connection))))
    }

    func noted(_ new: SessionFailure) -> SessionFailure {
        failure = failure ?? new
        return new
    }

    /// Returns the library's text on one line; it names the place and the user, and never a password.
    private static func words(_ message: String) -> String {
        let lines = message.split(whereSeparator: \.isNewline).map { $0.trimmingPrefix(while: \.isWhitespace) }
        var line = lines.joined(separator: "; ")
        // The sentence around it has its own full stop.
        while line.utf8.last == UInt8(ascii: ".") { line.removeLast() }
        return line.isEmpty ? "the connection is lost" : String(line.prefix(300))
    }
}

/// The fields of a message, by their letters in the protocol.
private enum Field {
    static let severity = CInt(UInt8(ascii: "V"))
    static let state = CInt(UInt8(ascii: "C"))
    static let words = CInt(UInt8(ascii: "M"))
}

/// The number of a session's warnings, counted by the library on the session's own thread.
private final class NoticeCount {
    var warnings = 0
}

/// Converts texts to C's lists of strings.
private enum CStrings {
    /// Passes on pointers to the texts, null for nil, followed by a null; they are valid only during the call.
    static func withPointers<Value>(
        _ texts: [String?], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Value
    ) -> Value {
        var bytes: [CChar] = []
        bytes.reserveCapacity(texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) + 1 })
        var places: [Int?] = []
        for text in texts {
            guard let text else {
                places.append(nil)
                continue
            }
            places.append(bytes.count)
            for byte in text.utf8 { bytes.append(CChar(bitPattern: byte)) }
            bytes.append(0)
        }
        return unsafe bytes.withUnsafeBufferPointer { buffer in
            // An empty list has no base address, and no text either.
            let pointers = unsafe places.map { place in
                unsafe place.flatMap { place in unsafe buffer.baseAddress.map { unsafe $0 + place } }
            }
            return unsafe (pointers + [nil]).withUnsafeBufferPointer { unsafe body($0.baseAddress) }
        }
    }
}
