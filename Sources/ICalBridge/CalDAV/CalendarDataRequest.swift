// SPDX-License-Identifier: Apache-2.0

/// The part of each resource's text that a report returns: `C:calendar-data` (RFC 4791 section 9.6), and the zones that
/// it needs not have (RFC 7809 section 3.1.3).
package struct CalendarDataRequest: Hashable, Sendable {
    struct Component: Hashable, Sendable {
        /// In upper case.
        var name: String
        /// The properties that are returned, each with whether its value is; nil for all.
        var properties: [ByteString: Bool]?
        /// The components that are returned; nil for all.
        var components: [Component]?
    }

    /// The part of a series that is returned.
    enum Recurrences: Hashable, Sendable {
        case all
        /// Each occurrence in a span by itself.
        case expanded(TimeRange)
        /// The series, and those of its changed occurrences that matter in a span.
        case limited(TimeRange)
    }

    /// The part of the VCALENDAR that is returned; nil for all of it.
    let calendar: Component?
    let recurrences: Recurrences
    /// The span from which periods of FREEBUSY are returned.
    let busy: TimeRange?
    /// Whether definitions of zones are returned that the IANA has: `CalDAV-Timezones` is not `F`.
    package var hasKnownZones = true

    /// All of the text.
    package init() { (calendar, recurrences, busy) = (nil, .all, nil) }

    /// The maximum number of components and properties that are named.
    private static let mostNames = 1000

    package init(_ element: XMLElement) throws(CalendarReportFault) {
        let type = element.attribute("content-type") ?? "text/calendar"
        guard type == "text/calendar", element.attribute("version") ?? "2.0" == "2.0" else {
            throw .unsupportedCalendarData
        }
        var calendar: Component?
        var recurrences = Recurrences.all
        var busy: TimeRange?
        var left = Self.mostNames
        for child in element.children where child.namespace == .caldav {
            switch child.name {
            case "comp":
                guard calendar == nil else { throw .invalidRequest }
                calendar = try Self.component(child, &left)
            case "expand":
                guard recurrences == .all else { throw .invalidRequest }
                recurrences = .expanded(try Self.range(child))
            case "limit-recurrence-set":
                guard recurrences == .all else { throw .invalidRequest }
                recurrences = .limited(try Self.range(child))
            case "limit-freebusy-set": busy = try Self.range(child)
            default: throw .invalidRequest
            }
        }
        guard calendar?.name ?? "VCALENDAR" == "VCALENDAR" else { throw .invalidRequest }
        (self.calendar, self.recurrences, self.busy) = (calendar, recurrences, busy)
    }

    private static func range(_ element: XMLElement) throws(CalendarReportFault) -> TimeRange {
        guard let range = TimeRange(element, isOpen: false) else { throw .invalidRequest }
        return range
    }

    private static func component(_ element: XMLElement, _ left: inout Int) throws(CalendarReportFault) -> Component {
        func name(_ element: XMLElement) throws(CalendarReportFault) -> String {
            guard let name = element.attribute("name"), FormName.isToken(name), left > 0 else { throw .invalidRequest }
            left -= 1
            return name.uppercased()
        }
        var component = Component(name: try name(element), properties: [:], components: [])
        // The RFC's own example names a VTIMEZONE by itself and gets it as a whole (section 7.8.1).
        if element.children.isEmpty { (component.properties, component.components) = (nil, nil) }
        for child in element.children where child.namespace == .caldav {
            switch child.name {
            case "allprop": component.properties = nil
            case "allcomp": component.components = nil
            case "prop":
                let (key, hasValue) = (ByteString(try name(child)), child.attribute("novalue") != "yes")
                let isKnown = component.properties?[key] ?? false
                component.properties?[key] = hasValue || isKnown
            case "comp": component.components?.append(try self.component(child, &left))
            default: throw .invalidRequest
            }
        }
        return component
    }

    /// Whether the text is returned as it is stored.
    package var isWhole: Bool { calendar == nil && recurrences == .all && busy == nil && hasKnownZones }

    /// Returns the part of a resource that the request asks for.
    ///
    /// - Parameter zone: the clock of dates and floating times.
    /// - Returns: nil if the resource cannot be read.
    /// - Throws: `tooMuch` if a series has more occurrences in the span than are returned.
    package func text(
        of text: [UInt8], floatingIn zone: any TimeZoneRules
    ) throws(CalendarReportFault) -> [UInt8]? {
        guard !isWhole else { return text }
        guard let object = ReportedObject(text, floatingIn: zone) else { return nil }
        var tree = object.contents.tree
        switch recurrences {
        case .all: break
        case .expanded(let range): tree = try object.expanded(in: range)
        case .limited(let range): tree = object.limited(to: range)
        }
        if let busy { tree.limitBusy(to: busy) }
        if !hasKnownZones { tree.removeKnownZones() }
        if let calendar { tree = Self.part(of: tree, calendar) }
        return tree.text
    }

    private static func part(of tree: ObjectTree, _ asked: Component) -> ObjectTree {
        var part = tree
        if let properties = asked.properties {
            part.lines = tree.lines.compactMap { line in
                properties[ByteString(line.name)].flatMap { $0 ? line : line.withoutValue }
            }
        }
        if let components = asked.components {
            part.components = tree.components.compactMap { child in
                components.first { $0.name == child.name }.map { self.part(of: child, $0) }
            }
        }
        return part
    }
}

extension ObjectTree.Line {
    fileprivate var withoutValue: Self? { Self(Array(bytes[...head.upperBound])) }
}

extension ObjectTree {
    /// Leaves out definitions of zones that everybody has.
    fileprivate mutating func removeKnownZones() {
        components.removeAll { zone in
            zone.name == "VTIMEZONE"
                && zone.line("TZID")?.property.map {
                    SystemTimeZones.shared.canonicalSpelling(TextValue.decoded($0.value.trimmingSpaces)) != nil
                } ?? false
        }
    }

    /// Leaves out the periods of FREEBUSY that do not meet a span (RFC 4791 section 9.6.7).
    fileprivate mutating func limitBusy(to range: TimeRange) {
        for index in components.indices where components[index].name == "VFREEBUSY" {
            components[index].lines = components[index].lines.compactMap { line -> Line? in
                guard line.name == "FREEBUSY" else { return line }
                let kept = line.periods.filter { $0.period.from < range.to && $0.period.to > range.from }
                guard !kept.isEmpty else { return nil }
                return Line(Array(line.bytes[...line.head.upperBound]) + kept.map(\.text).joined(separator: [44]))
            }
        }
    }
}
