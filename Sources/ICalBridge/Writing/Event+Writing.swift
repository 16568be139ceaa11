// SPDX-License-Identifier: Apache-2.0

extension Event {
    /// Writes the component as strict iCalendar, with its properties in a fixed order.
    func write(to writer: inout ContentLineWriter) {
        writer.line("BEGIN", kind.rawValue)
        writer.identifier("UID", uid)
        // DTSTAMP is required; without one, the last known change is used, never the clock (section 3.8.7.2).
        let stamp = timestamp ?? lastModified ?? created ?? Instant(seconds: 0)
        writer.line("DTSTAMP", stamp)
        if let recurrenceID {
            writer.time("RECURRENCE-ID", recurrenceID, parameters: appliesToFuture ? ";RANGE=THISANDFUTURE" : "")
        }
        if let start { writer.time("DTSTART", start) }
        switch end {
        case .time(let time): writer.time(kind == .toDo ? "DUE" : "DTEND", time)
        case .duration(let duration): writer.line("DURATION", duration.description)
        case nil: break
        }
        if let summary { writer.text("SUMMARY", summary, parameters: textParameters?["SUMMARY"] ?? []) }
        if let description { writer.text("DESCRIPTION", description, parameters: textParameters?["DESCRIPTION"] ?? []) }
        if let location { writer.text("LOCATION", location, parameters: textParameters?["LOCATION"] ?? []) }
        if let status { writer.line("STATUS", status) }
        if let isTransparent { writer.line("TRANSP", isTransparent ? "TRANSPARENT" : "OPAQUE") }
        if let classification { writer.line("CLASS", classification) }
        if !categories.isEmpty { writer.textList("CATEGORIES", categories) }
        if let url { writer.line("URL", url) }
        writer.line("SEQUENCE", String(sequence))
        if let created { writer.line("CREATED", created) }
        if let lastModified { writer.line("LAST-MODIFIED", lastModified) }
        recurrence.write(startingAt: start, to: &writer)
        for line in otherProperties { writer.line(line) }
        for alarm in alarms { alarm.write(in: self, to: &writer) }
        writer.line("END", kind.rawValue)
    }
}

extension RecurrenceRule {
    /// A rule for the start by itself.
    static let once = {
        var rule = RecurrenceRule(.daily)
        rule.count = 1
        return rule
    }()
}

extension Recurrence {
    fileprivate func write(startingAt start: EventTime?, to writer: inout ContentLineWriter) {
        for rule in rules { writer.line("RRULE", rule.description) }
        // Office 365 shows nothing but the start of a series that has dates only. Home Assistant refuses a file that has
        // periods in addition to a rule. ical.js gives a start twice that such a rule gives and a date, too.
        let isDates = rules.isEmpty && additions.allSatisfy { $0.end == nil }
        let listed = isDates ? additions.filter { $0.start != start } : additions
        if isDates, !listed.isEmpty { writer.line("RRULE", RecurrenceRule.once.description) }
        for addition in listed {
            switch addition.end {
            case nil: writer.time("RDATE", addition.start)
            case .time(let end): writer.period("RDATE", addition.start, to: end.basicValue)
            case .duration(let duration): writer.period("RDATE", addition.start, to: duration.description)
            }
        }
        for exclusion in exclusions { writer.time("EXDATE", exclusion) }
        for rule in exclusionRules { writer.line("EXRULE", rule.description) }
    }
}

extension Alarm {
    fileprivate func write(in event: Event, to writer: inout ContentLineWriter) {
        writer.line("BEGIN", "VALARM")
        writer.line("ACTION", action)
        switch trigger {
        case .relativeToStart(let duration): writer.line("TRIGGER", duration.description)
        case .relativeToEnd(let duration): writer.line("TRIGGER;RELATED=END", duration.description)
        case .absolute(let instant): writer.line("TRIGGER;VALUE=DATE-TIME", instant.basic)
        }
        if let text = text(for: event.summary) { writer.text("DESCRIPTION", text) }
        for line in otherProperties { writer.line(line) }
        writer.line("END", "VALARM")
    }
}

extension EventTime {
    /// The value without its zone, in the basic format.
    var basicValue: String {
        switch self {
        case .date(let date): date.basic
        case .floating(let wall), .zoned(let wall, _): wall.basic
        case .utc(let instant): instant.basic
        }
    }

    var tzidParameter: String {
        guard let zone else { return "" }
        let identifier = zone.writtenIdentifier
        return identifier.utf8.contains { $0 == 58 || $0 == 59 || $0 == 44 }
            ? ";TZID=\"\(identifier)\"" : ";TZID=\(identifier)"
    }
}

extension String {
    /// The text without characters that a parameter value cannot hold, so that TZID is the same in both places.
    var asTZID: String {
        // Nearly every name is ASCII without any of these.
        guard utf8.contains(where: { $0 == 34 || $0 < 32 || $0 > 126 }) else { return self }
        return contains { $0.is("\"") || $0.isNewline } ? filter { !$0.is("\"") && !$0.isNewline } : self
    }
}

extension ContentLineWriter {
    fileprivate mutating func period(_ name: String, _ start: EventTime, to end: String) {
        line(name + ";VALUE=PERIOD" + start.tzidParameter, start.basicValue + "/" + end)
    }
}
