// SPDX-License-Identifier: Apache-2.0

/// A record that is stored as one row of a table, each of whose columns is described once.
///
/// Reading, storing and inspecting follow from that; statements that ask a question are written in SQL. The tokens and
/// accesses of feeds have statements of their own, and their rows are read by hand.
protocol StoredRow: Sendable {
    /// Creates a record whose values are all to be set.
    init()

    static var table: RecordTable<Self> { get }

    /// Records that the database has the record in its current form.
    mutating func noteStored()
}

extension StoredRow {
    static var schema: SchemaTable { table.schema }

    mutating func noteStored() {}

    /// Throws `StorageError` for a row that this version does not understand.
    init(_ row: SQLRow) throws {
        self.init()
        let reads = Self.table.reads
        for index in reads.indices { try reads[index](&self, row, index) }
        noteStored()
    }
}

/// A table, and the columns in which its records are stored.
struct RecordTable<Record: Sendable>: Sendable {
    let columns: [Column]
    let schema: SchemaTable
    /// The columns that records have, and as statements select them.
    fileprivate let selected: [String]
    fileprivate let list: String
    /// How each column is read: by itself, so that nothing else of the columns is touched for each row.
    fileprivate let reads: [Column.Read]
    /// The columns that records store, and what happens where a record is known.
    fileprivate let names: String
    let otherwise: String
    /// Stores a new record.
    fileprivate let insert: String
    /// Stores the values of a known record, for the columns of the key and then those that are stored again.
    fileprivate let update: String
    private let updated: [Column]

    init(_ name: String, _ columns: [Column]) {
        self.columns = columns
        reads = columns.map(\.read)
        schema = SchemaTable(named: name)
        selected = columns.filter(\.isStored).map(\.name)
        list = selected.joined(separator: ", ")
        let given = columns.filter { $0.value != nil }
        let written = columns.filter { $0.value != nil || $0.countedWithin != nil }
        func parameter(_ name: String) -> String {
            "$\(1 + (given.firstIndex { $0.name.isSameText(as: name) } ?? given.endIndex))"
        }
        let values = written.map { column in
            guard let group = column.countedWithin else { return parameter(column.name) }
            return "(SELECT COALESCE(MAX(\(column.name)), 0) + 1 FROM \(name) WHERE \(group) = \(parameter(group)))"
        }
        names = written.map(\.name).joined(separator: ", ")
        insert = "INSERT INTO \(name) (\(names)) VALUES (\(values.joined(separator: ", ")))"
        let keys = schema.key
        let changing = written.filter { column in column.changes && !keys.contains { $0.isSameText(as: column.name) } }
        let assigned = changing.map { "\($0.name) = EXCLUDED.\($0.name)" }.joined(separator: ", ")
        otherwise = "ON CONFLICT (\(keys.joined(separator: ", "))) DO UPDATE SET \(assigned)"
        let known = keys.compactMap { key in columns.first { $0.name.isSameText(as: key) } }
        let updated = known + changing
        let placeholders = updated.indices.map { "\(updated[$0].name) = $\($0 + 1)" }
        self.updated = updated
        update = """
            UPDATE \(name) SET \(placeholders[known.count...].joined(separator: ", "))
            WHERE \(placeholders[..<known.count].joined(separator: " AND "))
            """
    }

    /// The values of a record's columns, in the order of the statements.
    fileprivate func values(_ record: Record) -> [SQLValue] { columns.compactMap { $0.value?(record) } }

    /// The values of a record's columns, in the order of `update`.
    fileprivate func changed(_ record: Record) -> [SQLValue] { updated.map { $0.value?(record) ?? .null } }

    /// A column of the table, or a value that its query computes.
    struct Column: Sendable {
        typealias Path<Value> = any WritableKeyPath<Record, Value> & Sendable
        /// Reads a column of a row that is expected at a place.
        typealias Read = @Sendable (inout Record, SQLRow, Int) throws -> Void

        let name: String
        /// Whether the table has such a column.
        var isStored = true
        /// Whether a known record's column is stored again with the others; other statements change those that are not.
        var changes = true
        /// Nil for a column that records do not store.
        var value: (@Sendable (Record) -> SQLValue)?
        /// The column among whose rows of one value a new record gets the next number.
        var countedWithin: String?
        /// The numbers that it may hold; nil for those that columns of its name usually may.
        private(set) var range: ClosedRange<Int>?
        fileprivate var read: Read = { _, _, _ in }

