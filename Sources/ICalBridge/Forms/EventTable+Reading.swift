// SPDX-License-Identifier: Apache-2.0

extension EventTable {
    /// The rows as iCalendar text; a cell whose meaning is not obvious is left to the calendar reader.
    static func iCalendarText(of table: CSVTable) throws(FormError) -> [UInt8] {
        let names = table.rows.first?.cells.map { trimmed($0).lowercased() } ?? []
        var columns: [Column: Int] = [:]
        for column in Column.allCases { columns[column] = names.firstIndex(of: column.rawValue.lowercased()) }
        guard columns[.start] != nil else {
            throw FormError(
                form: .csv, line: table.rows.first?.line, .tableWithoutStart,
                "The table has no header row with a column named start.")
        }
        var writer = ContentLineWriter(reserving: table.rows.count * 256, keepsHiddenCharacters: true)
        writer.line("BEGIN", "VCALENDAR")
        writer.line("VERSION", "2.0")
        for row in table.rows.dropFirst() { Reader(row: row, columns: columns).write(to: &writer) }
        writer.line("END", "VCALENDAR")
        return writer.bytes
    }

    private static func trimmed(_ cell: String) -> String {
        String(fromOutside: Array(cell.utf8)[...].trimmingSpaces)
    }

    /// Reads the component of one row.
    private struct Reader {
        let row: CSVTable.Row
        let columns: [Column: Int]

        /// The text of a cell; empty where there is no cell.
        private func text(_ column: Column) -> String {
            guard let index = columns[column], row.cells.indices.contains(index) else { return "" }
            return FormulaGuard.unguarded(row.cells[index])
        }

        private func word(_ column: Column) -> String { trimmed(text(column)) }

        /// The kind of component, for which there is no column: it follows from a special status or a missing start.
        private var kind: Event.Kind {
            switch word(.status).uppercased() {
            case "NEEDS-ACTION", "IN-PROCESS", "COMPLETED": .toDo
            case "DRAFT", "FINAL": .journal
            default: word(.start).isEmpty && !word(.end).isEmpty ? .toDo : .event
            }
        }

        func write(to writer: inout ContentLineWriter) {
            let kind = kind
            writer.line("BEGIN", kind.rawValue)
            for (name, column) in [
                ("UID", Column.uid), ("SUMMARY", .summary), ("DESCRIPTION", .description), ("LOCATION", .location),
            ] where !text(column).isEmpty {
                writer.text(name, text(column))
            }
            time("RECURRENCE-ID", word(.recurrenceId), isDate: false, to: &writer)
            time("DTSTART", word(.start), isDate: isAllDay, to: &writer)
            time(kind == .toDo ? "DUE" : "DTEND", word(.end), isDate: isAllDay, to: &writer)
            for (name, column) in [("STATUS", Column.status), ("SEQUENCE", .sequence)] where !word(column).isEmpty {
                writer.line(name, word(column))
            }
            if !word(.categories).isEmpty { writer.line("CATEGORIES", text(.categories)) }
            for line in word(.rrule).split(whereSeparator: \.isNewline) { recurrence(String(line), to: &writer) }
            time("LAST-MODIFIED", word(.lastModified), isDate: false, to: &writer)
            // DTSTAMP is required, and in a published calendar it is the same time as LAST-MODIFIED (RFC 5545 section
            // 3.8.7.2).
            time("DTSTAMP", word(.lastModified), isDate: false, to: &writer)
            writer.line("END", kind.rawValue)
        }

        private var isAllDay: Bool { ["TRUE", "YES", "1"].contains(word(.allDay).uppercased()) }

        private func time(_ name: String, _ cell: String, isDate: Bool, to writer: inout ContentLineWriter) {
            guard !cell.isEmpty else { return }
            var line = ContentLine(name: name, value: cell)
            if let written = try? WrittenTime(cell.utf8) {
                if let wall = written.time, !isDate {
                    line.value = value(of: wall, written.zone)
                    if !line.value.hasSuffix("Z") { line.parameters = zone }
                } else {
                    line.value = written.date.basic
                    line.parameters = [.init(name: "VALUE", values: ["DATE"])]
                }
            }
            writer.line(line)
        }

        private func value(of wall: CivilDateTime, _ zone: WrittenTime.Zone) -> String {
            switch zone {
            case .utc: wall.basic + "Z"
            case .offset(let seconds): wall.adding(seconds: -seconds).basic + "Z"
            case .none: wall.basic
            }
        }

        private var zone: [ContentLine.Parameter] {
            let name = word(.timeZone)
            return name.isEmpty ? [] : [.init(name: "TZID", values: [name])]
        }

        /// Writes a rule, or `EXDATE:` and `RDATE:` with values on the row's clock.
        private func recurrence(_ line: String, to writer: inout ContentLineWriter) {
            let sides = line.split(separator: ":", maxSplits: 1).map(String.init)
            let name = trimmed(sides[0]).uppercased()
            guard sides.count == 2, ["EXDATE", "RDATE", "EXRULE", "RRULE"].contains(name) else {
                writer.line("RRULE", line)
                return
            }
            guard name.hasSuffix("DATE") else {
                writer.line(name, sides[1])
                return
            }
            for value in sides[1].split(separator: ",").map({ trimmed(String($0)) }) {
                let start = value.prefix { !$0.is("/") }
                var line = ContentLine(name: name, value: value)
                if CivilDate(basic: start) != nil {
                    line.parameters = [.init(name: "VALUE", values: ["DATE"])]
                } else {
                    if value != start { line.parameters = [.init(name: "VALUE", values: ["PERIOD"])] }
                    if !start.hasSuffix("Z") { line.parameters += zone }
                }
                writer.line(line)
            }
        }
    }
}
