// SPDX-License-Identifier: Apache-2.0

/// A calendar object as its lines, to be changed in place, so that everything that is not understood is kept.
package struct ObjectTree: Hashable, Sendable {
    /// A property as it was written, unfolded.
    package struct Line: Hashable, Sendable {
        /// The name, in upper case.
        package var name: String
        package var bytes: [UInt8]
        /// The range of the parameters, between the name and the colon before the value.
        private(set) var head: Range<Int>

        package init?(_ bytes: [UInt8]) {
            guard let nameEnd = bytes.firstIndex(where: { $0 == 58 || $0 == 59 }), nameEnd > 0, nameEnd <= 64 else {
                return nil
            }
            var isQuoted = false
            let colon = bytes.indices[nameEnd...].first { index in
                if bytes[index] == 34 { isQuoted.toggle() }
                return bytes[index] == 58 && !isQuoted
            }
            // A quote that is never closed hides the colon.
            guard let colon = colon ?? bytes.firstIndex(of: 58) else { return nil }
            name = ComponentDelimiter.upperCased(bytes[..<nameEnd])
            self.bytes = bytes
            head = min(nameEnd, colon)..<colon
        }

        package init(_ name: String, _ value: String) {
            self.name = name
            bytes = Array("\(name):\(value)".utf8)
            head = name.utf8.count..<name.utf8.count
        }

        package var valueBytes: ArraySlice<UInt8> { bytes[(head.upperBound + 1)...] }
        package var value: String { String(fromOutside: valueBytes) }

        /// The parameters in upper case, such as `;TZID=EUROPE/BERLIN`.
        package var parameters: String { String(fromOutside: bytes[head]).uppercased() }

        package static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }
        package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
    }

    /// The component's name, in upper case.
    package var name: String
    package var lines: [Line] = []
    package var components: [ObjectTree] = []

    private static let depthLimit = 8
    private static let lineLimit = 50_000

    package static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.lines == right.lines && left.components == right.components
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(lines)
        hasher.combine(components)
    }

    package init(name: String) { self.name = name }

    /// Reads one VCALENDAR; returns nil when components are not closed in order, when one is where it cannot be, when there
    /// is more than one calendar, or when it is too deep or too long.
    package init?(_ text: [UInt8]) {
        var open: [ObjectTree] = []
        var closed: ObjectTree?
        var count = 0
        for bytes in Self.unfolded(text) {
            count += 1
            guard count <= Self.lineLimit else { return nil }
            switch ComponentDelimiter(bytes[...]) {
            case .begin(let name)?:
                let component = ObjectTree(name: name)
                guard closed == nil, component.canBegin(in: open) else { return nil }
                open.append(component)
            case .end(let name)?:
                guard let last = open.popLast(), last.name == name else { return nil }
                if open.isEmpty { closed = last } else { open[open.count - 1].components.append(last) }
            case nil:
                guard !open.isEmpty, let line = Line(bytes) else { return nil }
                open[open.count - 1].lines.append(line)
            }
        }
        guard open.isEmpty, let closed, closed.name == "VCALENDAR" else { return nil }
        self = closed
    }

    /// Whether this component can begin within those that are open.
    ///
    /// Where an END is missing, `CalendarReader` ends what is open, and reads the lines that follow as others'. Such lines
    /// are not in the order in which they are written here, so that an edit would change what they belong to.
    private func canBegin(in open: [ObjectTree]) -> Bool {
        // Bytes that are not UTF-8 are longer when they are written.
        guard name.utf8.count <= ComponentDelimiter.nameLimit else { return false }
        return switch name {
        case "VCALENDAR": open.isEmpty
        case "VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VTIMEZONE": open.count == 1
        case let name where Self.innermost.contains { $0 == name }:
            open.count < Self.depthLimit && !open.contains { part in Self.innermost.contains { $0 == part.name } }
        default: !open.isEmpty && open.count < Self.depthLimit
        }
    }

    /// Components that hold none of the same kind.
    private static let innermost = ["VALARM", "STANDARD", "DAYLIGHT"]

    /// Returns the lines without their folds (RFC 5545 section 3.1); empty ones are left out.
    ///
    /// A carriage return by itself ends a line, as it does for `CalendarReader`: a property behind one would otherwise be
    /// part of the line before it, and be lost with it when that one is replaced.
    static func unfolded(_ text: [UInt8]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for line in text.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
            if let first = line.first, first == 32 || first == 9, !lines.isEmpty {
                lines[lines.count - 1] += line.dropFirst()
            } else if line.contains(where: { $0 > 32 }) {
                lines.append(Array(line))
            }
        }
        return lines
    }

    /// The text with CRLF, folded at 75 octets between characters.
    package var text: [UInt8] {
        var out: [UInt8] = []
        write(to: &out)
        return out
    }

    private func write(to out: inout [UInt8]) {
        Self.write(Array("BEGIN:\(name)".utf8), to: &out)
        for line in lines { Self.write(line.bytes, to: &out) }
        for component in components { component.write(to: &out) }
        Self.write(Array("END:\(name)".utf8), to: &out)
    }

    private static func write(_ line: [UInt8], to out: inout [UInt8]) {
        ContentLine.fold(line, to: &out)
        out += [13, 10]
    }

    /// Returns the first line with this name.
    package func line(_ name: String) -> Line? { lines.first { $0.name == name } }

    /// Replaces the lines of some names by those of another component.
    package mutating func replace(_ names: [String], by other: ObjectTree) {
        func isNamed(_ line: Line) -> Bool { names.contains { $0 == line.name } }
        let index = lines.firstIndex(where: isNamed) ?? lines.count
        lines.removeAll(where: isNamed)
        lines.insert(contentsOf: other.lines.filter(isNamed), at: min(index, lines.count))
    }

    package mutating func set(_ line: Line) {
        if let position = lines.firstIndex(where: { $0.name == line.name }) {
            lines[position] = line
        } else {
            lines.append(line)
        }
    }
}