        /// A column that is stored with each change of the record.
        init<Value: ColumnValue>(_ name: String, _ path: Path<Value>, in range: ClosedRange<Int>? = nil) {
            self.name = name
            self.range = range ?? Value.range
            value = { $0[keyPath: path].columnValue }
            read = { $0[keyPath: path] = try Value($1.value(of: name, expectedAt: $2), in: name) }
        }

        private init(name: String) { self.name = name }

        /// A column that is stored once, with the new record.
        static func once<Value: ColumnValue>(
            _ name: String, _ path: Path<Value>, in range: ClosedRange<Int>? = nil
        ) -> Column {
            var column = Column(name, path, in: range)
            column.changes = false
            return column
        }

        /// A column that the record shows and other statements store.
        static func shown<Value: ColumnValue>(_ name: String, _ path: Path<Value>) -> Column {
            var column = once(name, path)
            column.value = nil
            return column
        }

        /// A value that the record's queries compute in addition to the columns.
        static func computed<Value: ColumnValue>(_ name: String, _ path: Path<Value>) -> Column {
            var column = shown(name, path)
            column.isStored = false
            return column
        }

        /// A number that rises by one with each new row of one value in another column, from 1 on.
        static func counted(_ name: String, _ path: Path<Int>, within group: String) -> Column {
            var column = shown(name, path)
            (column.countedWithin, column.changes) = (group, false)
            return column
        }

        /// A column that is computed from the record and not read again.
        static func derived<Value: ColumnValue>(
            _ name: String, _ value: @escaping @Sendable (Record) -> Value
        ) -> Column {
            var column = Column(name: name)
            column.range = Value.range
            column.value = { value($0).columnValue }
            return column
        }

        /// A column of a part that a record may lack, and that a column before it makes.
        static func part<Part, Value: ColumnValue>(
            _ name: String, _ part: Path<Part?>, _ path: any WritableKeyPath<Part, Value> & Sendable,
            isOnce: Bool = false
        ) -> Column {
            var column = Column(name: name)
            column.range = Value.range
            column.changes = !isOnce
            column.value = { $0[keyPath: part]?[keyPath: path].columnValue ?? .null }
            column.read = {
                $0[keyPath: part]?[keyPath: path] = try Value($1.value(of: name, expectedAt: $2), in: name)
            }
            return column
        }
    }
}

/// A value that one column holds.
protocol ColumnValue: Sendable {
    /// Throws `StorageError` for a value that this version does not understand.
    init(_ value: SQLValue, in column: String) throws
    var columnValue: SQLValue { get }
    /// The numbers that stand for a value; nil for all that columns may usually hold.
    static var range: ClosedRange<Int>? { get }
}

extension ColumnValue {
    static var range: ClosedRange<Int>? { nil }
}

extension String: ColumnValue {
    init(_ value: SQLValue, in column: String) throws {
        guard case .text(let text) = value else {
            throw StorageError.unexpectedResult("Column \(column) holds no text.")
        }
        self = text
    }
    var columnValue: SQLValue { .text(self) }
}

extension Int: ColumnValue {
    init(_ value: SQLValue, in column: String) throws {
        guard case .integer(let number) = value else {
            throw StorageError.unexpectedResult("Column \(column) holds no number.")
        }
        self = number
    }
    var columnValue: SQLValue { .integer(self) }
}

/// More than a column of numbers holds, and so a text.
extension UInt64: ColumnValue {
    init(_ value: SQLValue, in column: String) throws {
        guard let number = UInt64(try String(value, in: column)) else { throw StorageError.unknownValue(of: column) }
        self = number
    }
    var columnValue: SQLValue { .text(String(self)) }
}

extension Bool: ColumnValue {
    init(_ value: SQLValue, in column: String) throws { self = try Int(value, in: column) != 0 }
    var columnValue: SQLValue { .integer(self ? 1 : 0) }
    static var range: ClosedRange<Int>? { 0...1 }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    init(_ value: SQLValue, in column: String) throws {
        self = if case .null = value { nil } else { try Wrapped(value, in: column) }
    }
    var columnValue: SQLValue { self?.columnValue ?? .null }
    static var range: ClosedRange<Int>? { Wrapped.range }
}

