// SPDX-License-Identifier: Apache-2.0

extension TypedProperty {
    /// Makes a typed property from a content line.
    ///
    /// A value that is not of the expected type is kept unchanged, with the type `unknown`, so that it is written back
    /// as it was.
    init(_ line: ContentLine) {
        name = line.name
        let said = line[parameter: "VALUE"].map { ValueType(rawValue: $0.lowercased()) }
        parameters = Self.merged(line.parameters)
        let type = said ?? Self.impliedType(of: line)
        if let type, type != .unknown, FormName.isToken(type.rawValue),
            let values = TypedValue.values(of: line.value, type: type, property: name)
        {
            self.type = type
            self.values = values
        } else {
            self.type = .unknown
            self.values = [.text(line.value)]
        }
    }

    /// The property as a content line; VALUE comes first, and only where the type is not the default.
    var contentLine: ContentLine {
        var line = ContentLine(name: name, value: "")
        if type != .unknown, type != ValueType.standard(of: name) {
            line.parameters.append(.init(name: "VALUE", values: [type.rawValue.uppercased()]))
        }
        line.parameters += parameters
        // RFC 5545 section 3.8.1.1 requires it; RFC 7265 section 3.6.1 leaves it out.
        if type == .binary, line[parameter: "ENCODING"] == nil {
            line.parameters.append(.init(name: "ENCODING", values: ["BASE64"]))
        }
        line.value = values.map { $0.written(as: type, property: name) }.joined(separator: ",")
        return line
    }

    /// JSON and XML allow each name once: the values of a parameter that occurs twice are joined.
    private static func merged(_ parameters: [ContentLine.Parameter]) -> [ContentLine.Parameter] {
        var result: [ContentLine.Parameter] = []
        for parameter in parameters where parameter.name != "VALUE" && FormName.isToken(parameter.name) {
            if let index = result.firstIndex(where: { $0.name == parameter.name }) {
                result[index].values += parameter.values
            } else {
                result.append(parameter)
            }
        }
        return result
    }

    /// The type of a line without VALUE; it follows from the value itself where VALUE was forgotten.
    private static func impliedType(of line: ContentLine) -> ValueType? {
        let standard = ValueType.standard(of: line.name)
        if standard == .dateTime, !line.value.utf8.contains(84) {
            return TypedValue.values(of: line.value, type: .date, property: line.name) == nil ? standard : .date
        }
        if line.name == "RDATE", line.value.utf8.contains(47) { return .period }
        if line.name == "TRIGGER", TypedValue.dateTime(line.value) != nil { return .dateTime }
        return standard
    }
}
