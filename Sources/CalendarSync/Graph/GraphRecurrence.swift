// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// Why something cannot be expressed in Graph's terms, or something of Graph's in ours: a sentence for people.
struct NotExpressible: Error, Hashable {
    var reason: String

    init(_ reason: String) { self.reason = reason }
}

/// Graph's `patternedRecurrence`: how a series repeats, and how long.
struct GraphRecurrence: Hashable {
    enum Kind: String {
        case daily, weekly, absoluteMonthly, relativeMonthly, absoluteYearly, relativeYearly
    }

    enum Index: String, CaseIterable {
        case first, second, third, fourth, last

        /// The value for BYSETPOS.
        var position: Int { self == .last ? -1 : (Self.allCases.firstIndex(of: self) ?? 0) + 1 }

        init?(position: Int) {
            guard let index = Self.allCases.first(where: { $0.position == position }) else { return nil }
            self = index
        }
    }

    enum End: Hashable {
        case never
        /// The last day on which an occurrence may begin, in the zone of the series.
        case on(CivilDate)
        case after(Int)
    }

    var kind: Kind
    var interval: Int
    var month: Int?
    var dayOfMonth: Int?
    /// Sorted from Monday, each once.
    var days: [RecurrenceRule.Weekday] = []
    var weekStart: RecurrenceRule.Weekday?
    var index: Index?
    /// The day of the first occurrence.
    var start: CivilDate
    var end: End = .never
}

extension RecurrenceRule.Weekday {
    /// The name that Graph uses, such as `sunday`.
    var graphName: String {
        switch self {
        case .sunday: "sunday"
        case .monday: "monday"
        case .tuesday: "tuesday"
        case .wednesday: "wednesday"
        case .thursday: "thursday"
        case .friday: "friday"
        case .saturday: "saturday"
        }
    }

    init?(graphName: String) {
        guard let day = Self.allCases.first(where: { $0.graphName == graphName.asciiLowercased }) else { return nil }
        self = day
    }

    /// The number of days after Monday, from 0 to 6.
    var fromMonday: Int { (index + 6) % 7 }
}

extension [RecurrenceRule.Weekday] {
    /// The days sorted from Monday, each once.
    var inOrder: Self { Set(self).sorted { $0.fromMonday < $1.fromMonday } }

    /// Whether Outlook has a name for this set of days: one day, all days, the working days, the weekend.
    var isKindOfDay: Bool {
        let weekdays = Set(map(\.fromMonday))
        return count == 1 || weekdays.count == 7 || weekdays == [0, 1, 2, 3, 4] || weekdays == [5, 6]
    }
}

extension GraphRecurrence {
    /// Returns the form that Graph accepts, without the members that the kind does not use.
    ///
    /// - Parameter zone: the Windows name of the series' zone.
    func json(zone: String) -> JSONValue {
        var pattern: [ByteString: JSONValue] = ["type": .string(kind.rawValue), "interval": .integer(interval)]
        if let month { pattern["month"] = .integer(month) }
        if let dayOfMonth { pattern["dayOfMonth"] = .integer(dayOfMonth) }
        if !days.isEmpty { pattern["daysOfWeek"] = .array(days.map { .string($0.graphName) }) }
        if kind == .weekly { pattern["firstDayOfWeek"] = .string((weekStart ?? .monday).graphName) }
        if let index { pattern["index"] = .string(index.rawValue) }
        var range: [ByteString: JSONValue] = [
            "startDate": .string(start.description), "recurrenceTimeZone": .string(zone),
        ]
        switch end {
        case .never: range["type"] = "noEnd"
        case .on(let date):
            range["type"] = "endDate"
            range["endDate"] = .string(date.description)
        case .after(let count):
            range["type"] = "numbered"
            range["numberOfOccurrences"] = .integer(count)
        }
        return .object(["pattern": .object(pattern), "range": .object(range)])
    }

    /// Reads Graph's answer; members that the kind does not use are ignored.
    init(json: JSONValue) throws(NotExpressible) {
        guard let pattern = json["pattern"], let range = json["range"],
            let kind = (pattern["type"]?.string).flatMap(Kind.init(rawValue:))
        else { throw NotExpressible("The recurrence is of a kind that is not known.") }
        guard let interval = pattern["interval"]?.integer, (1...1000).contains(interval) else {
            throw NotExpressible("The interval of the recurrence is not a number from 1 to 1000.")
        }
        guard let start = (range["startDate"]?.string).flatMap({ CivilDate(iso: $0) }) else {
            throw NotExpressible("The recurrence has no first day.")
        }
        self.init(kind: kind, interval: interval, start: start)
        switch range["type"]?.string {
        case "noEnd": end = .never
        case "endDate":
            guard let date = (range["endDate"]?.string).flatMap({ CivilDate(iso: $0) }) else {
                throw NotExpressible("The recurrence has no last day.")
            }
            end = .on(date)
        case "numbered":
            guard let count = range["numberOfOccurrences"]?.integer, (1...100_000).contains(count) else {
                throw NotExpressible("The number of occurrences is not a number from 1 to 100,000.")
            }
            end = .after(count)
        default: throw NotExpressible("The recurrence ends in a way that is not known.")
        }
        if kind == .absoluteMonthly || kind == .absoluteYearly {
            guard let day = pattern["dayOfMonth"]?.integer, (1...31).contains(day) else {
                throw NotExpressible("The day of the month is not a number from 1 to 31.")
            }
            dayOfMonth = day
        }
        if kind == .absoluteYearly || kind == .relativeYearly {
            guard let month = pattern["month"]?.integer, (1...12).contains(month) else {
                throw NotExpressible("The month is not a number from 1 to 12.")
            }
            self.month = month
        }
        if kind == .weekly || kind == .relativeMonthly || kind == .relativeYearly {
            let names = pattern["daysOfWeek"]?.array ?? []
            let days = names.compactMap { ($0.string).flatMap(RecurrenceRule.Weekday.init(graphName:)) }
            guard !days.isEmpty, names.count <= 7, days.count == names.count else {
                throw NotExpressible("The days of the week of the recurrence are not known.")
            }
            self.days = days.inOrder
        }
        if kind == .weekly {
            // Graph's own default is Sunday.
            weekStart = (pattern["firstDayOfWeek"]?.string).flatMap(RecurrenceRule.Weekday.init(graphName:)) ?? .sunday
        }
        if kind == .relativeMonthly || kind == .relativeYearly {
            guard let index = Index(rawValue: pattern["index"]?.string ?? "first") else {
                throw NotExpressible("The week of the recurrence is not known.")
            }
            self.index = index
        }
    }
}
