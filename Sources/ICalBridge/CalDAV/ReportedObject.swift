// SPDX-License-Identifier: Apache-2.0

/// A calendar object resource that reports look at.
///
/// What an object may cost is bounded by the length of its text and by the steps that its rules may take. A condition that this
/// does not decide counts as met, because a client finds out by itself what it need not show, and never what is missing.
package struct ReportedObject {
    let contents: ObjectContents
    /// The clock of dates and floating times.
    let zone: any TimeZoneRules
    let series: Series
    /// Whether a component replaces all occurrences from one on.
    let hasFuture: Bool
    /// How many alarms are written in each component with a place in time.
    let writtenAlarms: [Int]
    /// The remaining steps that all evaluations of the object may take.
    private let steps: Steps

    private final class Steps {
        var budget: RecurrenceBudget

        init(_ parts: Int) { budget = RecurrenceBudget(steps: RecurrenceBudget.perSeries + stepsOfAPart * parts) }
    }

    /// - Parameter zone: the clock of dates and floating times.
    /// - Returns: nil if the object cannot be read.
    package init?(_ text: [UInt8], floatingIn zone: any TimeZoneRules) {
        guard let contents = ObjectContents(reporting: text) else { return nil }
        (self.contents, self.zone, series) = (contents, zone, contents.series)
        hasFuture = contents.events.contains(where: \.appliesToFuture)
        writtenAlarms = contents.parts.map { part in part.components.count { $0.name == "VALARM" } }
        steps = Steps(contents.parts.count)
    }

    /// Looks at the object with the steps that are left; the budget is spent where it is not sure what is found.
    func look<Value>(_ look: (inout RecurrenceBudget) -> Value) -> Value { look(&steps.budget) }

    /// The steps that a component has in addition to those of a series.
    static let stepsOfAPart = 10
    /// The maximum number of occurrences of an object that are checked for one condition.
    static let mostOccurrences = 4000
}

/// The zone in which dates and floating times of a report are read (RFC 4791 section 9.8, RFC 7809 section 5.2).
package enum ReportZone {
    /// Returns the rules of the one zone in an iCalendar object; nil if no zone can be read.
    ///
    /// - Parameter isAlone: whether the object may hold nothing else.
    package static func rules(ofCalendar text: [UInt8], isAlone: Bool = false) -> (any TimeZoneRules)? {
        guard text.count <= 1 << 18, var tree = ObjectTree(text), !isAlone || tree.components.count == 1 else {
            return nil
        }
        tree.components.removeAll { $0.name != "VTIMEZONE" }
        guard tree.components.count == 1, let name = tree.components[0].line("TZID")?.property?.value.trimmingSpaces
        else { return nil }
        var event = ObjectTree(name: "VEVENT")
        var start = Array("DTSTART;TZID=\"".utf8)
        start += TextValue.decoded(name).utf8.filter { $0 != 34 && $0 >= 32 }
        start += "\":20260101T000000".utf8
        guard let line = ObjectTree.Line(start) else { return nil }
        event.lines = [.init("UID", "x"), .init("DTSTAMP", "20260101T000000Z"), line]
        tree.components.append(event)
        var options = CalendarReader.Options()
        options.decoder = .swift
        return switch CalendarReader(options: options).read(tree.text).events.first?.start {
        case .zoned(_, let zone): zone.rules
        case .utc: FixedOffset.utc
        case .date, .floating, nil: nil
        }
    }

    /// Returns the name of the one zone in an iCalendar object, if it is one of the IANA's.
    package static func name(ofCalendar text: [UInt8]) -> String? {
        guard text.count <= 1 << 18, let tree = ObjectTree(text) else { return nil }
        let zones = tree.components.filter { $0.name == "VTIMEZONE" }
        guard zones.count == 1, let name = zones[0].line("TZID")?.property?.value.trimmingSpaces else { return nil }
        return SystemTimeZones.shared.canonicalSpelling(TextValue.decoded(name))
    }

    /// Returns the rules of a zone by its IANA name; nil for an unknown name.
    package static func rules(named name: String) -> (any TimeZoneRules)? {
        SystemTimeZones.shared.canonicalSpelling(name).flatMap { TimeZoneReference($0) }?.rules
    }
}
