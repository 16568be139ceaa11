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
    /// The most parts with a rule: each takes time whenever an offset is asked for, and no real zone has as many.
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
            if let (observance, hasFrom) = observance(child, in: bytes, log: &log) {
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

    private static func observance(
        _ raw: RawComponent, in bytes: [UInt8], log: inout ProblemLog
    ) -> (Observance, hasFrom: Bool)? {
        var start: CivilDateTime?
        var from: Int?
        var to: Int?
        var name: String?
        var rule: RecurrenceRule?
        var additions: [CivilDateTime] = []
        for property in raw.lines.prefix(additionLimit).compactMap({ Property(bytes, $0) }) {
            switch property.name {
            case "DTSTART": start = start ?? wall(property.value)
            case "TZOFFSETFROM": from = from ?? offset(property.trimmed)
            case "TZOFFSETTO": to = to ?? offset(property.trimmed)
            case "TZNAME": name = name ?? TextValue.decoded(property.value.trimmingSpaces)
            case "RDATE":
                for part in property.value.split(separator: 44) where additions.count < additionLimit {
                    if let wall = wall(part) { additions.append(wall) }
                }
            case "RRULE" where !property.isEmpty:
                rule = yearlyRule(property, log: &log) ?? rule
            default: break
            }
        }
        guard let to else {
            log.add(
                .warning, "zone-part-unreadable", line: raw.span.lowerBound, .zonePartUnreadable,
                "A part of a VTIMEZONE has no readable TZOFFSETTO and was left out.")
            return nil
        }
        let epoch = CivilDateTime(startOf: CivilDate(daysSinceEpoch: 0))
        if let rule, rule.hasMore(thanDaysFrom: start ?? epoch) {
            log.add(
                .warning, "zone-rule-refused", line: raw.span.lowerBound, text: rule.description, .zoneRuleParts,
                "Weeks and times of the day in a rule of a VTIMEZONE are not followed; they were left out.")
        }
        return (
            Observance(
                isDaylight: raw.name == "DAYLIGHT", start: start ?? epoch, offsetFrom: from ?? to, offsetTo: to,
                name: name, rule: rule, additions: additions),
            from != nil
        )
    }

    /// Accepts only yearly rules; one with FREQ=SECONDLY could keep a reader busy.
    private static func yearlyRule(_ property: Property, log: inout ProblemLog) -> RecurrenceRule? {
        let text = RuleRepair.withoutEmptyParts(property.trimmed)
        let rule = (try? RecurrenceRule(text)) ?? (try? RecurrenceRule(RuleRepair.without("COUNT", in: text)))
        if let rule, rule.frequency == .yearly { return rule }
        log.add(
            .warning, "zone-rule-refused", line: property.line, text: property.text, .zoneRuleNotYearly,
            "This rule of a VTIMEZONE is not a yearly one that can be followed; it was left out.")
        return nil
    }

    private static func wall(_ bytes: ArraySlice<UInt8>) -> CivilDateTime? {
        guard let written = try? WrittenTime(bytes) else { return nil }
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
