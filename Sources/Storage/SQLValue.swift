// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A value in a statement or a row, of one of the two types that every engine has.
public enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int)
    case text(String)

    public init(_ value: Int?) { self = value.map(SQLValue.integer) ?? .null }
    public init(_ value: String?) { self = value.map(SQLValue.text) ?? .null }
}

extension SQLValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByNilLiteral {
    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(nilLiteral: ()) { self = .null }
}

/// Parts of statements whose length depends on the number of values.
enum SQLText {
    private struct Shape: Hashable {
        enum Kind { case parameters, tuples, keys }

        var kind: Kind
        var count: Int
        var columns: Int
        var first: Int
    }

    /// The lists that were made before: they consist of hundreds of parameters, and statements repeat a few of them.
    private static let known = Mutex<[Shape: String]>([:])
    private static let most = 500

    private static func once(_ shape: Shape, _ make: () -> String) -> String {
        if let text = known.withLock({ $0[shape] }) { return text }
        let text = make()
        known.withLock { if $0.count < most { $0[shape] = text } }
        return text
    }

    /// Returns `$1, $2`…
    static func parameters(_ count: Int, from first: Int = 1) -> String {
        once(Shape(kind: .parameters, count: count, columns: 1, first: first)) {
            list(count, from: first)
        }
    }

    /// Returns `($1, $2), ($3, $4)`…
    static func tuples(_ count: Int, of columns: Int, from first: Int = 1) -> String {
        once(Shape(kind: .tuples, count: count, columns: columns, first: first)) {
            (0..<count).map { "(\(list(columns, from: $0 * columns + first)))" }.joined(separator: ", ")
        }
    }

    /// Returns what `make` makes for a number of keys whose values are parameters from `first` on.
    static func keys(_ count: Int, from first: Int, _ make: () -> String) -> String {
        once(Shape(kind: .keys, count: count, columns: 3, first: first), make)
    }

    private static func list(_ count: Int, from first: Int) -> String {
        (first..<first + count).map { "$\($0)" }.joined(separator: ", ")
    }
}

/// One row of a result; the columns' names are shared by all rows.
public struct SQLRow: Sendable {
    // A list: searching a few short names takes less time than hashing one, and nothing is built for each query.
    let columns: [String]
    let values: [SQLValue]

    public init(columns: [String], values: [SQLValue]) {
        self.columns = columns
        self.values = values
    }

    private func index(of name: String) -> Int? {
        for index in columns.indices where Self.areEqual(columns[index], name) { return index }
        return nil
    }

    /// The standard library's comparison, which compares short texts as two numbers. Names of columns are ASCII, for
    /// which it compares bytes.
    @inline(__always)
    private static func areEqual<Text: Equatable>(_ one: Text, _ other: Text) -> Bool { one == other }

    /// Returns some of the columns as a row, such as those of one of several tables.
    func part(_ places: Range<Int>) -> SQLRow {
        SQLRow(columns: Array(columns[places]), values: Array(values[places]))
    }

    /// Returns the text of a column that may be null.
    public func text(_ name: String) -> String? {
        if let index = index(of: name), case .text(let value) = values[index] { value } else { nil }
    }

    /// Returns the number of a column that may be null.
    public func integer(_ name: String) -> Int? {
        if let index = index(of: name), case .integer(let value) = values[index] { value } else { nil }
    }

    /// Returns the value of a column; null when the result has no such column.
    ///
    /// - Parameter position: where the column is when the statement selects the whole table.
    func value(of name: String, expectedAt position: Int) -> SQLValue {
        if position < columns.count, Self.areEqual(columns[position], name) { return values[position] }
        return index(of: name).map { values[$0] } ?? .null
    }

    /// Returns the text of a column that the schema declares NOT NULL; throws when the statement does not fit the
    /// schema.
    public func text(required name: String) throws -> String {
        guard let value = text(name) else { throw StorageError.unexpectedResult("Column \(name) holds no text.") }
        return value
    }

    /// Returns the number of a column that the schema declares NOT NULL; throws when the statement does not fit the
    /// schema.
    public func integer(required name: String) throws -> Int {
        guard let value = integer(name) else { throw StorageError.unexpectedResult("Column \(name) holds no number.") }
        return value
    }
}
