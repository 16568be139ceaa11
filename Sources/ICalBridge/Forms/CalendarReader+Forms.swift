// SPDX-License-Identifier: Apache-2.0

extension CalendarReader {
    /// Reads a calendar in any of these forms: iCalendar, jCal (RFC 7265), xCal (RFC 6321), or a CSV with a column of
    /// starts.
    ///
    /// In a reading from another form, line numbers refer to the calendar as it would be written in iCalendar, but a
    /// line at which the conversion stopped refers to the file itself.
    public func read(anyForm bytes: [UInt8]) -> CalendarReading {
        let reading = read(bytes)
        guard reading.refusal != nil, let form = CalendarForm(of: bytes, classified: reading.format) else {
            return reading
        }
        do {
            let text =
                switch form {
                case .jCal: try Self.iCalendarText(fromJCal: bytes, limit: options.limits.bytes)
                case .xCal: try Self.iCalendarText(fromXCal: bytes, limit: options.limits.bytes)
                case .csv, .iCalendar: try Self.iCalendarText(fromCSV: bytes, limit: options.limits.bytes)
                }
            var converted = read(text)
            converted.format = form.source
            return converted
        } catch {
            var refused = reading
            refused.format = form.source
            refused.refusalSentence = Sentence(
                form.unreadable, "This \(english: form.name) cannot be read. \(error.located, .sentence)")
            if let line = error.line {
                refused.problems.insert(
                    Problem(line: line, severity: .error, code: "form", sentence: error.sentence), at: 0)
            }
            return refused
        }
    }
}

extension CalendarForm {
    /// The form of bytes that are not iCalendar; nil when they are not a calendar.
    fileprivate init?(of bytes: [UInt8], classified format: SourceFormat) {
        let head = String(fromOutside: bytes.prefix(4096)).lowercased()
        switch format {
        case .jCal: self = .jCal
        case .xml, .html:
            guard head.contains("urn:ietf:params:xml:ns:icalendar-2.0") else { return nil }
            self = .xCal
        case .text:
            // A table is a calendar only if it has a column of starts.
            let titles = head.prefix { !$0.isNewline }.split { ",;\t".contains($0) }
            guard titles.count > 1, titles.contains(where: { $0.filter { !"\"\u{FEFF}".contains($0) } == "start" })
            else { return nil }
            self = .csv
        default: return nil
        }
    }

    fileprivate var source: SourceFormat {
        switch self {
        case .iCalendar: .calendar
        case .jCal: .jCal
        case .xCal: .xml
        case .csv: .csv
        }
    }

    fileprivate var name: String {
        switch self {
        case .iCalendar: "iCalendar"
        case .jCal: "calendar as JSON (jCal)"
        case .xCal: "calendar as XML (xCal)"
        case .csv: "calendar as a table (CSV)"
        }
    }

    fileprivate var unreadable: Sentence.Code {
        switch self {
        case .iCalendar: .calendarUnreadable
        case .jCal: .jCalUnreadable
        case .xCal: .xCalUnreadable
        case .csv: .tableUnreadable
        }
    }
}
