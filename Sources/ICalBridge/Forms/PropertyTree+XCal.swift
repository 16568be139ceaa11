// SPDX-License-Identifier: Apache-2.0

/// The tree as xCal (RFC 6321 section 3).
extension PropertyTree {
    /// Writes `<vevent><properties>…</properties><components>…</components></vevent>`, each property on its own line.
    func writeXCal(to out: inout [UInt8]) {
        beginXCal(to: &out)
        if !components.isEmpty {
            out += "<components>\n".utf8
            for component in components { component.writeXCal(to: &out) }
            out += "</components>\n".utf8
        }
        Self.endXCal(name, to: &out)
    }

    /// Writes everything before the components.
    func beginXCal(to out: inout [UInt8]) {
        XMLElement.open(name.lowercased(), to: &out)
        out.append(10)
        if !properties.isEmpty {
            out += "<properties>\n".utf8
            for property in properties { property.writeXCal(to: &out) }
            out += "</properties>\n".utf8
        }
    }

    static func endXCal(_ name: String, to out: inout [UInt8]) {
        XMLElement.close(name.lowercased(), to: &out)
        out.append(10)
    }

    /// Reads the calendars within `<icalendar>`.
    static func trees(inXCal root: XMLElement) throws(FormError) -> [PropertyTree] {
        guard !root.isForeign, root.name == "icalendar" || root.name == "vcalendar" else {
            throw FormError(
                form: .xCal, .xCalRoot,
                "The XML is not a calendar: its element is \(root.name, .name), not icalendar of RFC 6321.")
        }
        var trees: [PropertyTree] = []
        for node in root.name == "vcalendar" ? [root] : root.children where !node.isForeign {
            trees.append(try PropertyTree(xCal: node, depth: 0))
        }
        guard !trees.isEmpty else {
            throw FormError(form: .xCal, .xCalEmpty, "The XML holds no calendar.")
        }
        return trees
    }

    private init(xCal node: XMLElement, depth: Int) throws(FormError) {
        guard depth < Self.depthLimit else {
            throw FormError(form: .xCal, .formTooDeep, "Components are nested too deeply.")
        }
        guard FormName.isToken(node.name) else {
            throw FormError(form: .xCal, .xCalComponent, "\(node.name.prefix(40), .name) is not a component's name.")
        }
        self.init(name: node.name.uppercased())
        for part in node.children where !part.isForeign {
            // Elements from other XML namespaces are skipped: an event has nowhere to store them.
            for child in part.children where !child.isForeign {
                switch part.name {
                case "properties": properties += try TypedProperty.read(xCal: child)
                case "components": components.append(try PropertyTree(xCal: child, depth: depth + 1))
                default: break
                }
            }
        }
    }
}

extension TypedProperty {
    /// Writes `<dtstart><parameters>…</parameters><date-time>2026-01-21T09:00:00</date-time></dtstart>`.
    ///
    /// A property whose name no XML element can have, because it begins with a digit, is left out.
    fileprivate func writeXCal(to out: inout [UInt8]) {
        let element = name.lowercased()
        guard FormName.isElement(element) else { return }
        XMLElement.open(element, to: &out)
        let named = parameters.filter { FormName.isElement($0.name) }
        if !named.isEmpty {
            out += "<parameters>".utf8
            for parameter in named {
                XMLElement.open(parameter.name.lowercased(), to: &out)
                let type = ValueType.ofParameter(parameter.name)
                for value in parameter.values {
                    // XML's booleans are in lower case.
                    XMLElement.write(type.rawValue, type == .boolean ? value.lowercased() : value, to: &out)
                }
                XMLElement.close(parameter.name.lowercased(), to: &out)
            }
            out += "</parameters>".utf8
        }
        for value in values {
            if let names = ValueType.structured[name], case .parts(let parts) = value {
                for (name, part) in zip(names, parts) { XMLElement.write(name, part.plain, to: &out) }
            } else {
                let type = FormName.isElement(type.rawValue) ? type.rawValue : ValueType.unknown.rawValue
                XMLElement.open(type, to: &out)
                value.writeXCal(to: &out)
                XMLElement.close(type, to: &out)
            }
        }
        XMLElement.close(element, to: &out)
        out.append(10)
    }

