// SPDX-License-Identifier: Apache-2.0

extension TimeZoneDefinition {
    /// The contents of a file's VTIMEZONE, with the names besides its TZID that show which zone is meant.
    struct Read {
        var definition: TimeZoneDefinition
        /// X-LIC-LOCATION, or the zone name that other apps add.
        var location: String?
        var line: Int
    }

    private static let observanceLimit = 400
    private static let additionLimit = 500
    /// The maximum number of parts with a rule: each takes time whenever an offset is asked for, and no real zone has as many.
    private static let ruleLimit = 60

    /// Reads a VTIMEZONE without libical, which would expand its rules without a limit.
    static func read(_ raw: RawComponent, in bytes: [UInt8], log: inout ProblemLog) -> Read? {
        let line = raw.span.lowerBound
        var identifier: String?
        var location: String?
        for property in raw.lines.compactMap({ Property(bytes, $0) }) {
            switch property.name {
            case "TZID" where identifier == nil: identifier = TextValue.decoded(property.value.trimmingSpaces)
            case "X-LIC-LOCATION", "X-TZINFO", "TZID-ALIAS-OF":
                if location == nil { location = TextValue.decoded(property.value.trimmingSpaces.prefix { $0 != 91 }) }
            default: break
            }
        }
        guard let identifier, !identifier.isEmpty else {
            log.add(
                .warning, "zone-without-name", line: line, .zoneWithoutName, "A VTIMEZONE without TZID was left out.")
            return nil
        }
        var observances: [Observance] = []
        var lacking: [Int] = []
        var rules = 0
        for child in raw.children.prefix(observanceLimit) where child.name == "STANDARD" || child.name == "DAYLIGHT" {
            let (parts, hasFrom) = Self.parts(of: child, in: bytes, log: &log)
            for observance in parts {
                if observance.rule != nil {
                    rules += 1
                    guard rules <= ruleLimit else {
                        log.add(
                            .warning, "zone-rule-refused", line: child.span.lowerBound, text: identifier,
                            .zoneTooManyRules, "The VTIMEZONE has more rules than are followed; this part was left out."
                        )
                        continue
                    }
                }
                if !hasFrom { lacking.append(observances.count) }
                observances.append(observance)
            }
        }
        // Without TZOFFSETFROM (Outlook for Mac), the offset before is the offset to which the other part changes.
        for index in lacking {
            let other = observances.first { $0.isDaylight != observances[index].isDaylight }
            observances[index].offsetFrom = other?.offsetTo ?? observances[index].offsetTo
        }
        guard !observances.isEmpty else {
            log.add(
                .warning, "zone-without-rules", line: line, text: identifier, .zoneWithoutParts,
                "A VTIMEZONE without a readable part was left out.")
            return nil
        }
        return Read(
            definition: TimeZoneDefinition(identifier: identifier, observances: observances), location: location,
            line: line)
    }

    /// A part, which is as many as it has rules.
    private static func parts(
        of raw: RawComponent, in bytes: [UInt8], log: inout ProblemLog
    ) -> ([Observance], hasFrom: Bool) {
        var start: CivilDateTime?
        var from: Int?
        var to: Int?
        var name: String?
        var rules: [Property] = []
        var additions: [CivilDateTime] = []
        var isCut = false
        for property in raw.lines.lazy.compactMap({ Property(bytes, $0) }) {
            switch property.name {
            case "DTSTART": start = start ?? wall(property.value, of: property, log: &log)
            case "TZOFFSETFROM": from = from ?? offset(property.trimmed)
            case "TZOFFSETTO": to = to ?? offset(property.trimmed)
            case "TZNAME": name = name ?? TextValue.decoded(property.value.trimmingSpaces)
            case "RDATE":
                for part in property.value.split(separator: 44) {
                    guard additions.count < additionLimit else {
                        isCut = true
                        break
                    }
                    // A change of the clock has no length: of a period its start counts.
                    if let wall = wall(part.prefix { $0 != 47 }, of: property, log: &log) { additions.append(wall) }
                }
            case "RRULE" where !property.isEmpty && rules.count <= ruleLimit: rules.append(property)
            default: break
            }
        }
        guard let to else {
            log.add(
                .warning, "zone-part-unreadable", line: raw.span.lowerBound, .zonePartUnreadable,
                "A part of a VTIMEZONE has no readable TZOFFSETTO and was left out.")
            return ([], hasFrom: false)
        }
        if start == nil {
            log.add(
                .warning, "zone-onset-unreadable", line: raw.span.lowerBound, .zoneStartMissing,
                "A part of a VTIMEZONE has no readable DTSTART; it was read as beginning in 1970.")
        }
        if isCut {
            log.add(
                .warning, "zone-rule-refused", line: raw.span.lowerBound, .zoneTooManyOnsets,
                "A part of a VTIMEZONE has more RDATEs than are followed; the others were left out.")
        }
        var part = Observance(
            isDaylight: raw.name == "DAYLIGHT", start: start ?? CivilDateTime(startOf: CivilDate(daysSinceEpoch: 0)),
            offsetFrom: from ?? to, offsetTo: to, name: name, additions: additions)
        var parts: [Observance] = []
        for property in rules {
            guard let rule = yearlyRule(property, from: part.start, log: &log) else { continue }
            part.rule = rule
            parts.append(part)
            part.additions = []
        }
        return (parts.isEmpty ? [part] : parts, from != nil)
    }

