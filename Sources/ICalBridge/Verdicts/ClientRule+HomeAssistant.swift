// SPDX-License-Identifier: Apache-2.0

extension ClientRule {
    /// Rules about Home Assistant, whose remote calendars python's ical reads: it refuses a whole file for one fault.
    static let homeAssistant: [ClientRule] = [
        ClientRule("not-a-calendar", [.homeAssistant], .refuses, "[code] remote_calendar") { facts in
            if facts.isCalendar { return nil }
            return facts.strict?.faults.isEmpty == true
                ? Sentence(.appFindsNothing, "finds no calendar in it")
                : Sentence(.appUnavailable, "cannot read it; a subscription becomes unavailable")
        },
        strict("line-unreadable", .line, .strictLine) {
            "rejects the whole file: line \(grouped: $0.line, .line) is not a property that it can read"
        },
        strict("end-elsewhere", .nesting, .strictEnd) {
            "rejects the whole file: the END of line \(grouped: $0.line, .line) does not end what began last"
        },
        strict("several-calendars", .calendar, .strictCalendars) {
            "rejects the whole file: it takes one calendar, and line \(grouped: $0.line, .line) begins another"
        },
        strict("repeated-property", .repeated, .strictRepeated) {
            "rejects the whole file: it takes one \($0.text, .name), and line \(grouped: $0.line, .line) has another"
        },
        strict("required-missing", .missing, .strictMissing) {
            "rejects the whole file: the \(ProblemLog.short($0.component), .component) of line \(grouped: $0.line, .line) has no \($0.text, .name)"
        },
        ClientRule("bad-value", [.homeAssistant], .refuses, "[code] ical 14") { facts in
            facts.fault(.value).map {
                Sentence(
                    .strictValue,
                    "rejects the whole file for one bad value: \(ProblemLog.short($0.text), .name) in line \(grouped: $0.line, .line)"
                )
            }
        },
        strict("zone-unknown", .zone, .strictZone) {
            "rejects the whole file: it does not know the zone \(ProblemLog.short($0.text), .zone) of line \(grouped: $0.line, .line)"
        },
        strict("zone-start-zoned", .zoneStart, .strictZoneStart) {
            "rejects the whole file: the DTSTART of line \(grouped: $0.line, .line), in a VTIMEZONE, is not in local time"
        },
        strict("zone-part-unusable", .zonePart, .strictZonePart) {
            "rejects the whole file: it cannot use the part of the zone \(ProblemLog.short($0.text), .zone) in line \(grouped: $0.line, .line)"
        },
        strict("times-unlike", .clocks, .strictTimes) {
            "rejects the whole file: the times of DTSTART and of the \($0.text, .name) in line \(grouped: $0.line, .line) do not go together"
        },
        strict("duration-unfit", .duration, .strictDuration) {
            "rejects the whole file: the DURATION of line \(grouped: $0.line, .line) does not go with the start or the end"
        },
        strict("periods-and-rule", .periods, .strictPeriods) {
            "rejects the whole file: the RDATE of line \(grouped: $0.line, .line) has periods in addition to an RRULE"
        },
        ClientRule("no-whole-calendar", [.homeAssistant], .refuses, "[code] ical 14") { facts in
            guard facts.isCalendar, let strict = facts.strict, strict.calendars == 0, strict.faults.isEmpty else {
                return nil
            }
            return Sentence(.strictNoCalendar, "shows nothing: no VCALENDAR has both its BEGIN and its END")
        },
    ]

    private static func strict(
        _ id: String, _ kind: StrictFault.Kind, _ code: Sentence.Code,
        _ text: @escaping @Sendable (StrictFault) -> Sentence.Text
    ) -> ClientRule {
        ClientRule(id, [.homeAssistant], .refuses, "[code] ical 14") { facts in
            facts.fault(kind).map { Sentence(code, text($0)) }
        }
    }
}

extension FileFacts {
    /// The first fault of a kind for which python's ical refuses the file; nil if it is not a calendar at all.
    fileprivate func fault(_ kind: StrictFault.Kind) -> StrictFault? { isCalendar ? strict?.faults[kind] : nil }
}
