// SPDX-License-Identifier: Apache-2.0

extension ClientRule {
    /// Rules about Home Assistant, whose remote calendars python's ical reads: it refuses a whole file for one fault.
    static let homeAssistant: [ClientRule] = [
        ClientRule("not-a-calendar", [.homeAssistant], .refuses, "[code] remote_calendar") { facts in
            if facts.isCalendar { return nil }
            return facts.strict?.faults.isEmpty == true
                ? "finds no calendar in it" : "cannot read it; a subscription becomes unavailable"
        },
        strict("line-unreadable", .line) { "line \($0.line.grouped) is not a property that it can read" },
        strict("end-elsewhere", .nesting) { "the END of line \($0.line.grouped) does not end what began last" },
        strict("several-calendars", .calendar) { "it takes one calendar, and line \($0.line.grouped) begins another" },
        strict("repeated-property", .repeated) { "it takes one \($0.text), and line \($0.line.grouped) has another" },
        strict("required-missing", .missing) {
            "the \(ProblemLog.short($0.component)) of line \($0.line.grouped) has no \($0.text)"
        },
        ClientRule("bad-value", [.homeAssistant], .refuses, "[code] ical 14") { facts in
            facts.fault(.value).map {
                "rejects the whole file for one bad value: \(ProblemLog.short($0.text)) in line \($0.line.grouped)"
            }
        },
        strict("zone-unknown", .zone) {
            "it does not know the zone \(ProblemLog.short($0.text)) of line \($0.line.grouped)"
        },
        strict("zone-start-zoned", .zoneStart) {
            "the DTSTART of line \($0.line.grouped), in a VTIMEZONE, is not in local time"
        },
        strict("zone-part-unusable", .zonePart) {
            "it cannot use the part of the zone \(ProblemLog.short($0.text)) in line \($0.line.grouped)"
        },
        strict("times-unlike", .clocks) {
            "the times of DTSTART and of the \($0.text) in line \($0.line.grouped) do not go together"
        },
        strict("duration-unfit", .duration) {
            "the DURATION of line \($0.line.grouped) does not go with the start or the end"
        },
        strict("periods-and-rule", .periods) { "the RDATE of line \($0.line.grouped) has periods beside an RRULE" },
        ClientRule("no-whole-calendar", [.homeAssistant], .refuses, "[code] ical 14") { facts in
            guard facts.isCalendar, let strict = facts.strict, strict.calendars == 0, strict.faults.isEmpty else {
                return nil
            }
            return "shows nothing: no VCALENDAR has both its BEGIN and its END"
        },
    ]

    private static func strict(
        _ id: String, _ kind: StrictFault.Kind, _ cause: @escaping @Sendable (StrictFault) -> String
    ) -> ClientRule {
        ClientRule(id, [.homeAssistant], .refuses, "[code] ical 14") { facts in
            facts.fault(kind).map { "rejects the whole file: \(cause($0))" }
        }
    }
}

extension FileFacts {
    /// The first fault of a kind for which python's ical refuses the file; nil if it is no calendar at all.
    fileprivate func fault(_ kind: StrictFault.Kind) -> StrictFault? { isCalendar ? strict?.faults[kind] : nil }
}
