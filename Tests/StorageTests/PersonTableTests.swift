// SPDX-License-Identifier: Apache-2.0

import Foundation
import StorageSQLite
import Testing

@testable import Storage

@Suite("What is stored of a person")
struct PersonTableTests {
    /// Columns that look as if they held a person's id, and hold none; and tables of which no row is shown.
    private static let others: [(table: String, column: String, reason: String)] = [
        ("sign_in_links", "leads_to", "It is a path."),
        ("connection_authorizations", "return_to", "It is a path."),
        ("recovery_codes", "user_id", "Its rows are nothing but hashes."),
        ("audit_waiting", "actor", "Its rows are in the audit trail before anything is shown."),
        ("erasures", "user_id", "It is there until nothing else of the person is."),
    ]

    /// Tables whose rows belong to what belongs to a person, and of which no row is shown.
    private static let parts: [(table: String, reason: String)] = [
        ("connection_credentials", "Its rows are nothing but secrets."),
        ("password_handouts", "Its rows are nothing but secrets."),
        ("feed_tokens", "Its rows are nothing but hashes."),
        ("sync_channels", "Its rows are secrets, and what a provider calls its channels."),
        ("sync_positions", "It is how far a provider has been read."),
        ("sync_wishes", "Its rows are runs that begin in a moment."),
        ("sync_requests", "It is how many requests were sent, and loses the connection's id with the connection."),
        ("sync_leases", "Its rows are which server is at work."),
        ("sync_requests", "Its rows are numbers of requests."),
        ("import_items", "Its rows are of the file, whose events are shown."),
        ("import_sources", "Its rows are of the file, whose events are shown."),
        ("personal_parts", "It is shown by the person's id."), ("phone_marks", "It is shown by the person's id."),
        ("former_connections", "It is shown by the person's id."),
        ("connection_authorizations", "It is shown by the person's id."),
        ("personal_events", "It is shown by the person's id."), ("import_changes", "It is shown by the person's id."),
    ]

    @Test("Every column of the schema that holds a person's id is looked for, and so is every part of what is theirs")
    func isComplete() {
        func isPerson(_ column: String) -> Bool {
            ["user_id", "owner_id", "_by", "_by_before", "_to"].contains { column.hasSuffix($0) }
                || ["author", "actor"].contains { $0 == column }
        }
        let shown = PersonTable.all
        var found = 0
        for table in Schema.tables {
            for column in table.columns where isPerson(column) {
                found += 1
                let isShown = shown.contains { $0.name == table.name && $0.persons.contains { $0 == column } }
                let isOther = Self.others.contains { $0.table == table.name && $0.column == column }
                #expect(isShown != isOther, "\(table.name).\(column) is a person's, or is not.")
            }
            let parents = ["connection_id", "calendar_id", "password_id", "feed_id", "feed", "import_id"]
            if table.columns.contains(where: { column in parents.contains { $0 == column } }) {
                let isKnown = shown.contains { $0.name == table.name } || Self.parts.contains { $0.table == table.name }
                #expect(isKnown, "\(table.name) is a part of what is a person's, or is not.")
            }
        }
        #expect(found > 35)
        for table in shown {
            let columns = Schema.tables.first { $0.name == table.name }?.columns ?? []
            for column in table.persons { #expect(columns.contains { $0 == column }, "\(table.name).\(column)") }
            for column in table.concealed { #expect(columns.contains { ByteString($0) == column }, "\(column)") }
        }
    }

    @Test("The statement of each table is valid, and pages of rows have every row once")
    func statements() async throws {
        try await TemporaryStore.withDirectory { directory in
            let store = try SQLiteStore(path: directory.appending(path: "a").path)
            defer { try? store.close() }
            try await store.write { writer in
                for number in 0..<250 {
                    try writer.execute(
                        """
                        INSERT INTO sign_in_homes (user_id, network, used_at) VALUES ($1, $2, 1), ('b', $2, 1)
                        """, ["ann", .text("n\(number)")])
                }
                try writer.execute(
                    """
                    INSERT INTO sign_in_failures (name, count, last_at, until_at)
                    VALUES ('ann', 1, 1, 1), ('ann n1', 1, 1, 1), ('anna n1', 1, 1, 1), (' n1', 1, 1, 1)
                    """, [])
            }
            for table in PersonTable.all {
                let found = try await store.read { reader in
                    var (rows, key): ([[(column: String, value: SQLValue)]], [SQLValue]?) = ([], nil)
                    repeat {
                        let page = try reader.personRows(of: "ann", in: table, after: key)
                        rows += page.rows
                        key = page.next
                    } while key != nil
                    return rows.map { row in row.map { "\($0.value)" }.joined(separator: " ") }
                }
                let expected = ["sign_in_homes": 250, "sign_in_failures": 2][table.name] ?? 0
                #expect(found.count == expected && Set(found).count == expected, "\(table.name)")
            }
        }
    }

    @Test("A page of long rows ends early, and the next one goes on")
    func longRows() async throws {
        try await TemporaryStore.withDirectory { directory in
            let store = try SQLiteStore(path: directory.appending(path: "a").path)
            defer { try? store.close() }
            let long = String(repeating: "n", count: 100_000)
            try await store.write { writer in
                for number in 10..<20 {
                    try writer.execute(
                        "INSERT INTO sign_in_homes (user_id, network, used_at) VALUES ('ann', $1, 1)",
                        [.text("\(number)\(long)")])
                }
            }
            let table = try #require(PersonTable.all.first { $0.name == "sign_in_homes" })
            let counts = try await store.read { reader in
                var (counts, key): ([Int], [SQLValue]?) = ([], nil)
                repeat {
                    let page = try reader.personRows(of: "ann", in: table, after: key)
                    counts.append(page.rows.count)
                    key = page.next
                } while key != nil
                return counts
            }
            #expect(counts == [3, 3, 3, 1])
        }
    }
}
