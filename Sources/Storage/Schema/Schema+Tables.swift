// SPDX-License-Identifier: Apache-2.0

/// A table of the current schema, with its columns by name, as the statements say that make it.
package struct SchemaTable: Hashable, Sendable {
    package let name: String
    /// The columns of the primary key, in which rows are ordered.
    package private(set) var key: [String] = []
    package private(set) var columns: [String] = []
    /// Whether it is stored in the order of its key.
    let isClustered: Bool

    /// - Parameter statement: `CREATE TABLE` and what follows it.
    fileprivate init(_ statement: String, _ words: [String]) {
        name = words[2]
        isClustered = statement.hasSuffix("/* clustered */")
        for index in words.indices.dropFirst() {
            if ["TEXT", "BIGINT"].contains(words[index]), !words[index - 1].isSameText(as: "AS") {
                columns.append(words[index - 1])
            } else if words[index - 1].isSameText(as: "PRIMARY"), words[index].isSameText(as: "KEY") {
                // Without a list it is the key of the column that it follows.
                let list = words[(index + 1)...].prefix { !$0.isSameText(as: ")") }
                key = list.first?.isSameText(as: "(") == true ? Array(list.dropFirst()) : Array(columns.suffix(1))
            }
        }
    }

    /// Changes the table as `ALTER TABLE` says.
    fileprivate mutating func change(_ words: [String]) {
        precondition(words[3].isSameText(as: "ADD"), "Only columns can be added to a table.")
        columns.append(words[5])
    }
}

extension SchemaTable: ExpressibleByStringLiteral {
    /// The table of this name.
    package init(stringLiteral name: String) { self.init(named: name) }

    init(named name: String) {
        guard let table = Schema.tables.first(where: { $0.name.isSameText(as: name) }) else {
            preconditionFailure("The schema has no table \(name).")
        }
        self = table
    }
}

// A statement names every column: while the schema gets a column, those of servers that do not know it remain valid.
extension String.StringInterpolation {
    /// Appends `SELECT … FROM` a table, with all its columns.
    mutating func appendInterpolation(select table: SchemaTable) {
        appendLiteral("SELECT \(table.columns.joined(separator: ", ")) FROM \(table.name)")
    }
}

extension Schema {
    /// Every table that stores the program's data, each after those that it refers to; only the list of migrations is
    /// left out.
    package static let tables: [SchemaTable] = migrations.joined().reduce(into: []) { tables, statement in
        let words = Schema.words(of: statement)
        if words.starts(with: ["CREATE", "TABLE"]) {
            tables.append(SchemaTable(statement, words))
        } else if words.starts(with: ["ALTER", "TABLE"]),
            let index = tables.firstIndex(where: { $0.name.isSameText(as: words[2]) })
        {
            tables[index].change(words)
        }
    }

    /// The words of a statement, and its parentheses, each by itself.
    private static func words(of statement: String) -> [String] {
        var words: [[UInt8]] = [[]]
        for byte in statement.utf8 {
            switch byte {
            case UInt8(ascii: "("), UInt8(ascii: ")"): words += [[byte], []]
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: ","): words.append([])
            default: words[words.count - 1].append(byte)
            }
        }
        return words.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
    }
}
