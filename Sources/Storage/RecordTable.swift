// SPDX-License-Identifier: Apache-2.0

/// A record that is stored as one row of a table, each of whose columns is described once.
///
/// Reading, storing, inspecting and copying follow from that; statements that ask a question are written in SQL. Records
/// of which many thousands are read at a time read their rows by hand.
protocol StoredRow: Sendable {
    /// Creates a record whose values are all to be set.
    init()

    static var table: RecordTable<Self> { get }
}

extension StoredRow {
    static var schema: SchemaTable { table.schema }

    /// Throws `StorageError` for a row that this version does not understand.
    init(_ row: SQLRow) throws {
        self.init()
        for column in Self.table.columns { try column.read(&self, row) }
    }
}

/// A table, and the columns in which its records are stored.
struct RecordTable<Record: Sendable>: Sendable {
    let columns: [Column]
    let schema: SchemaTable
    /// Stores a new record, or the new values of a known one.
    fileprivate let put: String
    /// Stores a new record.
    fileprivate let insert: String
    /// Stores the values of a known record, for the columns of the key and then those that are stored again.
    fileprivate let update: String
    private let stored: [String]

    /// - Parameter key: the names of the columns of the primary key, in its order.
    init(_ name: String, key: String, _ columns: [Column]) {
        self.columns = columns
        schema = SchemaTable(name, key: key, columns.filter(\.isStored).map(\.name).joined(separator: " "))
        let written = columns.indices.filter { columns[$0].value != nil }
        let names = written.map { columns[$0].name }
        insert = "INSERT INTO \(name) (\(names.joined(separator: ", "))) VALUES (\(SQLText.parameters(names.count)))"
        let keys = schema.key
        let changing = written.indices.filter { index in
            columns[written[index]].changes && !keys.contains { $0.isSameText(as: names[index]) }
        }
        let assigned = changing.map { "\(names[$0]) = EXCLUDED.\(names[$0])" }.joined(separator: ", ")
        put = "\(insert) ON CONFLICT (\(keys.joined(separator: ", "))) DO UPDATE SET \(assigned)"
        let updated = keys + changing.map { names[$0] }
        let values = updated.indices.map { "\(updated[$0]) = $\($0 + 1)" }
        stored = updated
        update = """
            UPDATE \(name) SET \(values[keys.count...].joined(separator: ", "))
            WHERE \(values[..<keys.count].joined(separator: " AND "))
            """
    }

    /// The values of a record's columns, in the order of the statements.
    fileprivate func values(_ record: Record) -> [SQLValue] { columns.compactMap { $0.value?(record) } }

    /// The values of a record's columns, in the order of `update`.
    fileprivate func changed(_ record: Record) -> [SQLValue] {
        stored.map { name in columns.first { $0.name.isSameText(as: name) }?.value?(record) ?? .null }
    }

    /// A column of the table, or a value that its query computes.
    struct Column: Sendable {
        typealias Path<Value> = any WritableKeyPath<Record, Value> & Sendable

        let name: String
        /// Whether the table has such a column.
        var isStored = true
        /// Whether a known record's column is stored again with the others; other statements change those that are not.
        var changes = true
        /// Nil for a column that records do not store.
        var value: (@Sendable (Record) -> SQLValue)?
        var read: @Sendable (inout Record, SQLRow) throws -> Void = { _, _ in }

        /// A column that is stored with each change of the record.
        init<Value: ColumnValue>(_ name: String, _ path: Path<Value>) {
            self.name = name
            value = { $0[keyPath: path].columnValue }
            read = { $0[keyPath: path] = try Value(column: name, of: $1) }
        }

        private init(name: String) { self.name = name }

        /// A column that is stored once, with the new record.
        static func once<Value: ColumnValue>(_ name: String, _ path: Path<Value>) -> Column {
            var column = Column(name, path)
            column.changes = false
            return column
        }

        /// A column that the record shows and other statements store.
        static func shown<Value: ColumnValue>(_ name: String, _ path: Path<Value>) -> Column {
            var column = once(name, path)
            column.value = nil
            return column
        }

