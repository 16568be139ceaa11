// SPDX-License-Identifier: Apache-2.0

/// One line of a file as python's ical reads it: nothing in it is repaired.
struct StrictLine {
    var name: PackedName
    /// The name as it is written.
    var written: ArraySlice<UInt8>
    var parameters: [(name: ArraySlice<UInt8>, values: [ArraySlice<UInt8>])] = []
    var value: ArraySlice<UInt8>
    var number: Int

    /// The values of the parameter with this name, which is in capitals; nil without it.
    subscript(_ name: String) -> [ArraySlice<UInt8>]? {
        parameters.isEmpty ? nil : parameters.first { $0.name.elementsEqual(name.utf8) }?.values
    }

    /// The name in upper case.
    var title: String { String(fromOutside: written).uppercased() }
}

/// The lines of a file, unfolded as python's ical does (`parsing/component.py` and `parsing/property.py`).
struct StrictLines {
    private let bytes: [UInt8]
    /// The first control character; the library refuses a file for any but tabs and the CR of a CRLF.
    private let firstControl: Int
    private var position = 0
    private(set) var number = 0
    private var nextNumber = 1

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        firstControl = Self.firstControl(bytes.span) ?? .max
    }

    private static func firstControl(_ bytes: Span<UInt8>) -> Int? {
        for index in bytes.indices where bytes[index] < 32 || bytes[index] == 127 {
            switch bytes[index] {
            case 9, 10: continue
            case 13 where index + 1 < bytes.count && bytes[index + 1] == 10: continue
            default: return index
            }
        }
        return nil
    }

    /// A line that the library cannot read.
    struct Unreadable: Error {}

    /// The next line; nil at the end. If a folded line's value does not matter, the value is only its first part.
    mutating func next(valueMatters: (PackedName) -> Bool) throws(Unreadable) -> StrictLine? {
        while position < bytes.count {
            number = nextNumber
            let first = physicalLine()
            // A `|` folds too: the library's pattern has it by mistake.
            var isFolded = false
            let rest = position
            while position < bytes.count, bytes[position] == 32 || bytes[position] == 9 || bytes[position] == 124 {
                isFolded = true
                _ = physicalLine()
            }
            guard firstControl >= position else { throw Unreadable() }
            if !isFolded {
                if first.isEmpty { continue }
                return try Self.parsed(bytes[first], number)
            }
            if let line = Self.plain(bytes[first], number), !valueMatters(line.name) { return line }
            let unfolded = unfolded(first, rest..<position)
            if !unfolded.isEmpty { return try Self.parsed(unfolded, number) }
        }
        return nil
    }

    /// Moves to the next line, and returns the range of this one without its end.
    private mutating func physicalLine() -> Range<Int> {
        let start = position
        let feed = ByteSearch.first(10, in: bytes, from: start)
        var end = feed ?? bytes.count
        position = min(end + 1, bytes.count)
        nextNumber += 1
        if feed != nil, end > start, bytes[end - 1] == 13 { end -= 1 }
        return start..<end
    }

    private func unfolded(_ first: Range<Int>, _ rest: Range<Int>) -> ArraySlice<UInt8> {
        var line = Array(bytes[first])
        var copy = self
        copy.position = rest.lowerBound
        while copy.position < rest.upperBound { line += bytes[copy.physicalLine()].dropFirst() }
        return line[...]
    }

    /// A line with a valid name and no parameters.
    private static func plain(_ text: ArraySlice<UInt8>, _ number: Int) -> StrictLine? {
        guard let end = text.firstIndex(where: { $0 == 58 || $0 == 59 }), text[end] == 58 else { return nil }
        return named(text[..<end], value: text[(end + 1)...], number)
    }

    private static func named(_ name: ArraySlice<UInt8>, value: ArraySlice<UInt8>, _ number: Int) -> StrictLine? {
        var packed = PackedName()
        for byte in name {
            guard byte.isInStrictNames || byte >= 97 && byte <= 122 else { return nil }
            packed.append(byte)
        }
        return name.isEmpty ? nil : StrictLine(name: packed, written: name, value: value, number: number)
    }

    private static func parsed(_ text: ArraySlice<UInt8>, _ number: Int) throws(Unreadable) -> StrictLine {
        guard let end = text.firstIndex(where: { $0 == 58 || $0 == 59 }),
            var line = named(text[..<end], value: text[(end + 1)...], number)
        else { throw Unreadable() }
        guard text[end] == 59 else { return line }
        var separator: UInt8 = 59
        while separator == 59, let first = line.value.first {
            guard let sign = line.value.firstIndex(of: 61) else { throw Unreadable() }
            let name = line.value[..<sign]
            // Names of parameters have to be in capitals.
            guard first != 61, name.allSatisfy(\.isInStrictNames) else { throw Unreadable() }
            line.value = line.value[(sign + 1)...]
            var values: [ArraySlice<UInt8>] = []
            repeat { values.append(try parameter(&line.value, &separator)) } while separator == 44
            line.parameters.append((name, values))
        }
        return line
    }

    /// Reads the value of a parameter and the separator after it.
    private static func parameter(
        _ rest: inout ArraySlice<UInt8>, _ separator: inout UInt8
    ) throws(Unreadable) -> ArraySlice<UInt8> {
        let value: ArraySlice<UInt8>
        if rest.first == 34 {
            guard let close = rest.dropFirst().firstIndex(of: 34) else { throw Unreadable() }
            value = rest[(rest.startIndex + 1)..<close]
            rest = rest[(close + 1)...]
        } else {
            value = rest.prefix { $0 != 44 && $0 != 58 && $0 != 59 }
            guard !value.contains(34) else { throw Unreadable() }
            rest = rest[value.endIndex...]
        }
        guard let next = rest.first, next == 44 || next == 58 || next == 59 else { throw Unreadable() }
        separator = next
        rest = rest.dropFirst()
        return value
    }
}

extension UInt8 {
    /// Whether python's ical allows the byte in the name of a parameter: capitals, digits and `-`.
    fileprivate var isInStrictNames: Bool { self >= 65 && self <= 90 || self >= 48 && self <= 57 || self == 45 }
}
