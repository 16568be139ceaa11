// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import GRDBSQLite
internal import Glibc
internal import Storage

/// The arguments of a statement, bound through SQLite's own functions, and the values of its current row.
///
/// GRDB wraps each value several times on its way to SQLite and back, which took longer than SQLite's own work on a
/// row. It still runs the statement, so it knows of transactions and errors.
struct BoundValues {
    private let statement: Statement

    /// Binds arguments; SQLite takes `$1` as a name, so that a parameter may occur twice and in any order, as in
    /// PostgreSQL.
    init(_ arguments: [SQLValue], in statement: Statement, _ sql: String) throws {
        self.statement = statement
        let code = unsafe sqlite3_reset(statement.sqliteStatement)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        // GRDB takes the arguments for complete from here on, and leaves those that are bound below.
        statement.setUncheckedArguments(StatementArguments())
        let count = Int(unsafe sqlite3_bind_parameter_count(statement.sqliteStatement))
        // Finding out which parameter has which number takes longer than binding it.
        if Self.firstStandInOrder(sql) {
            guard count == arguments.count else { throw Self.misfit }
            for place in 0..<count { try bind(arguments[place], at: Int32(place + 1)) }
        } else {
            for place in 0..<count {
                guard let name = unsafe sqlite3_bind_parameter_name(statement.sqliteStatement, Int32(place + 1)),
                    let number = Int(unsafe String(cString: name + 1)), arguments.indices.contains(number - 1)
                else { throw Self.misfit }
                try bind(arguments[number - 1], at: Int32(place + 1))
            }
        }
    }

    private static let misfit = StorageError.unexpectedResult("A statement does not have as many values as parameters.")

    private func bind(_ value: SQLValue, at place: Int32) throws {
        let code: Int32
        switch value {
        // Nothing is bound so far.
        case .null: return
        case .integer(let number):
            code = unsafe sqlite3_bind_int64(statement.sqliteStatement, place, Int64(number))
        case .text(var text):
            code = try text.withUTF8 { bytes in
                // An empty text may have no address, and SQLite takes no address for NULL.
                guard !bytes.isEmpty, let start = unsafe UnsafeRawPointer(bytes.baseAddress) else {
                    return unsafe sqlite3_bind_text(statement.sqliteStatement, place, "", 0, Self.copied)
                }
                // A text with NUL would be another one to every function of SQL that ends at it, and PostgreSQL
                // stores none.
                guard unsafe memchr(start, 0, bytes.count) == nil else { throw StorageError.unstorable }
                return unsafe sqlite3_bind_text64(
                    statement.sqliteStatement, place, start.assumingMemoryBound(to: CChar.self),
                    UInt64(bytes.count), Self.copied, UInt8(SQLITE_UTF8))
            }
        }
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// SQLITE_TRANSIENT, which C defines by a cast: SQLite copies the text before the call returns.
    private static var copied: sqlite3_destructor_type { unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    /// Releases the copies of the arguments: the statement is kept for the next time.
    func clear() { unsafe sqlite3_clear_bindings(statement.sqliteStatement) }

    /// The values of the row at which the statement stands.
    func row() -> [SQLValue] {
        let handle = unsafe statement.sqliteStatement
        let count = unsafe sqlite3_column_count(handle)
        return (0..<count).map { column in
            switch unsafe sqlite3_column_type(handle, column) {
            case SQLITE_INTEGER: return .integer(Int(unsafe sqlite3_column_int64(handle, column)))
            case SQLITE_TEXT:
                // The address comes first: asking for it may change the length.
                let start = unsafe sqlite3_column_text(handle, column)
                let count = Int(unsafe sqlite3_column_bytes(handle, column))
                return .text(unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self))
            case SQLITE_FLOAT:
                // Only a number that another program wrote can be too large.
                let number = unsafe sqlite3_column_double(handle, column)
                return Int(exactly: number.rounded(.towardZero)).map(SQLValue.integer) ?? .null
            default: return .null
            }
        }
    }

    /// Whether the parameters first appear in the order of their numbers.
    private static func firstStandInOrder(_ sql: String) -> Bool {
        var (greatest, number, isInside) = (0, 0, false)
        for byte in sql.utf8 {
            if isInside, byte >= 48, byte <= 57 {
                number = number * 10 + Int(byte - 48)
                continue
            }
            if isInside {
                if number > greatest + 1 { return false }
                greatest = max(greatest, number)
            }
            (isInside, number) = (byte == 36, 0)
        }
        return number <= greatest + 1
    }
}
