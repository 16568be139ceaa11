// SPDX-License-Identifier: Apache-2.0

import KalendsCore

/// A table for a terminal: headings, and columns as wide as their longest cell.
struct TextTable {
    private enum Line {
        case row([String])
        /// An indented note on the previous row.
        case note(String)
    }

    private let headings: [String]
    private var content: [Line] = []

    init(_ headings: [String]) { self.headings = headings }

    /// - Parameter cells: one cell for each heading; they are made printable, so that no text can move the cursor.
    mutating func add(_ cells: [String]) {
        content.append(.row(cells.map { $0.isEmpty ? "-" : printable($0) }))
    }

    /// Adds a note on the row that was added last.
    mutating func note(_ text: String) { content.append(.note(printable(text))) }

    /// Formats `2026-01-21T17:00:00Z` as `2026-01-21 17:00 UTC`.
    static func time(_ text: String) -> String {
        guard text.hasSuffix("Z"), text.utf8.count == 20 else { return text }
        return text.prefix(16).replacing("T", with: " ") + " UTC"
    }

    var isEmpty: Bool { content.isEmpty }

    var lines: [String] {
        var widths = headings.map(\.count)
        for case .row(let cells) in content {
            for (column, cell) in cells.enumerated() { widths[column] = max(widths[column], cell.count) }
        }
        func line(_ cells: [String]) -> String {
            var text = ""
            for (column, cell) in cells.enumerated() {
                text += cell
                // The last column needs no padding.
                if column < cells.count - 1 { text += String(repeating: " ", count: widths[column] - cell.count + 2) }
            }
            return text
        }
        return [line(headings)]
            + content.map { one in
                switch one {
                case .row(let cells): line(cells)
                case .note(let text): "    " + text
                }
            }
    }
}
