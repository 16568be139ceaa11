// SPDX-License-Identifier: Apache-2.0

extension ReportedObject {
    /// The maximum size in bytes of the components that one object is expanded to.
    private static let mostExpanded = 8 << 20

    /// Returns the object with each of its occurrences in a span by itself, without rules and without zones
    /// (RFC 4791 section 9.6.5).
    func expanded(in range: TimeRange) throws(CalendarReportFault) -> ObjectTree {
        var tree = contents.tree
        var expanded: [ObjectTree] = []
        var size = 0
        let zones = WrittenZones(contents)
        let isRepeated = series.master.map { !$0.recurrence.isEmpty } ?? true
        for (index, part) in contents.parts.enumerated() {
            let event = contents.events[index]
            guard event.isPlaced else {
                // A component without a time has no occurrences, and is in every span.
                if isWithin(range, part: index) { expanded.append(part.withoutZones(zones)) }
                continue
            }
            let found = occurrences(ofPart: index, in: range)
            guard found.isComplete else { throw .tooMuch }
            size += part.weight * found.occurrences.count
            guard size <= Self.mostExpanded else { throw .tooMuch }
            let plain = part.withoutZones(zones)
            for occurrence in found.occurrences {
                expanded.append(plain.describing(occurrence, of: event, isRepeated: isRepeated))
            }
        }
        tree.components.removeAll { $0.name == "VTIMEZONE" || ComponentTree.isPlaced($0.name) }
        tree.components += expanded
        return tree
    }

    /// Returns the object with only those changed occurrences that matter in a span (RFC 4791 section 9.6.6).
    func limited(to range: TimeRange) -> ObjectTree {
        var tree = contents.tree
        let positions = tree.components.indices.filter { ComponentTree.isPlaced(tree.components[$0].name) }
        for (part, position) in positions.enumerated().reversed() where !matters(part, in: range) {
            tree.components.remove(at: position)
        }
        return tree
    }

    private func matters(_ part: Int, in range: TimeRange) -> Bool {
        let event = contents.events[part]
        guard let original = event.recurrenceID else { return true }
        if event.appliesToFuture, original.instant(floatingIn: zone) < range.to { return true }
        if isWithin(range, part: part) { return true }
        // Where it was, the series would have an occurrence again without it.
        guard var master = series.master else { return false }
        let start = original.instant(floatingIn: zone)
        guard !original.isDate || master.isAllDay else {
            return start < range.to && start.adding(seconds: 86_400) > range.from
        }
        master.end = master.length
        (master.start, master.recurrence) = (original, Recurrence())
        return look { budget in
            Series(master: master, overrides: []).overlaps(
                from: range.from, to: range.to, floatingIn: zone, budget: &budget) ?? true
        }
    }
}

extension Event {
    /// Whether it has occurrences.
    fileprivate var isPlaced: Bool {
        if case .time? = end, kind == .toDo { true } else { start != nil }
    }

    /// How long it lasts, for an occurrence at another time.
    fileprivate var length: End? {
        guard case .time(let end)? = end, let start else { return self.end }
        let seconds =
            end.instant(floatingIn: FixedOffset.utc).seconds - start.instant(floatingIn: FixedOffset.utc).seconds
        let days = seconds / 86_400
        return .duration(isAllDay ? ICalDuration(days: max(days, 0)) : ICalDuration(seconds: max(seconds, 0)))
    }
}

extension ObjectTree {
    private static let placeNames = [
        "DTSTART", "DTEND", "DUE", "DURATION", "RECURRENCE-ID", "RRULE", "RDATE", "EXDATE", "EXRULE",
    ]

    /// The bytes of its lines.
    fileprivate var weight: Int {
        lines.reduce(64) { $0 + $1.bytes.count + 64 } + components.reduce(0) { $0 + $1.weight }
    }

