// SPDX-License-Identifier: Apache-2.0

extension CalendarFilter {
    /// Whether a resource meets the filter.
    package func holds(for object: ReportedObject) -> Bool {
        Matching(object: object).holds(calendar, for: Node(object.contents.tree, .calendar))
    }
}

/// A component of a resource, with what was read from it: a filter may look at it hundreds of times.
private final class Node {
    /// The role of a component in its object.
    enum Place {
        case calendar
        /// The component with a place in time at this index.
        case part(Int)
        /// The alarm at the second index of the component at the first.
        case alarm(Int, Int)
        case other
    }

    /// Texts of a line: those of its value, or of a parameter.
    private struct Texts: Hashable {
        var line: Int
        var parameter: ByteString?
        var collation: TextMatch.Collation
    }

    let component: ObjectTree
    let place: Place
    private(set) lazy var children = makeChildren()
    private var properties: [Int: Property?] = [:]
    private var texts: [Texts: [[UInt8]]] = [:]

    init(_ component: ObjectTree, _ place: Place) { (self.component, self.place) = (component, place) }

    private func makeChildren() -> [Node] {
        var count = 0
        return component.components.map { child in
            let place: Place
            switch self.place {
            case .calendar where ComponentTree.isPlaced(child.name): place = .part(count)
            case .part(let part) where child.name == "VALARM": place = .alarm(part, count)
            case .calendar, .part, .alarm, .other: return Node(child, .other)
            }
            count += 1
            return Node(child, place)
        }
    }

    func property(_ line: Int) -> Property? {
        if let known = properties[line] { return known }
        let property = component.lines[line].property
        properties[line] = .some(property)
        return property
    }

    /// Returns texts as a collation compares them.
    ///
    /// - Parameter make: returns them as they are.
    func texts(
        ofLine line: Int, parameter: String? = nil, _ collation: TextMatch.Collation, _ make: () -> [[UInt8]]
    ) -> [[UInt8]] {
        let key = Texts(line: line, parameter: parameter.map { ByteString($0) }, collation: collation)
        if let known = texts[key] { return known }
        let folded = make().map { TextMatch.folded($0, collation) }
        texts[key] = folded
        return folded
    }
}

/// A resource while it is compared with a filter.
private struct Matching {
    let object: ReportedObject

    func holds(_ filter: CalendarFilter.Component, for node: Node) -> Bool {
        filter.properties.allSatisfy { holds($0, for: node) }
            && filter.components.allSatisfy { child in
                let found = node.children.lazy.filter { $0.component.name == child.name }
                return child.isAbsent ? found.isEmpty : found.contains { holds(child, for: $0) }
            }
            // Times are compared last, because they cost most.
            && filter.range.map { isWithin($0, node) } ?? true
    }

    private func isWithin(_ range: TimeRange, _ node: Node) -> Bool {
        switch node.place {
        case .part(let part): return object.isWithin(range, part: part)
        case .alarm(let part, let index):
            let alarms = object.contents.events[part].alarms
            // An alarm that cannot be read does not count; which of them it is does not matter to most filters.
            guard alarms.count == object.writtenAlarms[part] else {
                return alarms.contains { object.goesOff($0, in: range, part: part) }
            }
            return object.goesOff(alarms[index], in: range, part: part)
        case .calendar, .other: return false
        }
    }

    private func holds(_ filter: CalendarFilter.Property, for node: Node) -> Bool {
        let lines = node.component.lines
        let found = lines.indices.lazy.filter { lines[$0].name == filter.name }
        if filter.isAbsent { return found.isEmpty }
        return found.contains { index in
            guard let property = node.property(index) else { return false }
            return filter.text.map { text in
                text.holds(for: node.texts(ofLine: index, text.collation) { Self.texts(of: property) })
            } ?? true
                && filter.parameters.allSatisfy { holds($0, for: property, at: index, of: node) }
                && filter.range.map { range in time(of: lines[index], at: node.place).map(range.contains) ?? false }
                    ?? true
        }
    }

    private func holds(
        _ filter: CalendarFilter.Parameter, for property: Property, at line: Int, of node: Node
    ) -> Bool {
        let found = property.parameters.filter { $0.name == filter.name }
        guard !filter.isAbsent, !found.isEmpty else { return filter.isAbsent && found.isEmpty }
        return filter.text.map { text in
            text.holds(
                for: node.texts(ofLine: line, parameter: filter.name, text.collation) {
                    found.flatMap(\.values).map { Array($0.utf8) }
                })
        } ?? true
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
    private func time(of line: ObjectTree.Line, at place: Node.Place) -> Instant? {
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
