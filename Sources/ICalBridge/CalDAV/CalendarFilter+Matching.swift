// SPDX-License-Identifier: Apache-2.0

extension CalendarFilter {
    /// Whether a resource meets the filter.
    package func holds(for object: ReportedObject) -> Bool {
        Matching(object: object).holds(calendar, for: object.contents.tree, at: .calendar)
    }
}

/// A resource while it is compared with a filter.
private struct Matching {
    /// What a component is in its object.
    enum Place {
        case calendar
        /// The component with a place in time at this index.
        case part(Int)
        /// The alarm at the second index of the component at the first.
        case alarm(Int, Int)
        case other
    }

    let object: ReportedObject

    func holds(_ filter: CalendarFilter.Component, for component: ObjectTree, at place: Place) -> Bool {
        filter.properties.allSatisfy { holds($0, for: component, at: place) }
            && filter.components.allSatisfy { child in
                let found = component.components.indices.filter { component.components[$0].name == child.name }
                if child.isAbsent { return found.isEmpty }
                return found.contains { index in
                    holds(child, for: component.components[index], at: self.place(of: index, in: component, at: place))
                }
            }
            // Times are compared last, because they cost most.
            && filter.range.map { isWithin($0, place) } ?? true
    }

    private func place(of index: Int, in component: ObjectTree, at place: Place) -> Place {
        let before = component.components[..<index]
        switch place {
        case .calendar where ComponentTree.isPlaced(component.components[index].name):
            return .part(before.count { ComponentTree.isPlaced($0.name) })
        case .part(let part) where component.components[index].name == "VALARM":
            return .alarm(part, before.count { $0.name == "VALARM" })
        case .calendar, .part, .alarm, .other: return .other
        }
    }

    private func isWithin(_ range: ReportRange, _ place: Place) -> Bool {
        switch place {
        case .part(let part): return object.isWithin(range, part: part)
        case .alarm(let part, let index):
            let alarms = object.contents.events[part].alarms
            let written = object.contents.parts[part].components.count { $0.name == "VALARM" }
            // An alarm that cannot be read does not count; which of them it is does not matter to most filters.
            guard alarms.count == written else {
                return alarms.contains { object.goesOff($0, in: range, part: part) }
            }
            return object.goesOff(alarms[index], in: range, part: part)
        case .calendar, .other: return false
        }
    }

    private func holds(_ filter: CalendarFilter.Property, for component: ObjectTree, at place: Place) -> Bool {
        let lines = component.lines.lazy.filter { $0.name == filter.name }
        if filter.isAbsent { return lines.isEmpty }
        return lines.contains { line in
            guard let property = line.property else { return false }
            return filter.text.map { $0.holds(for: Self.texts(of: property)) } ?? true
                && filter.parameters.allSatisfy { holds($0, for: property) }
                && filter.range.map { range in time(of: line, at: place).map(range.contains) ?? false } ?? true
        }
    }

    private func holds(_ filter: CalendarFilter.Parameter, for property: Property) -> Bool {
        let found = property.parameters.filter { $0.name == filter.name }
        guard !filter.isAbsent, !found.isEmpty else { return filter.isAbsent && found.isEmpty }
        return filter.text.map { text in text.holds(for: found.flatMap(\.values).map { Array($0.utf8) }) } ?? true
    }

    /// The texts of a property: its value, and each of several values.
    private static func texts(of property: Property) -> [[UInt8]] {
        let type = ValueType.standard(of: property.name) ?? .text
        guard type == .text else { return [Array(property.value)] }
        var values = [property.value]
        if ValueType.listed.contains(ByteString(property.name)) {
            let parts = TextValue.split(property.value)
            if parts.count > 1 { values += parts }
        }
        return values.map { Array(TextValue.decoded($0).utf8) }
    }

    /// The instant of a property for which RFC 4791 section 9.9 defines one.
    private func time(of line: ObjectTree.Line, at place: Place) -> Instant? {
        guard case .part(let part) = place else { return line.instant }
        let event = object.contents.events[part]
        let time: EventTime? =
            switch line.name {
            case "DTSTART": event.start
            case "RECURRENCE-ID": event.recurrenceID
            case "DTEND", "DUE": if case .time(let end)? = event.end { end } else { nil }
            default: nil
            }
        return time?.instant(floatingIn: object.zone) ?? line.instant
    }
}