    /// The component with the lines that place it in time instead of its own.
    fileprivate func describing(
        _ occurrence: Occurrence, of event: Event, isRepeated: Bool
    ) -> ObjectTree {
        var new: [Line] = []
        func add(_ name: String, _ time: EventTime) { new += Line.written { $0.time(name, time.inUTC) } }
        let (start, end) = (occurrence.start, occurrence.end)
        if event.start != nil { add("DTSTART", start) }
        switch event.end {
        case nil where start == end || event.isAllDay && event.kind != .toDo: break
        case .duration(let duration) where start.inUTC.adding(duration) == end.inUTC:
            new.append(Line("DURATION", duration.description))
        default: add(event.kind == .toDo ? "DUE" : "DTEND", end)
        }
        if let original = occurrence.recurrenceID, isRepeated || event.recurrenceID != nil {
            add("RECURRENCE-ID", original)
        }
        func isPlace(_ line: Line) -> Bool { Self.placeNames.contains { $0 == line.name } }
        var component = self
        let position = lines.firstIndex(where: isPlace) ?? lines.count
        component.lines.removeAll(where: isPlace)
        component.lines.insert(contentsOf: new, at: min(position, component.lines.count))
        return component
    }

    /// The component with times in UTC where they named a zone.
    fileprivate func withoutZones(_ zones: WrittenZones) -> ObjectTree {
        var component = self
        for index in lines.indices where !Self.placeNames.contains(where: { $0 == lines[index].name }) {
            guard let zone = lines[index].zoneName, let line = lines[index].inUTC(from: zones.rules(of: zone)) else {
                continue
            }
            component.lines[index] = line
        }
        component.components = components.map { $0.withoutZones(zones) }
        return component
    }
}

/// The zones that an object's lines name, each read once: thousands of lines may name the same one.
private final class WrittenZones {
    private let written: [ByteString: [ObjectTree]]
    private var known: [ByteString: (any TimeZoneRules)?] = [:]

    init(_ contents: ObjectContents) {
        written = Dictionary(grouping: contents.tree.components.lazy.filter { $0.name == "VTIMEZONE" }) { zone in
            ByteString(zone.line("TZID")?.property.map { TextValue.decoded($0.value.trimmingSpaces) } ?? "")
        }
    }

    /// The rules of a zone that a line names.
    func rules(of name: String) -> (any TimeZoneRules)? {
        let key = ByteString(name)
        if let rules = known[key] { return rules }
        var one = ObjectTree(name: "VCALENDAR")
        one.components = written[key] ?? []
        let rules = one.components.isEmpty ? ReportZone.rules(named: name) : ReportZone.rules(ofCalendar: one.text)
        known[key] = .some(rules)
        return rules
    }
}

extension EventTime {
    /// The same time in UTC if it has a zone; dates and floating times have none.
    fileprivate var inUTC: EventTime {
        if case .zoned = self { .utc(instant(floatingIn: FixedOffset.utc)) } else { self }
    }
}

extension ObjectTree.Line {
    /// Returns the lines that a writer writes.
    fileprivate static func written(_ write: (inout ContentLineWriter) -> Void) -> [Self] {
        var writer = ContentLineWriter(keepsHiddenCharacters: true)
        write(&writer)
        return ObjectTree.unfolded(writer.bytes).compactMap { Self($0) }
    }

    /// The line with its local times in UTC and without the zone; nil if they cannot be read, or are dates.
    fileprivate func inUTC(from rules: (any TimeZoneRules)?) -> Self? {
        guard let property, let rules else { return nil }
        let walls = property.value.split(separator: 44).map {
            CivilDateTime(basic: String(fromOutside: $0.trimmingSpaces))
        }
        let times = walls.compactMap { $0.map { rules.instant(of: $0).basic } }
        guard !times.isEmpty, times.count == walls.count else { return nil }
        let parameters = property.parameters.filter { $0.name != "TZID" }
        let line = ContentLine(name: property.name, parameters: parameters, value: times.joined(separator: ","))
        return Self.written { $0.line(line) }.first
    }
}
