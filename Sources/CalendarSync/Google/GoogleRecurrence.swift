// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// The member `recurrence`: lines of RRULE, RDATE and EXDATE (RFC 5545 section 3.8.5).
enum GoogleRecurrence {
    private static let mostLines = 1000
    private static let mostTimes = 5000
    private static let longest = 256 << 10

    /// Reads the lines of a series that begins at `start` in the local time of `zone`.
    static func read(
        _ json: JSONValue, start: Instant, zone: TimeZoneReference
    ) throws(GoogleNotExpressible) -> Repetition? {
        guard let items = json.array, items.count <= mostLines else {
            throw GoogleNotExpressible("Its repetition is too long.")
        }
        var rule: String?
        var exdates: [Instant] = []
        var rdates: [Instant] = []
        var size = 0
        for item in items {
            guard let line = item.string else { throw GoogleNotExpressible("Its repetition cannot be read.") }
            size += line.utf8.count
            guard size <= longest else { throw GoogleNotExpressible("Its repetition is too long.") }
            let sides = line.pieces(separatedBy: ":", maxSplits: 1, omittingEmpty: false)
            guard sides.count == 2 else { throw GoogleNotExpressible("Its repetition cannot be read.") }
            let head = sides[0].pieces(separatedBy: ";")
            switch head.first?.asciiLowercased {
            case "rrule":
                guard rule == nil else { throw GoogleNotExpressible("It repeats by more than one rule.") }
                rule = try self.rule(sides[1])
            case "exdate": exdates += try times(sides[1], head.dropFirst(), zone)
            case "rdate": rdates += try times(sides[1], head.dropFirst(), zone)
            default: throw GoogleNotExpressible("It repeats in a way that is not supported.")
            }
            guard exdates.count + rdates.count <= mostTimes else {
                throw GoogleNotExpressible("Its repetition is too long.")
            }
        }
        guard rule != nil || !rdates.isEmpty else { return nil }
        return Repetition(rrule: rule, exdates: exdates, rdates: rdates)
    }

    private static func rule(_ text: Substring) throws(GoogleNotExpressible) -> String {
        do throws(RecurrenceRule.SyntaxError) {
            return try RecurrenceRule(text).description
        } catch {
            throw GoogleNotExpressible("Its rule of repetition is not valid.")
        }
    }

    private static func times(
        _ text: Substring, _ parameters: ArraySlice<Substring>, _ own: TimeZoneReference
    ) throws(GoogleNotExpressible) -> [Instant] {
        var zone = own
        for parameter in parameters {
            let sides = parameter.pieces(separatedBy: "=", maxSplits: 1, omittingEmpty: false)
            switch (sides.first?.asciiLowercased, sides.last) {
            case ("value", "DATE-TIME"): break
            case ("tzid", let name?):
                guard let named = TimeZoneReference(String(name)) else {
                    throw GoogleNotExpressible("Its repetition names an unknown time zone.")
                }
                zone = named
            default: throw GoogleNotExpressible("Its RDATE or EXDATE has dates or periods, which are not supported.")
            }
        }
        var times: [Instant] = []
        for value in text.pieces(separatedBy: ",") {
            guard times.count < mostTimes else { throw GoogleNotExpressible("Its repetition is too long.") }
            if value.hasSuffix("Z"), let wall = CivilDateTime(basic: value.dropLast()) {
                times.append(Instant(utc: wall))
            } else if let wall = CivilDateTime(basic: value) {
                times.append(zone.rules.instant(of: wall))
            } else {
                throw GoogleNotExpressible("A date of its repetition cannot be read.")
            }
        }
        return times
    }

    /// Returns the lines of a series, with times in the local time of its zone.
    static func json(_ repetition: Repetition, zone name: String) -> JSONValue {
        var lines: [JSONValue] = []
        if let rule = repetition.rrule { lines.append(.string("RRULE:" + rule)) }
        func add(_ property: String, _ times: [Instant]) {
            guard !times.isEmpty else { return }
            if let zone = TimeZoneReference(name), name != "UTC" {
                let values = times.map { zone.rules.civil(at: $0).basic }
                // For a local time that occurs twice, only UTC says which one is meant.
                if zip(times, values).allSatisfy({
                    zone.rules.instant(of: zone.rules.civil(at: $0)) == $0 && !$1.isEmpty
                }) {
                    lines.append(.string("\(property);TZID=\(name):" + values.joined(separator: ",")))
                    return
                }
            }
            lines.append(.string("\(property):" + times.map(\.basic).joined(separator: ",")))
        }
        add("EXDATE", repetition.exdates)
        add("RDATE", repetition.rdates)
        return .array(lines)
    }
}

extension Entry {
    /// Returns the entry with deleted occurrences as exception dates, and without what makes no difference: exceptions
    /// at times that the series does not have, and changed occurrences that equal the series. Also returns the number
    /// of changed occurrences that are lost because the series does not have their times.
    func settled() -> (entry: Entry, lost: Int) {
        var entry = self
        guard var repetition, case .timed(let start, _, let zoneName) = span,
            let zone = TimeZoneReference(zoneName)
        else {
            let lost = occurrences.count
            entry.occurrences = [:]
            return (entry, repetition == nil ? lost : 0)
        }
        var exdates = Set(repetition.exdates)
        for (start, occurrence) in occurrences where occurrence == .cancelled {
            exdates.insert(start)
            entry.occurrences[start] = nil
        }
        let given = repetition.gives(Array(exdates) + Array(entry.occurrences.keys), start: start, zone: zone)
        exdates = exdates.filter { given?.contains($0) ?? true }
        var lost = 0
        for (original, occurrence) in entry.occurrences {
            if exdates.contains(original) { entry.occurrences[original] = nil }
            guard case .changed(let changed) = occurrence else { continue }
            if changed == plain(at: original) {
                entry.occurrences[original] = nil
            } else if let given, !given.contains(original) {
                entry.occurrences[original] = nil
                lost += 1
            }
        }
        repetition.exdates = exdates.sorted()
        entry.repetition = repetition
        return (entry, lost)
    }
}

extension Repetition {
    /// Returns which of these times are starts of the series, including excluded ones; nil when that cannot be found
    /// out.
    func gives(_ times: [Instant], start: Instant, zone: TimeZoneReference) -> Set<Instant>? {
        guard !times.isEmpty else { return [] }
        var given = Set(rdates + [start])
        guard let rrule else { return given }
        guard let rule = try? RecurrenceRule(rrule) else { return nil }
        var event = Event(uid: "", start: .zoned(zone.rules.civil(at: start), zone))
        event.recurrence.rules = [rule]
        var budget = RecurrenceBudget(steps: 1_000_000)
        // By their instants: a time that the clock skips is an hour later.
        let found = Series(master: event, overrides: []).starts(
            among: times, floatingIn: zone.rules, budget: &budget)
        guard let found else { return nil }
        given.formUnion(found)
        return given
    }
}