/// A word of a list that the schema or the program closes.
extension ColumnValue where Self: RawRepresentable, RawValue: ColumnValue {
    init(_ value: SQLValue, in column: String) throws {
        guard let known = Self(rawValue: try RawValue(value, in: column)) else {
            throw StorageError.unknownValue(of: column)
        }
        self = known
    }
    var columnValue: SQLValue { rawValue.columnValue }
}

/// Words, none of which has a space, in one text.
extension Array: ColumnValue where Element: StoredWord {
    init(_ value: SQLValue, in column: String) throws {
        self = try String(value, in: column).split(separator: " ").map { word in
            guard let known = Element(word: String(word)) else { throw StorageError.unknownValue(of: column) }
            return known
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
        appendLiteral("SELECT \(Record.table.list) FROM \(Record.schema.name)")
    }

    /// Appends all columns of a record's table, which a statement calls `alias`.
    mutating func appendInterpolation<Record: StoredRow>(columns type: Record.Type, of alias: String) {
        appendLiteral(Record.table.selected.map { "\(alias).\($0)" }.joined(separator: ", "))
    }
}

extension ReadTransaction {
    /// Returns the first record of a table that meets a condition.
    ///
    /// - Parameter condition: what follows `FROM` and the table.
    func first<Record: StoredRow>(_ condition: String, _ arguments: [SQLValue] = []) throws -> Record? {
        try row("\(select: Record.self) \(condition)", arguments).map(Record.init)
    }

    /// Returns the records of a table that meet a condition.
    ///
    /// - Parameter condition: what follows `FROM` and the table.
    func all<Record: StoredRow>(_ condition: String, _ arguments: [SQLValue] = []) throws -> [Record] {
        try rows("\(select: Record.self) \(condition)", arguments).map(Record.init)
    }
}

/// The values of records of a table without a counted column.
struct RecordRows<Record: StoredRow>: Sendable {
    fileprivate let values: [[SQLValue]]

    init(_ records: [Record]) { values = records.map(Record.table.values) }
}

extension WriteTransaction {
    /// Stores a new record, or the new values of a known one.
    func put<Record: StoredRow>(_ record: Record) throws { try insert(new: record, Record.table.otherwise) }

    /// Stores new records, or the new values of known ones, of a table without a counted column.
    func put<Record: StoredRow>(all records: [Record]) throws { try put(RecordRows(records)) }

    /// Stores the rows of such records.
    func put<Record: StoredRow>(_ rows: RecordRows<Record>) throws {
        let table = Record.table
        try insertRows(
            into: "\(table.schema.name) (\(table.names))", rows.values, otherwise: table.otherwise)
    }

    /// Stores a new record and returns how many rows changed.
    ///
    /// - Parameters:
    ///   - otherwise: what happens when the record is known, as `ON CONFLICT`.
    ///   - more: the arguments that only `otherwise` has, after those of the record's columns.
    @discardableResult
    func insert<Record: StoredRow>(
        new record: Record, _ otherwise: String = "", _ more: [SQLValue] = []
    ) throws -> Int {
        try execute("\(Record.table.insert) \(otherwise)", Record.table.values(record) + more)
    }

    /// Stores new records of a table without a counted column.
    ///
    /// - Parameters:
    ///   - others: columns that records do not have, with a record's values for them.
    ///   - otherwise: what happens when a record is known, as `ON CONFLICT`.
    func insert<Record: StoredRow>(
        all records: [Record], with others: String = "", _ values: (Int) -> [SQLValue] = { _ in [] },
        otherwise: String = ""
    ) throws {
        let table = Record.table
        try insertRows(
            into: "\(table.schema.name) (\(table.names)\(others.isEmpty ? "" : ", " + others))",
            records.indices.map { table.values(records[$0]) + values($0) }, otherwise: otherwise)
    }

    /// Removes some of the rows of a table that have an id in a column; returns how many.
    func delete(from table: SchemaTable, with column: String, _ id: String, limit: Int) throws -> Int {
        let key = table.key.joined(separator: ", ")
        return try execute(
            """
            DELETE FROM \(table.name) WHERE \(column) = $1 AND (\(key)) IN (
                SELECT \(key) FROM \(table.name) WHERE \(column) = $1 LIMIT $2)
            """, [.text(id), .integer(limit)])
    }

    /// Stores the new values of a known record.
    func update<Record: StoredRow>(_ record: Record) throws {
        try execute(Record.table.update, Record.table.changed(record))
    }
}
