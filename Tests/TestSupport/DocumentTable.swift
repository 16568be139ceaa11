// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Compares a table in a document with the program's, or writes it there with `KALENDS_WRITE_DOCS=1`.
///
/// - Parameters:
///   - subject: the word in the comment that begins the table, and in the one that ends it.
///   - path: the document, from the package's root.
package func expectTable(_ subject: String, in path: String, _ lines: [String]) throws {
    let file = packageRoot.appending(path: path)
    let text = try String(contentsOf: file, encoding: .utf8)
    let begin = "<!-- \(subject): written by the tests with KALENDS_WRITE_DOCS=1 -->\n"
    let start = try #require(text.range(of: begin)).upperBound
    let stop = try #require(text.range(of: "<!-- end of \(subject) -->")).lowerBound
    let table = lines.joined(separator: "\n") + "\n"
    if ProcessInfo.processInfo.environment["KALENDS_WRITE_DOCS"] == "1" {
        try (text[..<start] + table + text[stop...]).write(to: file, atomically: true, encoding: .utf8)
    } else {
        #expect(text[start..<stop] == table)
    }
}
