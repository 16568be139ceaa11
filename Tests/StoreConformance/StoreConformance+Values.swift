// SPDX-License-Identifier: Apache-2.0

import Storage
import Testing

extension StoreConformance {
    static let values: [StoreCheck] = [
        StoreCheck("Text comes back with the very bytes that were put") { home async throws in
            let texts = [
                "", "O'Neil; DROP TABLE circles", "Zoë 👩‍👩‍👧 \u{FEFF}", "a\r\n\tb", "$1 %_ ? :x", "e\u{301}", "\u{E9}",
                "\u{10FFFF}", String(repeating: "ß", count: 300_000),
            ]
            for text in texts {
                try await home.store.write { try $0.set("text", to: text) }
                let read = try #require(try await home.store.read { try $0.setting("text") })
                #expect(read.utf8.elementsEqual(text.utf8))
            }
        },
        StoreCheck("Text with a NUL is refused wherever it is given, and never cut at it") { home async throws in
            try await home.store.write { try $0.set("alice", to: "hers") }
            await #expect(throws: StorageError.unstorable) {
                try await home.store.read { try $0.setting("alice\u{0}x") }
            }
            await #expect(throws: StorageError.unstorable) {
                try await home.store.write { try $0.set("alice", to: "a\u{0}b") }
            }
            #expect(try await home.store.read { try $0.setting("alice") } == "hers")
        },
        StoreCheck("Numbers keep all 64 bits, and null is neither a number nor a text") { home async throws in
            let numbers = [Int.min, -1, 0, 1, 1 << 53 + 1, .max]
            try await home.store.write { transaction in
                try transaction.execute("CREATE TABLE trial (n BIGINT, t TEXT)", [])
                for number in numbers {
                    try transaction.execute("INSERT INTO trial VALUES ($1, $2)", [.integer(number), nil])
                }
            }
            let rows = try await home.store.read { try $0.rows("SELECT n, t FROM trial ORDER BY n", []) }
            #expect(rows.compactMap { $0.integer("n") } == numbers)
            #expect(rows.allSatisfy { $0.text("t") == nil && $0.integer("t") == nil && $0.text("n") == nil })
            let row = try #require(rows.first)
            #expect(throws: StorageError.self) { try row.text(required: "t") }
            #expect(throws: StorageError.self) { try row.integer(required: "unknown") }
        },
        StoreCheck("A parameter may be named twice and in any order") { home async throws in
            try await home.store.write { transaction in
                try transaction.set("a", to: "1")
                try transaction.set("b", to: "2")
            }
            let rows = try await home.store.read {
                try $0.rows(
                    """
                    SELECT name, value FROM settings
                    WHERE (name = $2 AND value = $1) OR (name = $3 AND value <> $1) ORDER BY name
                    """, ["1", "a", "b"])
            }
            #expect(rows.compactMap { $0.text("name") } == ["a", "b"])
        },
        StoreCheck("A statement takes a thousand parameters") { home async throws in
            let names = (0..<1000).map { "n\($0)" }
            try await home.store.write { transaction in
                for name in names { try transaction.set(name, to: "1") }
            }
            let parameters = (1...1000).map { "$\($0)" }.joined(separator: ", ")
            let rows = try await home.store.read {
                try $0.rows("SELECT name FROM settings WHERE name IN (\(parameters))", names.map { .text($0) })
            }
            #expect(rows.count == 1000)
        },
    ]

    static let ordering: [StoreCheck] = [
        StoreCheck("Text is ordered, compared and kept apart by its code points, whatever the language") {
            home async throws in
            let names = [
                "a", "b", "B", "Z", "z", "_", "~", "10", "9", "ä", "a\u{308}", "é", "e\u{301}", "ß", "ss", "ﬁ", "fi",
                "İ", "i",
                "İ".lowercased(), "\u{FFFD}", "\u{1F600}", "\u{E000}", "한", "a b", "a-b", "ab",
            ]
            // By scalars, which is by bytes in UTF-8; by UTF-16, U+1F600 would come before U+E000.
            let sorted = names.sorted {
                Array($0.unicodeScalars.map(\.value)).lexicographicallyPrecedes($1.unicodeScalars.map(\.value))
            }
            try await home.store.write { transaction in
                for name in names {
                    _ = try transaction.putCircle(Circle(id: name, name: name, timeZone: "UTC"), now: 1)
                }
            }
            let found = try await home.store.read { try $0.rows("SELECT id FROM circles ORDER BY id", []) }
                .compactMap { $0.text("id") }
            #expect(found.map { Array($0.utf8) } == sorted.map { Array($0.utf8) })
            // Page by page, as lists are read.
            var (paged, last) = ([String](), "")
            while true {
                let position = last
                let page = try await home.store.read {
                    try $0.rows("SELECT id FROM circles WHERE id > $1 ORDER BY id LIMIT 4", [.text(position)])
                }.compactMap { $0.text("id") }
                guard let end = page.last else { break }
                (paged, last) = (paged + page, end)
            }
            #expect(paged.map { Array($0.utf8) } == sorted.map { Array($0.utf8) })
            let bounds = try await home.store.read {
                try $0.rows("SELECT MIN(id) AS low, MAX(id) AS high FROM circles", [])
            }.first
            #expect(bounds?.text("low").map { Array($0.utf8) } == sorted.first.map { Array($0.utf8) })
            #expect(bounds?.text("high").map { Array($0.utf8) } == sorted.last.map { Array($0.utf8) })
        },
        StoreCheck("Two columns are compared as a pair, and null is not equal to anything") { home async throws in
            let rows = try await home.store.write { transaction in
                try transaction.execute("CREATE TABLE pairs (a TEXT NOT NULL, b TEXT)", [])
                for (a, b) in [("x", "1"), ("x", "2"), ("y", "0"), ("y", nil)] {
                    try transaction.execute("INSERT INTO pairs VALUES ($1, $2)", [.text(a), SQLValue(b)])
                }
                return (
                    try transaction.rows(
                        "SELECT a, b FROM pairs WHERE (a, b) > ($1, $2) AND b IS NOT NULL ORDER BY a, b", ["x", "1"]),
                    try transaction.rows("SELECT a FROM pairs WHERE b = $1 OR b <> $1", ["0"])
                )
            }
            #expect(rows.0.map { "\($0.text("a") ?? "")\($0.text("b") ?? "")" } == ["x2", "y0"])
            #expect(rows.1.count == 3)
        },
    ]
}
