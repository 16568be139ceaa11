// SPDX-License-Identifier: Apache-2.0

/// Rows of cells in the format of RFC 4180.
struct CSVTable {
    struct Row {
        /// The line of the file on which the row begins, from 1.
        var line: Int
        var cells: [String]
    }

    var rows: [Row]

    /// Reads rows that end in CRLF, LF or CR; a byte order mark and empty rows are skipped.
    ///
    /// The separator is the one that occurs most often in the first row: spreadsheets in countries with a decimal comma
    /// write semicolons.
    init(_ bytes: [UInt8]) throws(FormError) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw FormError(form: .csv, .tableNotUTF8, "The table is not UTF-8.")
        }
        rows = []
        var index = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let header = bytes[index...].prefix { $0 != 10 && $0 != 13 }
        let counts = [UInt8(44), 59, 9].map { separator in (separator, header.count { $0 == separator }) }
        let separator = counts.max { $0.1 < $1.1 }?.0 ?? 44
        var (line, row, cell) = (1, Row(line: 1, cells: []), [UInt8]())
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 34, cell.isEmpty {
                let start = line
                guard Self.quoted(bytes, &index, &cell, &line) else {
                    throw FormError(form: .csv, line: start, .tableCellOpen, "A cell's closing quote is missing.")
                }
                continue
            }
            index += 1
            if byte == separator {
                row.cells.append(String(fromOutside: cell))
                cell = []
            } else if byte == 10 || byte == 13 {
                if byte == 13, index < bytes.count, bytes[index] == 10 { index += 1 }
                line += 1
                row.cells.append(String(fromOutside: cell))
                if row.cells != [""] { rows.append(row) }
                row = Row(line: line, cells: [])
                cell = []
            } else {
                cell.append(byte)
            }
        }
        row.cells.append(String(fromOutside: cell))
        if row.cells != [""] { rows.append(row) }
    }

    /// Reads a cell in quotes; false when the closing quote is missing.
    private static func quoted(_ bytes: [UInt8], _ index: inout Int, _ cell: inout [UInt8], _ line: inout Int) -> Bool {
        index += 1
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == 34 {
                guard index < bytes.count, bytes[index] == 34 else { return true }
                index += 1
            }
            if byte == 10 { line += 1 }
            cell.append(byte)
        }
        return false
    }

    /// Writes a row; a cell is quoted only where RFC 4180 section 2 requires it, or another separator of spreadsheets
    /// occurs.
    static func write(_ cells: [String], to out: inout [UInt8]) {
        for (index, cell) in cells.enumerated() {
            if index > 0 { out.append(44) }
            let text = FormulaGuard.guarded(cell).utf8
            if text.contains(where: { [34, 44, 59, 9, 10, 13].contains($0) }) || text.first == 32 || text.last == 32 {
                out.append(34)
                for byte in text { out += byte == 34 ? [34, 34] : [byte] }
                out.append(34)
            } else {
                out += text
            }
        }
        out += [13, 10]
    }
}

/// Keeps a spreadsheet from running a cell as a formula, in a way that can be undone.
///
/// An apostrophe is put before a cell that begins with `=`, `+`, `-`, `@`, a tab or a line break, even after
/// apostrophes: so `'s-Hertogenbosch` stays as it is, and `'=1` becomes `''=1` and is read back as `'=1`.
enum FormulaGuard {
    static func guarded(_ cell: String) -> String { isRisky(cell.utf8.drop { $0 == 39 }) ? "'" + cell : cell }

    static func unguarded(_ cell: String) -> String {
        cell.utf8.first == 39 && isRisky(cell.utf8.drop { $0 == 39 })
            ? String(fromOutside: cell.utf8.dropFirst()) : cell
    }

    private static func isRisky(_ rest: Substring.UTF8View) -> Bool {
        switch rest.first {
        case 61, 43, 45, 64, 9, 10, 13: true
        // The full-width forms of the four signs, which some spreadsheets treat as the signs themselves.
        case 0xEF: ["\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}"].contains { rest.starts(with: $0.utf8) }
        default: false
        }
    }
}
