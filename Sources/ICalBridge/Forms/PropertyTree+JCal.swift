// SPDX-License-Identifier: Apache-2.0

/// The tree as jCal (RFC 7265 section 3).
extension PropertyTree {
    /// Writes `["vevent", [properties], [components]]`, each property and component on its own line.
    func writeJCal(to out: inout [UInt8]) {
        beginJCal(to: &out)
        for (index, component) in components.enumerated() {
            out += (index > 0 ? ",\n" : "\n").utf8
            component.writeJCal(to: &out)
        }
        Self.endJCal(to: &out)
    }

    /// Writes everything before the components.
    func beginJCal(to out: inout [UInt8]) {
        out.append(UInt8(ascii: "["))
        JSONText.write(name.lowercased(), to: &out)
        out += ",[".utf8
        for (index, property) in properties.enumerated() {
            out += (index > 0 ? ",\n" : "\n").utf8
            property.jCal.write(to: &out)
        }
        out += "],[".utf8
    }

    static func endJCal(to out: inout [UInt8]) { out += "]]".utf8 }

    /// Reads one component, or an array of several (RFC 7265 section 3.2).
    static func trees(inJCal node: JSONNode) throws(FormError) -> [PropertyTree] {
        guard case .array(let items) = node, let first = items.first else {
            throw FormError(form: .jCal, .jCalNotArray, "The JSON is not a calendar: it has to be an array.")
        }
        if case .string = first { return [try PropertyTree(jCal: node, depth: 0)] }
        var trees: [PropertyTree] = []
        for item in items { trees.append(try PropertyTree(jCal: item, depth: 0)) }
        return trees
    }

    private init(jCal node: JSONNode, depth: Int) throws(FormError) {
        guard depth < Self.depthLimit else {
            throw FormError(form: .jCal, .formTooDeep, "Components are nested too deeply.")
        }
        guard case .array(let items) = node, items.count >= 2, case .string(let name) = items[0],
            FormName.isToken(name), case .array(let properties) = items[1]
        else {
            throw FormError(
                form: .jCal, .jCalComponent,
                "A component has to be an array of its name, its properties and its components.")
        }
        self.init(name: name.uppercased())
        for property in properties {
            if let property = try TypedProperty(jCal: property) { self.properties.append(property) }
        }
        guard items.count > 2 else { return }
        guard case .array(let components) = items[2] else {
            throw FormError(form: .jCal, .jCalComponents, "The components of \(name, .name) are not an array.")
        }
        for component in components { self.components.append(try PropertyTree(jCal: component, depth: depth + 1)) }
    }
}

extension TypedProperty {
    /// The property as in `["dtstart", {"tzid": "Europe/Berlin"}, "date-time", "2026-01-21T09:00:00"]`.
    fileprivate var jCal: JSONNode {
        let members = parameters.map { parameter in
            let values = parameter.values.map(JSONNode.string)
            return JSONNode.Member(
                name: parameter.name.lowercased(), value: values.count == 1 ? values[0] : .array(values))
        }
        return .array(
            [.string(name.lowercased()), .object(members), .string(type.rawValue)] + values.map(\.jCal))
    }

    /// Returns nil for a property without a value.
    fileprivate init?(jCal node: JSONNode) throws(FormError) {
        guard case .array(let items) = node, items.count >= 3, case .string(let name) = items[0],
            FormName.isProperty(name.uppercased()), case .object(let members) = items[1],
            case .string(let type) = items[2], FormName.isToken(type)
        else {
            throw FormError(
                form: .jCal, .jCalProperty,
                "A property has to be an array of its name, its parameters, its type and a value.")
        }
        var parameters: [ContentLine.Parameter] = []
        for member in members where member.name.lowercased() != "value" {
            guard FormName.isToken(member.name), let values = Self.strings(member.value) else {
                throw FormError(
                    form: .jCal, .jCalParameter, "A parameter of \(name, .name) is neither text nor an array of texts.")
            }
            parameters.append(.init(name: member.name.uppercased(), values: values))
        }
        var values: [TypedValue] = []
        for item in items.dropFirst(3) where item != .null {
            guard let value = TypedValue(jCal: item, type: ValueType(rawValue: type.lowercased())) else {
                throw FormError(form: .jCal, .jCalValue, "A value of \(name, .name) cannot be read.")
            }
            values.append(value)
        }
        guard !values.isEmpty else { return nil }
        self.init(
            name: name.uppercased(), parameters: parameters, type: ValueType(rawValue: type.lowercased()),
            values: values)
    }

    private static func strings(_ node: JSONNode) -> [String]? {
        switch node {
        case .string(let text): return [text]
        case .number(let digits): return [digits]
        case .boolean(let flag): return [flag ? "TRUE" : "FALSE"]
        case .array(let items):
            let texts = items.flatMap { Self.strings($0) ?? [] }
            return texts.count == items.count ? texts : nil
        case .null, .object: return nil
        }
    }
}

extension TypedValue {
    fileprivate var jCal: JSONNode {
        switch self {
        case .text(let text): .string(text)
        case .number(let digits): .number(digits)
        case .boolean(let flag): .boolean(flag)
        case .parts(let parts): .array(parts.map(\.jCal))
        case .period(let start, let end): .array([.string(start), .string(end)])
        case .recur(let parts):
            .object(
                parts.map { part in
                    let values = part.values.map(\.jCal)
                    return .init(name: part.name, value: values.count == 1 ? values[0] : .array(values))
                })
        }
    }

    fileprivate init?(jCal node: JSONNode, type: ValueType) {
        switch node {
        case .string(let text): self = .text(text)
        case .number(let digits): self = .number(digits)
        case .boolean(let flag): self = .boolean(flag)
        case .array(let items):
            let parts = items.compactMap(Self.scalar)
            guard parts.count == items.count else { return nil }
            if type == .period, parts.count == 2, case .text(let start) = parts[0], case .text(let end) = parts[1] {
                self = .period(start, end)
            } else {
                self = .parts(parts)
            }
        case .object(let members):
            guard type == .recur else { return nil }
            var parts: [RecurPart] = []
            for member in members {
                var items = [member.value]
                if case .array(let several) = member.value { items = several }
                let values = items.compactMap(Self.scalar)
                guard FormName.isToken(member.name), values.count == items.count else { return nil }
                parts.append(RecurPart(name: member.name.lowercased(), values: values))
            }
            self = .recur(parts)
        case .null: return nil
        }
    }

    private static func scalar(_ node: JSONNode) -> TypedValue? {
        switch node {
        case .string(let text): .text(text)
        case .number(let digits): .number(digits)
        case .boolean(let flag): .boolean(flag)
        case .null, .array, .object: nil
        }
    }
}