    /// The maximum number of clock changes that one rule makes in a year.
    private static let mostOnsets = 12

    /// Accepts only yearly rules with few changes; one with FREQ=SECONDLY could keep a reader busy.
    private static func yearlyRule(
        _ property: Property, from start: CivilDateTime, log: inout ProblemLog
    ) -> RecurrenceRule? {
        let text = RuleRepair.withoutEmptyParts(property.trimmed)
        if RuleRepair.values(of: "FREQ", in: text).allSatisfy({ $0.uppercased() == "YEARLY" }),
            let rule = try? RuleRepair.rule(text, from: .floating(start), property, &log), rule.frequency == .yearly,
            rule.onsetCount(like: start) <= mostOnsets
        {
            if rule.hasMore(thanDaysFrom: start) {
                log.add(
                    .warning, "zone-rule-refused", line: property.line, text: property.text, .zoneRuleParts,
                    "Weeks and times of the day in a rule of a VTIMEZONE are not followed; they were left out.")
            }
            return rule
        }
        log.add(
            .warning, "zone-rule-refused", line: property.line, text: property.text, .zoneRuleNotYearly,
            "This rule of a VTIMEZONE is not a yearly one that can be followed; it was left out.")
        return nil
    }

    /// An onset, which is on the zone's own clock whatever else it says; nil, with the problem in the log, when it cannot
    /// be read.
    private static func wall(
        _ bytes: ArraySlice<UInt8>, of property: Property, log: inout ProblemLog
    ) -> CivilDateTime? {
        guard let written = try? WrittenTime(bytes) else {
            log.add(
                .warning, "zone-onset-unreadable", line: property.line, text: property.text, .zoneOnsetUnreadable,
                "\(property.name, .name) of a VTIMEZONE cannot be read as a time and was left out.")
            return nil
        }
        if written.zone != .none {
            log.add(
                .warning, "zone-onset-unreadable", line: property.line, text: property.text, .zoneOnsetClock,
                "\(property.name, .name) of a VTIMEZONE has to be on the zone's own clock and was read as if it were.")
        }
        return written.time ?? CivilDateTime(startOf: written.date)
    }

    /// Reads `+0100` or `-045602`, also without the sign or with a colon.
    private static func offset(_ text: String) -> Int? {
        var bytes = Array(text.utf8.filter { $0 != 58 })[...]
        let negative = bytes.first == 45
        if negative || bytes.first == 43 { bytes = bytes.dropFirst() }
        if bytes.count == 3 { bytes = [48] + bytes }
        if bytes.count == 2 { bytes += [48, 48] }
        guard bytes.count == 4 || bytes.count == 6, let hours = digits(bytes.prefix(2)),
            let minutes = digits(bytes.dropFirst(2).prefix(2)), let seconds = digits(bytes.dropFirst(4)),
            hours <= 23, minutes <= 59, seconds <= 59
        else { return nil }
        let total = hours * 3600 + minutes * 60 + seconds
        return negative ? -total : total
    }
}
