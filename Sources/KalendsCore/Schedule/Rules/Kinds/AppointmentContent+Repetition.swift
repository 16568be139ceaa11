// SPDX-License-Identifier: Apache-2.0

package import CalendarSync
import ICalBridge

extension Repetition: StoredInParts {
    package static let parts: [ItemPart<Self>] = [
        .optional("rrule", \.rrule, .rule), .given("exdates", \.exdates, .moments),
        .given("rdates", \.rdates, .moments),
    ]

    package init() { self.init(rrule: nil) }
}

extension AppointmentContent {
    /// Returns the repetition on the clock of a zone; UNTIL is in UTC, as RFC 5545 requires for a start with a zone.
    func rules(in zone: TimeZoneReference) -> Recurrence {
        guard let recurrence else { return Recurrence() }
        func zoned(_ instant: Instant) -> EventTime { .zoned(zone.rules.civil(at: instant), zone) }
        var rules: [RecurrenceRule] = []
        if let text = recurrence.rrule, var rule = try? RecurrenceRule(text) {
            rule.until = rule.until?.instant(in: zone)
            rules = [rule]
        }
        return Recurrence(
            rules: rules, additions: recurrence.rdates.map { Recurrence.Addition(start: zoned($0)) },
            exclusions: recurrence.exdates.map(zoned))
    }
}

extension FieldType<Repetition> {
    static var repetition: FieldType {
        let parts = Repetition.parts
        return FieldType(
            input: InputType(.object(parts.flatMap(\.input))) { name, _, fields in read(name, &fields) },
            shown: { repetition, clock in .object(repetition.shown(on: clock)) },
            stored: { .object($0.storedMembers) }, restored: { Repetition(storedMembers: $0) },
            check: { try $0.check() }, output: .object(parts.flatMap(\.output)))
    }

    private static func read(_ name: String, _ fields: inout FieldReader) -> Repetition? {
        guard let value = fields.value(name) else { return nil }
        var (inner, repetition) = (FieldReader(value, at: "/" + name), Repetition())
        for part in Repetition.parts { part.read(&inner, &repetition) }
        inner.finish()
        fields.add(inner.faults)
        guard repetition.rrule != nil || !repetition.rdates.isEmpty else {
            if inner.faults.isEmpty {
                fields.fault(name, code: .required, "A recurrence needs an rrule or rdates.")
            }
            return nil
        }
        return repetition
    }
}

extension FieldType<String> {
    /// The rule of a recurrence.
    fileprivate static var rule: FieldType {
        let schema = JSONSchema.optionalText(4096).orNull.described(
            "RFC 5545 section 3.3.10; a rule that takes too much work to follow is refused.")
        var type = words(
            InputType(schema) { name, _, fields in
                guard let text = fields.text(name, maximum: 4096) else { return nil }
                do throws(RecurrenceRule.SyntaxError) {
                    let rule = try RecurrenceRule(text.hasPrefix("RRULE:") ? String(text.dropFirst(6)) : text)
                    if [.secondly, .minutely].contains(rule.frequency) {
                        fields.fault(name, code: .invalidRule, "An appointment repeats hourly at most.")
                    }
                    return rule.description
                } catch {
                    fields.fault(name, code: .invalidRule, error.description)
                    return nil
                }
            })
        type.check = { _ = try RecurrenceRule($0) }
        return type
    }
}

extension FieldType<[Instant]> {
    /// Up to a thousand times.
    fileprivate static var moments: FieldType {
        let one = FieldType<Instant>.instant
        return FieldType(
            input: .list(
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
            },
            shown: { times, clock in .array(times.map { one.shown($0, clock) }) },
            stored: { .array($0.map(one.stored)) }, restored: { $0.list(one.restored) },
            check: { try StoredContent.check(times: $0) }, output: .array(of: .instant))
    }
}