    /// Reads one property for each run of values of the same type; none when there is no value.
    fileprivate static func read(xCal node: XMLElement) throws(FormError) -> [TypedProperty] {
        let name = node.name.uppercased()
        guard FormName.isProperty(name) else {
            throw FormError(form: .xCal, .xCalProperty, "\(node.name.prefix(40), .name) is not a property's name.")
        }
        var parameters: [ContentLine.Parameter] = []
        for parameter in node["parameters"]?.children ?? [] where !parameter.isForeign && parameter.name != "value" {
            guard FormName.isToken(parameter.name) else {
                throw FormError(
                    form: .xCal, .xCalParameter, "\(parameter.name.prefix(40), .name) is not a parameter's name.")
            }
            let values = parameter.children.map { $0.name == "boolean" ? $0.trimmed.uppercased() : $0.text }
            parameters.append(.init(name: parameter.name.uppercased(), values: values))
        }
        if let names = ValueType.structured[name], node[names[0]] != nil {
            let parts = names.compactMap { node[$0].map { .text($0.trimmed) } as TypedValue? }
            return [
                TypedProperty(
                    name: name, parameters: parameters, type: ValueType.standard(of: name) ?? .text,
                    values: [.parts(parts)])
            ]
        }
        var properties: [TypedProperty] = []
        for child in node.children where !child.isForeign && child.name != "parameters" {
            guard FormName.isToken(child.name) else {
                throw FormError(form: .xCal, .xCalValue, "\(child.name.prefix(40), .name) is not a value type's name.")
            }
            let type = ValueType(rawValue: child.name)
            let value = TypedValue(xCal: child, type: type)
            if let last = properties.last, last.type == type {
                properties[properties.count - 1].values.append(value)
            } else {
                properties.append(TypedProperty(name: name, parameters: parameters, type: type, values: [value]))
            }
        }
        return properties
    }
}

extension TypedValue {
    /// The maximum number of parts in a rule: RFC 5545 and RFC 7529 define 16, and each part is compared with every other.
    private static let recurPartLimit = 64

    /// The text of a value without nested elements.
    fileprivate var plain: String {
        switch self {
        case .text(let text), .number(let text): text
        case .boolean(let flag): flag ? "true" : "false"
        case .parts, .period, .recur: ""
        }
    }

    fileprivate func writeXCal(to out: inout [UInt8]) {
        switch self {
        case .text, .number, .boolean: XMLElement.write(plain, to: &out)
        case .parts(let parts): XMLElement.write(parts.map(\.plain).joined(separator: ";"), to: &out)
        case .period(let start, let end):
            XMLElement.write("start", start, to: &out)
            XMLElement.write(end.utf8.contains(80) ? "duration" : "end", end, to: &out)
        case .recur(let parts):
            for part in parts {
                for value in part.values { XMLElement.write(part.name, value.plain, to: &out) }
            }
        }
    }

    fileprivate init(xCal node: XMLElement, type: ValueType) {
        switch type {
        case .period where !node.children.isEmpty:
            let end = node["end"] ?? node["duration"]
            self = .period(node["start"]?.trimmed ?? "", end?.trimmed ?? "")
        case .recur where !node.children.isEmpty:
            var parts: [RecurPart] = []
            for child in node.children where !child.isForeign && FormName.isToken(child.name) {
                if let index = parts.firstIndex(where: { $0.name == child.name }) {
                    parts[index].values.append(.text(child.trimmed))
                } else if parts.count < Self.recurPartLimit {
                    parts.append(RecurPart(name: child.name, values: [.text(child.trimmed)]))
                }
            }
            self = .recur(parts)
        case .text, .unknown, .uri, .binary: self = .text(node.text)
        default: self = .text(node.trimmed)
        }
    }
}
