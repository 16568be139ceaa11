// SPDX-License-Identifier: Apache-2.0

extension CalendarReader {
    /// Reads a calendar in whichever form it is: iCalendar, jCal (RFC 7265), xCal (RFC 6321), or a CSV with a start.
    ///
    /// The lines of a reading from another form are those of the calendar written as iCalendar; a line that stops the
    /// conversion is the file's own.
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
            refused.refusal = "This \(form.name) cannot be read. \(error)"
            if let line = error.line {
                refused.problems.insert(
                    Problem(line: line, severity: .error, code: "form", message: error.message), at: 0)
            }
            return refused
        }
    }
}

extension CalendarForm {
    /// The form of bytes that are no iCalendar; nil when they are no calendar at all.
    fileprivate init?(of bytes: [UInt8], classified format: SourceFormat) {
        let head = String(decoding: bytes.prefix(4096), as: UTF8.self).lowercased()
        switch format {
        case .jCal: self = .jCal
        case .xml, .html:
            guard head.contains("urn:ietf:params:xml:ns:icalendar-2.0") else { return nil }
            self = .xCal
        case .text:
            // A column of starts is what makes a table a calendar.
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
}
