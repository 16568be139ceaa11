// SPDX-License-Identifier: Apache-2.0

/// The conditions that a calendar-query sets for the resources that it returns (RFC 4791 section 9.7).
package struct CalendarFilter: Hashable, Sendable {
    struct Component: Hashable, Sendable {
        /// In upper case.
        var name: String
        /// Whether it must be absent.
        var isAbsent = false
        var range: TimeRange?
        var properties: [Property] = []
        var components: [Component] = []

        /// Whether every component with the name meets it.
        var isPlain: Bool { !isAbsent && range == nil && properties.isEmpty && components.isEmpty }
    }

    struct Property: Hashable, Sendable {
        var name: String
        var isAbsent = false
        var range: TimeRange?
        var text: TextMatch?
        var parameters: [Parameter] = []
    }

    struct Parameter: Hashable, Sendable {
        var name: String
        var isAbsent = false
        var text: TextMatch?
    }

    /// The conditions for the VCALENDAR.
    let calendar: Component

    /// The maximum number of conditions in a filter: each is checked for every resource.
    static let mostConditions = 200
    /// The properties that are times.
    private static let times = [
        "DTSTART", "DTEND", "DUE", "COMPLETED", "CREATED", "DTSTAMP", "LAST-MODIFIED", "RECURRENCE-ID", "EXDATE",
        "RDATE", "TRIGGER", "ACKNOWLEDGED", "FREEBUSY",
    ]
    private static let ranged = ["VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VALARM"]

    /// Reads a `C:filter`.
    package init(_ element: XMLElement) throws(CalendarReportFault) {
        let roots = element.children(.caldav, "comp-filter")
        guard roots.count == 1, element.children.count == 1 else { throw .invalidFilter }
        var left = Self.mostConditions
        calendar = try Self.component(roots[0], &left)
        guard calendar.name == "VCALENDAR", !calendar.isAbsent else { throw .invalidFilter }
    }

    private static func name(of element: XMLElement, _ left: inout Int) throws(CalendarReportFault) -> String {
        guard let name = element.attribute("name"), FormName.isToken(name) else { throw .invalidFilter }
        left -= 1
        guard left >= 0 else { throw .unsupportedFilter }
        return name.uppercased()
    }

    private static func component(_ element: XMLElement, _ left: inout Int) throws(CalendarReportFault) -> Component {
        var component = Component(name: try name(of: element, &left))
        for child in element.children where child.namespace == .caldav {
            switch child.name {
            case "is-not-defined": component.isAbsent = true
            case "time-range":
                guard ranged.contains(component.name), component.range == nil else { throw .invalidFilter }
                component.range = try range(child)
            case "prop-filter": component.properties.append(try property(child, &left))
            case "comp-filter":
                let inner = try self.component(child, &left)
                guard hasPlace(inner.name, in: component.name) else { throw .invalidFilter }
                component.components.append(inner)
            default: throw .unsupportedFilter
            }
        }
        return component
    }

    /// Whether a component may be within another (RFC 5545 section 3.6); one that is unknown may be anywhere.
    private static func hasPlace(_ name: String, in outer: String) -> Bool {
        switch name {
        case "VCALENDAR": false
        case "VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VTIMEZONE": outer == "VCALENDAR"
        case "VALARM": outer != "VCALENDAR" && outer != "VALARM"
        case "STANDARD", "DAYLIGHT": outer == "VTIMEZONE"
        default: true
        }
    }

    private static func property(_ element: XMLElement, _ left: inout Int) throws(CalendarReportFault) -> Property {
        var property = Property(name: try name(of: element, &left))
        for child in element.children where child.namespace == .caldav {
            switch child.name {
            case "is-not-defined": property.isAbsent = true
            case "time-range":
                guard times.contains(property.name) || property.name.hasPrefix("X-") else { throw .invalidFilter }
                property.range = try range(child)
            case "text-match": property.text = try TextMatch(child)
            case "param-filter":
                var parameter = Parameter(name: try name(of: child, &left))
                for condition in child.children where condition.namespace == .caldav {
                    switch condition.name {
                    case "is-not-defined": parameter.isAbsent = true
                    case "text-match": parameter.text = try TextMatch(condition)
                    default: throw .unsupportedFilter
                    }
                }
                property.parameters.append(parameter)
            default: throw .unsupportedFilter
            }
        }
        return property
    }

    private static func range(_ element: XMLElement) throws(CalendarReportFault) -> TimeRange {
        // Without either end it is not a range at all, and the body does not follow the RFC.
        guard element.attribute("start") != nil || element.attribute("end") != nil else { throw .invalidRequest }
        guard let range = TimeRange(element, isOpen: true) else { throw .invalidFilter }
        return range
    }

    /// The component that a resource needs to have, by its kind; nil if several kinds may meet the filter.
    private var needed: Component? {
        calendar.components.first { ComponentTree.isPlaced($0.name) && !$0.isAbsent }
    }

    /// The kind of component that a resource needs to have, such as `VEVENT`; nil for any.
    package var component: String? { needed?.name }

    /// The span in which a resource needs to have something; nil for all times.
    package var span: Range<Int>? {
        needed.flatMap { $0.range ?? $0.components.lazy.filter { !$0.isAbsent }.compactMap(\.range).first }?.seconds
    }

    /// Whether the kind of a resource's component is enough to decide the filter.
    package var asksForKindAlone: Bool {
        calendar.range == nil && calendar.properties.isEmpty && calendar.components.count <= 1
            && calendar.components.allSatisfy { $0.isPlain && ComponentTree.isPlaced($0.name) }
    }
}
