// SPDX-License-Identifier: Apache-2.0

package import ICalBridge

/// The repetition of a personal event; times are kept as they were sent, in RFC 3339 or, for whole days, YYYY-MM-DD.
package struct PersonalRecurrence: Hashable, Sendable {
    /// The maximum number of dates in a list.
    static let mostDates = 1000

    var rule: String?
    var exceptions: [String] = []
    var additions: [String] = []

    package init() {}

    init(rule: String?, exceptions: [String], additions: [String]) {
        (self.rule, self.exceptions, self.additions) = (rule, exceptions, additions)
    }
}

extension PersonalRecurrence: JSONFormed {
    package static let form = JSONForm<Self>([
        .init("rrule", \.rule), .init("exdates", \.exceptions), .init("rdates", \.additions),
    ])

    /// The stored form; equal values have equal texts.
    var stored: String? { try? text() }

    /// Reads the stored form; nil for a form that this version does not understand.
    package init?(stored text: String) {
        guard let json = try? JSONValue(parsing: text.utf8) else { return nil }
        self.init(json: json)
    }
}

extension PersonalRecurrence {
    /// Reads the member of an event; nil for an invalid one, and for one without rule and dates, which repeats nothing.
    ///
    /// - Parameter ignoresUnknown: whether unknown members are ignored rather than reported as faults.
    init?(_ value: JSONValue, at pointer: String, ignoresUnknown: Bool, _ faults: inout FaultList) {
        var fields = FieldReader(value, at: pointer)
        var rule: String?
        if let text = fields.text("rrule", maximum: 4096) {
            do {
                let read = try RecurrenceRule(text.hasPrefix("RRULE:") ? String(text.dropFirst(6)) : text)
                if [.secondly, .minutely].contains(read.frequency) {
                    fields.fault("rrule", code: .invalidRule, "An event repeats hourly at most.")
                }
                rule = read.description
            } catch {
                fields.fault("rrule", code: .invalidRule, error.description)
            }
        }
        let exceptions = Self.dates("exdates", &fields)
        let additions = Self.dates("rdates", &fields)
        if !ignoresUnknown { fields.finish() }
        faults += fields.faults
        guard rule != nil || !additions.isEmpty else { return nil }
        self.init(rule: rule, exceptions: exceptions, additions: additions)
    }

    /// Reads a list of dates; only the first fault of a list is reported.
    private static func dates(_ name: String, _ fields: inout FieldReader) -> [String] {
        guard let value = fields.value(name) else { return [] }
        guard case .array(let items) = value, items.count <= mostDates else {
            fields.fault(name, code: .tooMany, "This must be a list of at most \(mostDates) times.")
            return []
        }
        var texts: [String] = []
        for (index, item) in items.enumerated() {
            guard case .string(let text) = item, PersonalMoment(text) != nil else {
                fields.fault("\(name)/\(index)", code: .invalidTime, PersonalMoment.rule)
                return []
            }
            texts.append(text)
        }
        return texts
    }
}

/// An instant or a day at which an occurrence of a personal series starts.
package enum PersonalMoment: Hashable, Sendable {
    case instant(Instant)
    case day(CivilDate)

    package static let rule =
        "This must be a time as RFC 3339 writes it, with an offset, or a day as YYYY-MM-DD, of the years "
        + "\(FieldReader.years.lowerBound) to \(FieldReader.years.upperBound)."

    /// The longest text that is read: fractions of a second may have very many digits.
    private static let longest = 64

    package init?(_ text: String) {
        guard text.utf8.count <= Self.longest else { return nil }
        if let instant = Instant(rfc3339: text), FieldReader.years.contains(instant.utc.date.year) {
            self = .instant(instant)
        } else if let day = CivilDate(iso: text), FieldReader.years.contains(day.year) {
            self = .day(day)
        } else {
            return nil
        }
    }

    /// A text that is the same for the same moment, however the moment was written.
    var key: String {
        switch self {
        case .instant(let instant): instant.basic
        case .day(let day): day.basic
        }
    }
}
