// SPDX-License-Identifier: Apache-2.0

extension TimeZoneDefinition {
    /// Writes the rules as a VTIMEZONE (RFC 5545 section 3.6.5).
    func write(to writer: inout ContentLineWriter) {
        writer.line("BEGIN", "VTIMEZONE")
        writer.text("TZID", identifier.asTZID)
        writeObservances(to: &writer)
        writer.line("END", "VTIMEZONE")
    }

    /// Writes the STANDARD and DAYLIGHT parts of the VTIMEZONE.
    func writeObservances(to writer: inout ContentLineWriter) {
        for observance in observances {
            let part = observance.isDaylight ? "DAYLIGHT" : "STANDARD"
            writer.line("BEGIN", part)
            // In local time with the offset before the change, and without a TZID; otherwise Google shows no events.
            writer.line("DTSTART", observance.start.basic)
            if let rule = observance.rule { writer.line("RRULE", rule.description) }
            for addition in observance.additions { writer.line("RDATE", addition.basic) }
            writer.line("TZOFFSETFROM", Self.offset(observance.offsetFrom))
            writer.line("TZOFFSETTO", Self.offset(observance.offsetTo))
            if let name = observance.name { writer.text("TZNAME", name) }
            writer.line("END", part)
        }
    }

    /// Formats an offset as `+0530`: whole minutes, because Outlook refuses seconds.
    private static func offset(_ seconds: Int) -> String {
        let minutes = (abs(seconds) + 30) / 60
        return (seconds < 0 && minutes > 0 ? "-" : "+") + padded(minutes / 60, 2) + padded(minutes % 60, 2)
    }
}
