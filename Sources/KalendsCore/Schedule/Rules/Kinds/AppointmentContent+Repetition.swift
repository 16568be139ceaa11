// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension AppointmentContent {
    /// The repetition of an appointment: a rule and single times.
    package struct Repetition: Hashable, Sendable {
        /// The rule in the form of `RecurrenceRule`; nil for a series of single times.
        var rrule: String?
        var exdates: [Instant]
        var rdates: [Instant]
    }

    /// Returns the repetition on the clock of a zone; UNTIL is in UTC, as RFC 5545 requires for a start with a zone.
    func rules(in zone: TimeZoneReference) -> Recurrence {
        guard let recurrence else { return Recurrence() }
        func zoned(_ instant: Instant) -> EventTime { .zoned(zone.rules.civil(at: instant), zone) }
        var rules: [RecurrenceRule] = []
        if let text = recurrence.rrule, var rule = try? RecurrenceRule(text) {
            switch rule.until {
            case .date(let date):
                let end = CivilDateTime(startOf: date).adding(seconds: 86_399)
                rule.until = .utc(zone.rules.instant(of: end))
            case .floating(let wall): rule.until = .utc(zone.rules.instant(of: wall))
            case .utc, nil: break
            }
            rules = [rule]
        }
        return Recurrence(
            rules: rules, additions: recurrence.rdates.map { Recurrence.Addition(start: zoned($0)) },
            exclusions: recurrence.exdates.map(zoned))
    }
}

extension FieldType<AppointmentContent.Repetition> {
    static var repetition: FieldType {
        let times = FieldType<Instant>.instant
        return FieldType(
            input: InputType(schema) { name, _, fields in read(name, &fields) },
            shown: { repetition, clock in
                [
                    "rrule": JSONValue(repetition.rrule),
                    "exdates": .array(repetition.exdates.map { times.shown($0, clock) }),
                    "rdates": .array(repetition.rdates.map { times.shown($0, clock) }),
                ]
            },
            stored: { repetition in
                var members: [ByteString: JSONValue] = [
                    "exdates": .array(repetition.exdates.map(times.stored)),
                    "rdates": .array(repetition.rdates.map(times.stored)),
                ]
                members["rrule"] = repetition.rrule.map(JSONValue.string)
                return .object(members)
            },
            restored: { json in
                let rule = json["rrule"] ?? .null
                guard let exdates = json["exdates"]?.list(times.restored),
                    let rdates = json["rdates"]?.list(times.restored), rule == .null || rule.string != nil
                else { return nil }
                return AppointmentContent.Repetition(rrule: rule.string, exdates: exdates, rdates: rdates)
            },
            check: { repetition in
                try StoredContent.check(times: repetition.exdates + repetition.rdates)
                if let rule = repetition.rrule { _ = try RecurrenceRule(rule) }
            },
            output: .output(
                .required("rrule", .string.orNull), .required("exdates", .array(of: .instant)),
                .required("rdates", .array(of: .instant))))
    }

    private static var schema: JSONSchema {
        .object([
            .optional(
                "rrule",
                JSONSchema.optionalText(4096).orNull.described(
                    "RFC 5545 section 3.3.10; a rule that takes too much work to follow is refused.")),
            .optional("exdates", moments.schema), .optional("rdates", moments.schema),
        ])
    }

    /// Up to a thousand times.
    private static var moments: InputType<[Instant]> {
        .list(
            JSONSchema.array(of: .instant, maximum: 1000).orNull, of: 0...1000, .tooMany,
            "This must be a list of at most 1000 times.",
            each: (
                .invalidTime,
                "This must be a time as RFC 3339 writes it, with an offset, of the years "
                    + "\(FieldReader.years.lowerBound) to \(FieldReader.years.upperBound)."
            )
        ) { item in
            let instant = item.string.flatMap { Instant(rfc3339: $0) }
            return instant.flatMap { FieldReader.years.contains($0.utc.date.year) ? $0 : nil }
        }
    }

    private static func read(_ name: String, _ fields: inout FieldReader) -> AppointmentContent.Repetition? {
        guard let value = fields.value(name) else { return nil }
        var inner = FieldReader(value, at: "/" + name)
        let text = inner.text("rrule", maximum: 4096)
        var canonical: String?
        if let text {
            do {
                let rule = try RecurrenceRule(text.hasPrefix("RRULE:") ? String(text.dropFirst(6)) : text)
                if [.secondly, .minutely].contains(rule.frequency) {
                    inner.fault("rrule", code: .invalidRule, "An appointment repeats hourly at most.")
                }
                canonical = rule.description
            } catch {
                inner.fault("rrule", code: .invalidRule, error.description)
            }
        }
        let exdates = moments.read("exdates", false, &inner) ?? []
        let rdates = moments.read("rdates", false, &inner) ?? []
        inner.finish()
        fields.add(inner.faults)
        guard canonical != nil || !rdates.isEmpty else {
            if inner.faults.isEmpty {
                fields.fault(name, code: .required, "A recurrence needs an rrule or rdates.")
            }
            return nil
        }
        return AppointmentContent.Repetition(rrule: canonical, exdates: exdates, rdates: rdates)
    }
}
