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
    /// The texts of the arguments, which the statement refers to until `clear()`.
    private let texts: BoundTexts

    /// Binds arguments; SQLite takes `$1` as a name, so that a parameter may occur twice and in any order, as in
    /// PostgreSQL.
    init(_ arguments: [SQLValue], in statement: Statement, _ sql: String) throws {
        self.statement = statement
        texts = BoundTexts(arguments)
        let code = unsafe sqlite3_reset(statement.sqliteStatement)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        // GRDB takes the arguments for complete from here on, and leaves those that are bound below.
        statement.setUncheckedArguments(StatementArguments())
        do {
            try bind(arguments, sql)
        } catch {
            // The statement is kept, and the texts are not.
            clear()
            throw error
        }
    }

    private func bind(_ arguments: [SQLValue], _ sql: String) throws {
        let count = Int(unsafe sqlite3_bind_parameter_count(statement.sqliteStatement))
        // Finding out which parameter has which number takes longer than binding it.
        if Self.firstStandInOrder(sql) {
            guard count == arguments.count else { throw Self.misfit }
            for index in 0..<count { try bind(arguments[index], at: Int32(index + 1)) }
        } else {
            for index in 0..<count {
                guard let name = unsafe sqlite3_bind_parameter_name(statement.sqliteStatement, Int32(index + 1)),
                    let number = Int(unsafe String(cString: name + 1)), arguments.indices.contains(number - 1)
                else { throw Self.misfit }
                try bind(arguments[number - 1], at: Int32(index + 1))
            }
        }
    }

    private static let misfit = StorageError.unexpectedResult("A statement does not have as many values as parameters.")

    private func bind(_ value: SQLValue, at position: Int32) throws {
        let code: Int32
        switch value {
        // Nothing is bound so far.
        case .null: return
        case .integer(let number):
            code = unsafe sqlite3_bind_int64(statement.sqliteStatement, position, Int64(number))
        case .text(var text):
            let bytes = unsafe texts.add(&text)
            // A text with NUL would be another one to every function of SQL that ends at it, and PostgreSQL stores none.
            guard unsafe memchr(bytes.start, 0, bytes.count) == nil else { throw StorageError.unstorable }
            // Without a destructor SQLite takes no copy: the text outlives its use.
            code = unsafe sqlite3_bind_text64(
                statement.sqliteStatement, position, bytes.start, UInt64(bytes.count), nil, UInt8(SQLITE_UTF8))
        }
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// Takes the arguments away from the statement, which is kept for the next time; must be called before the values go.
    func clear() { unsafe sqlite3_clear_bindings(statement.sqliteStatement) }

    /// The values of the statement's current row.
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
        let bytes = sql.utf8.span
        for index in bytes.indices {
            let byte = bytes[index]
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

/// The texts of a statement's arguments, one after the other in one piece of memory.
///
/// SQLite's own copies are pieces of their own, each with its lock and its bookkeeping: of a row's values, copying them took
/// longer than inserting them.
@safe
private final class BoundTexts {
    // The memory lives as long as this object, and `add` never writes beyond it: `init` counted the same texts.
    private let memory: UnsafeMutablePointer<CChar>
    private let capacity: Int
    private var count = 0

    init(_ values: [SQLValue]) {
        var total = 0
        for case .text(let text) in values { total += text.utf8.count }
        capacity = total
        // One more, so that there is an address even without any text: SQLite takes none for NULL.
        unsafe memory = .allocate(capacity: total + 1)
    }

    deinit { unsafe memory.deallocate() }

    /// Copies the next text; the address is valid as long as this object.
    func add(_ text: inout String) -> (start: UnsafePointer<CChar>, count: Int) {
        let start = unsafe memory + count
        let length = text.withUTF8 { bytes in
            precondition(count + bytes.count <= capacity)
            if let first = bytes.baseAddress { unsafe memcpy(start, first, bytes.count) }
            return bytes.count
        }
        count += length
        return unsafe (UnsafePointer(start), length)
    }
}
