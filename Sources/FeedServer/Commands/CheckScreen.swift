// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore

extension CheckResult {
    /// The report for the screen: the format, the program that wrote it, the contents, the verdicts of apps, then the
    /// problems.
    func screen(showsAll: Bool) -> [String] {
        var lines = ["\(printable(file)): \(reading.format.title), \(bytes.count.grouped) bytes"]
        if let refusal = reading.refusal { lines.append("  cannot be read: \(printable(refusal))") }
        for calendar in reading.calendars { lines += Self.summary(calendar) }
        for zone in reading.timeZones { lines.append("  time zone   \(Self.summary(zone))") }
        if reading.skipped > 0 { lines.append("  lost        \(reading.skipped.grouped) that could not be read") }
        lines += verdictLines
        if reading.problems.isEmpty {
            if reading.refusal == nil { lines += ["", "  no problems"] }
            return lines
        }
        lines.append("")
        // The lines of a format that was converted to iCalendar are not those of the file.
        let isOwnText = reading.refusal != nil || reading.format.isOwnText
        var source = FileLines(isOwnText ? bytes : [])
        for entry in CheckProblems.entries(reading.problems, showsAll: showsAll) {
            switch entry {
            case .problem(let problem): lines += CheckArrow.lines(for: problem, in: &source)
            case .more(let count, let code, let from, let to):
                let place =
                    to.map { $0 == from ? "line \(from.grouped)" : "lines \(from.grouped) to \($0.grouped)" }
                    ?? "from line \(from.grouped) on"
                lines.append("  … and \(count.grouped) more of this kind, \(place) [\(code.rawValue)]")
            }
        }
        lines += ["", "  \(CheckProblems.totals(reading.problems))"]
        return lines
    }

    private static func summary(_ calendar: ICalendar) -> [String] {
        var lines: [String] = []
        if let name = calendar.name { lines.append("  name        \(printable(name))") }
        if let product = calendar.productID { lines.append("  written by  \(printable(product))") }
        if let method = calendar.method { lines.append("  method      \(printable(method))") }
        let kinds = Dictionary(grouping: calendar.events, by: \.kind).mapValues(\.count)
        let counts = kinds.sorted { $0.key.rawValue < $1.key.rawValue }
            .map { "\($0.value.grouped) \($0.key.rawValue)" }
        let series = calendar.events.count { !$0.recurrence.rules.isEmpty }
        lines.append(
            "  holds       " + (counts.isEmpty ? "nothing" : counts.joined(separator: ", "))
                + (series > 0 ? ", \(series.grouped) of them repeating" : ""))
        let leftOut = calendar.leftOutOfImports.map { "\($0.count.grouped) \(printable($0.property))" }
        if !leftOut.isEmpty {
            lines.append("  left out    \(leftOut.joined(separator: ", ")), unless an import keeps people and files")
        }
        let days = calendar.events.compactMap { $0.start?.civilDate }
        if let first = days.min(), let last = days.max() { lines.append("  starts      \(first) to \(last)") }
        return lines
    }

    private static func summary(_ zone: TimeZoneResolution) -> String {
        let target = zone.resolvedTo.map { $0 == zone.tzid ? "known" : "read as \(printable($0))" }
        return "\(printable(zone.tzid)): \(target ?? "left without a zone") (\(zone.how.rawValue))"
    }

    /// One line for each app, with its further reasons below.
    private var verdictLines: [String] {
        guard !found.clients.isEmpty else {
            return ["", "  in calendar apps: how they handle this format is not known"]
        }
        let isText = reading.format.isOwnText || reading.refusal != nil
        var lines = ["", "  in calendar apps, as far as is known\(isText ? "" : ", once it is written as .ics")"]
        for verdict in found.clients {
            let name = "    " + verdict.client.title.padded(to: 17)
            guard !verdict.reasons.isEmpty else {
                // For most faults it is not known what the app does, so the absence of a reason promises nothing.
                lines.append(name + (found.hasFaults ? "no trouble known" : "takes it"))
                continue
            }
            var head = name + "\(verdict.outcome.title):".padded(to: 10)
            for reason in verdict.reasons {
                for line in Self.wrapped(printable(reason.message)) {
                    lines.append(head + line)
                    head = "".padded(to: 31)
                }
            }
        }
        return lines
    }

    /// Lines of up to 88 characters; continuation lines are indented.
    private static func wrapped(_ sentence: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in sentence.split(separator: " ") {
            if line.count + word.count >= 88, !line.isEmpty {
                lines.append(line)
                line = " "
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return lines + [line]
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

extension ClientVerdict.Outcome {
    fileprivate var title: String {
        switch self {
        case .takes: "takes it"
        case .partly: "partly"
        case .refuses: "refuses"
        }
    }
}

extension SourceFormat {
    /// The format's name for people.
    fileprivate var title: String {
        switch self {
        case .calendar: "a calendar"
        case .calendars: "several calendars"
        case .components: "calendar components without a calendar around them"
        case .vCalendar1: "a vCalendar 1.0 of 1996"
        case .jCal: "a calendar as JSON (jCal); lines are those of its iCalendar form"
        case .xml: "XML"
        case .csv: "a table (CSV); lines are those of its iCalendar form"
        case .json: "JSON"
        case .html: "a web page"
        case .contacts: "an address book"
        case .empty: "empty"
        case .binary: "no text"
        case .text: "a text"
        }
    }
}
