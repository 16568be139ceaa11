// SPDX-License-Identifier: Apache-2.0

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
    /// Returns `$1, $2`…
    static func parameters(_ count: Int, from first: Int = 1) -> String {
        (first..<first + count).map { "$\($0)" }.joined(separator: ", ")
    }

    /// Returns `($1, $2), ($3, $4)`…
    static func tuples(_ count: Int, of columns: Int, from first: Int = 1) -> String {
        (0..<count).map { "(\(parameters(columns, from: $0 * columns + first)))" }.joined(separator: ", ")
    }
}

/// One row of a result; the columns' names are shared by all rows.
public struct SQLRow: Sendable {
    let columns: [String: Int]
    let values: [SQLValue]

    public init(columns: [String: Int], values: [SQLValue]) {
        self.columns = columns
        self.values = values
    }

    /// Returns the text of a column that may be null.
    public func text(_ name: String) -> String? {
        if let index = columns[name], case .text(let value) = values[index] { value } else { nil }
    }

    /// Returns the number of a column that may be null.
    public func integer(_ name: String) -> Int? {
        if let index = columns[name], case .integer(let value) = values[index] { value } else { nil }
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