        /// A value that the record's queries compute beside the columns.
        static func computed<Value: ColumnValue>(_ name: String, _ path: Path<Value>) -> Column {
            var column = shown(name, path)
            column.isStored = false
            return column
        }

        /// A column that the record does not have.
        static func other(_ name: String) -> Column { Column(name: name) }
    }
}

/// A value that one column holds.
protocol ColumnValue: Sendable {
    /// Throws `StorageError` for a value that this version does not understand.
    init(column name: String, of row: SQLRow) throws
    var columnValue: SQLValue { get }
}

extension String: ColumnValue {
    init(column name: String, of row: SQLRow) throws { self = try row.text(required: name) }
    var columnValue: SQLValue { .text(self) }
}

extension Int: ColumnValue {
    init(column name: String, of row: SQLRow) throws { self = try row.integer(required: name) }
    var columnValue: SQLValue { .integer(self) }
}

extension Bool: ColumnValue {
    init(column name: String, of row: SQLRow) throws { self = try row.integer(required: name) != 0 }
    var columnValue: SQLValue { .integer(self ? 1 : 0) }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    init(column name: String, of row: SQLRow) throws {
        self = try row.isNull(name) ? nil : Wrapped(column: name, of: row)
    }
    var columnValue: SQLValue { self?.columnValue ?? .null }
}

/// A word of a list that the schema or the program closes.
extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
    init(column name: String, of row: SQLRow) throws {
        guard let value = Self(rawValue: try RawValue(column: name, of: row)) else {
            throw StorageError.unknownValue(of: name)
        }
        self = value
    }
    var columnValue: SQLValue { rawValue.columnValue }
}

/// Words, none of which has a space, in one text.
extension Array: ColumnValue where Element: StoredWord {
    init(column name: String, of row: SQLRow) throws {
        self = try row.text(required: name).split(separator: " ").map { word in
            guard let value = Element(word: String(word)) else { throw StorageError.unknownValue(of: name) }
            return value
        }
    }
    var columnValue: SQLValue { .text(map(\.word).joined(separator: " ")) }
}

protocol StoredWord: Sendable {
    init?(word: String)
    var word: String { get }
}

extension String: StoredWord {
    init?(word: String) { self = word }
    var word: String { self }
}

extension StoredWord where Self: RawRepresentable, RawValue == String {
    init?(word: String) { self.init(rawValue: word) }
    var word: String { rawValue }
}

extension StorageError {
    fileprivate static func unknownValue(of column: String) -> StorageError {
        .unexpectedResult("Column \(column) holds a value that this version does not know.")
    }
}

extension String.StringInterpolation {
    /// Appends `SELECT … FROM` a record's table, with all its columns.
    mutating func appendInterpolation<Record: StoredRow>(select type: Record.Type) {
        appendInterpolation(select: Record.schema)
    }

    /// Appends all columns of a record's table, which a statement calls `alias`.
    mutating func appendInterpolation<Record: StoredRow>(columns type: Record.Type, of alias: String) {
        appendInterpolation(columns: Record.schema, of: alias)
    }
}

extension ReadTransaction {
    /// Returns the first record of a table that meets a condition.
    ///
    /// - Parameter condition: what follows `FROM` and the table.
    func first<Record: StoredRow>(_ condition: String, _ arguments: [SQLValue]) throws -> Record? {
        try row("\(select: Record.self) \(condition)", arguments).map(Record.init)
    }

    /// Returns the records of a table that meet a condition.
    ///
    /// - Parameter condition: what follows `FROM` and the table.
    func all<Record: StoredRow>(_ condition: String, _ arguments: [SQLValue] = []) throws -> [Record] {
        try rows("\(select: Record.self) \(condition)", arguments).map(Record.init)
    }
}

extension WriteTransaction {
    /// Stores a new record, or the new values of a known one.
    func put<Record: StoredRow>(_ record: Record) throws {
        try execute(Record.table.put, Record.table.values(record))
    }

    /// Stores a new record.
    func insert<Record: StoredRow>(_ record: Record) throws {
        try execute(Record.table.insert, Record.table.values(record))
    }

    /// Stores the new values of a known record.
    func update<Record: StoredRow>(_ record: Record) throws {
        try execute(Record.table.update, Record.table.changed(record))
    }
}
