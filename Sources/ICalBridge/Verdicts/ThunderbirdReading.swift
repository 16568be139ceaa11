// SPDX-License-Identifier: Apache-2.0

/// What Thunderbird makes of a file (`CalIcsParser`, with ical.js 2 in its lenient mode).
///
/// ical.js gives up a file for one line that it cannot read. A time of an entry that it cannot read stops Thunderbird
/// later, in the midst of a calendar that then never appears.
struct ThunderbirdReading {
    enum Fault: Hashable, Sendable {
        /// A line that is not a property, or is outside all components.
        case line(Int)
        /// A component that begins on a line has no END.
        case unended(Int)
        /// A second component outside all others begins.
        case several(Int)
        case noCalendar
        /// A value of a property.
        case value(String, line: Int)
    }

    private(set) var fault: Fault?

    /// The lines that begin components that have not ended, with the names of these in lower case.
    private var open: [(line: Int, name: String)] = []
    /// The first lines of the components outside all others.
    private var roots: [Int] = []
    private var isCalendar = false
    private var hasStrayEnd = false
    /// The first value that stops the app, though ical.js has read the file.
    private var stop: Fault?

    init(_ bytes: [UInt8]) {
        var lines = ThunderbirdLines(bytes)
        while fault == nil, let line = lines.next() { read(line, lines.number) }
        guard fault == nil else { return }
        if let first = open.first {
            fault = .unended(first.line)
        } else if roots.count > 1 {
            fault = .several(roots[1])
        } else {
            fault = isCalendar ? stop : .noCalendar
        }
    }

    private mutating func read(_ text: ArraySlice<UInt8>, _ number: Int) {
        guard let line = ThunderbirdLine(text) else {
            fault = .line(number)
            return
        }
        if line.isPlain, line.name == .begin {
            guard !hasStrayEnd else {
                fault = .line(number)
                return
            }
            let name = String(fromOutside: line.value).lowercased()
            if open.isEmpty {
                roots.append(number)
                isCalendar = name == "vcalendar"
            }
            open.append((number, name))
        } else if line.isPlain, line.name == .end {
            if open.popLast() == nil { hasStrayEnd = true }
        } else if open.isEmpty, roots.count < 2 || hasStrayEnd {
            fault = .line(number)
        } else if let type = line.type {
            let values = line.values(of: type)
            // A rule, and where a period ends, is read at once; times only when an entry asks for them.
            if !values.allSatisfy({ ThunderbirdLine.isRead($0, as: type) }) {
                fault = .value(line.title, line: number)
            } else if stop == nil, open.count == 2, open[1].name == "vevent" || open[1].name == "vtodo",
                !values.allSatisfy({ ThunderbirdLine.isTaken($0, as: type) })
            {
                stop = .value(line.title, line: number)
            }
        }
    }
}

/// The lines of a file, unfolded as ical.js does.
private struct ThunderbirdLines {
    private let bytes: [UInt8]
    private var position: Int
    private(set) var number = 1
    private var nextNumber = 1

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        while position < bytes.count, bytes[position].isBlank { position += 1 }
    }

    /// The next line that is not empty; nil at the end. The last one has no blanks behind it.
    mutating func next() -> ArraySlice<UInt8>? {
        while position < bytes.count {
            number = nextNumber
            var line = bytes[physicalLine()]
            while position < bytes.count, bytes[position].isBlank { line += bytes[physicalLine()].dropFirst() }
            if position == bytes.count { line = line.trimmingEnd }
            if !line.isEmpty { return line }
        }
        return nil
    }

    private mutating func physicalLine() -> Range<Int> {
        let start = position
        let feed = ByteSearch.first(10, in: bytes, from: start)
        position = feed.map { $0 + 1 } ?? bytes.count
        nextNumber += 1
        guard let feed else { return start..<bytes.count }
        return start..<(feed > start && bytes[feed - 1] == 13 ? feed - 1 : feed)
    }
}

/// A line in the parts that ical.js finds.
struct ThunderbirdLine {
    private let written: ArraySlice<UInt8>
    let name: PackedName
    private var valueType: String?
    private(set) var value: ArraySlice<UInt8>
    /// Whether it has no parameters.
    let isPlain: Bool

    /// The name in upper case.
    var title: String { String(fromOutside: written).uppercased() }

    /// Nil for a line that ical.js cannot read.
    init?(_ line: ArraySlice<UInt8>) {
        guard let end = line.firstIndex(where: { $0 == 58 || $0 == 59 }) else { return nil }
        var name = PackedName()
        for byte in line[..<end] { name.append(byte) }
        (written, self.name, isPlain) = (line[..<end], name, line[end] == 58)
        value = line[(end + 1)...]
        guard !isPlain else { return }
        var (start, position) = (end + 1, end)
        var last: Int?
        while let sign = line[(position + 1)...].firstIndex(of: 61) {
            guard sign > start else { return nil }
            let isQuoted = line[(sign + 1)...].first == 34
            let from = sign + (isQuoted ? 2 : 1)
            let rest = line[from...]
            // The value ends at its quote, or at the next parameter or the property's value.
            let close = isQuoted ? rest.firstIndex(of: 34) : rest.firstIndex { $0 == 58 || $0 == 59 } ?? line.endIndex
            guard let close else { return nil }
            if line[start..<sign].elementsEqual("VALUE".utf8, by: { $0 & 0xDF == $1 }) {
                valueType = String(fromOutside: line[from..<close]).lowercased()
            }
            last = close
            guard let next = line[close...].firstIndex(where: { $0 == 58 || $0 == 59 }), line[next] == 59 else { break }
            (start, position) = (next + 1, isQuoted ? close : next)
        }
        guard let last, let colon = line[last...].firstIndex(of: 58) else { return nil }
        value = line[(colon + 1)...]
    }

    /// The types of values that can be wrong.
    enum ValueType: String {
        case rule = "recur"
        case period, date, duration
        case time = "date-time"
    }

    /// The type of the value: of the property, or what VALUE says; nil for one that is always taken.
    var type: ValueType? {
        if name == Self.additions, !value.isEmpty {
            return value.contains(47) ? .period : value.contains(84) ? .time : .date
        }
        return valueType.map { ValueType(rawValue: $0) } ?? Self.types[name]
    }

    func values(of type: ValueType) -> [ArraySlice<UInt8>] {
        Self.lists.contains(name) ? value.split(separator: 44, omittingEmptySubsequences: false) : [value]
    }

    private static let additions = PackedName("RDATE")
    private static let lists: Set<PackedName> = [additions, PackedName("EXDATE"), PackedName("FREEBUSY")]
    private static let types: [PackedName: ValueType] = Dictionary(
        uniqueKeysWithValues: [
            "COMPLETED", "CREATED", "DTEND", "DTSTAMP", "DTSTART", "DUE", "EXDATE", "LAST-MODIFIED", "RDATE",
            "RECURRENCE-ID",
        ].map { (PackedName($0), .time) } + [
            (PackedName("DURATION"), .duration), (PackedName("FREEBUSY"), .period), (PackedName("RRULE"), .rule),
            (PackedName("EXRULE"), .rule),
        ])

    /// Whether ical.js reads a value while it reads the file.
    static func isRead(_ value: ArraySlice<UInt8>, as type: ValueType) -> Bool {
        switch type {
        case .rule: value.split(separator: 59, omittingEmptySubsequences: false).allSatisfy(isPart)
        case .period: value.contains(47)
        case .date, .time, .duration: true
        }
    }

    /// Whether Thunderbird can ask for a value that was read.
    static func isTaken(_ value: ArraySlice<UInt8>, as type: ValueType) -> Bool {
        switch type {
        case .rule: true
        case .date: value.count >= 15 ? isTime(value) : isDate(value)
        case .time: value.count == 8 ? isDate(value) : isTime(value)
        case .duration: isDuration(value)
        case .period:
            value.split(separator: 47, omittingEmptySubsequences: false).prefix(2).enumerated().allSatisfy {
                $0 == 1 && isDurationLike($1) ? isDuration($1) : isTime($1)
            }
        }
    }

    private static func isDate(_ value: ArraySlice<UInt8>) -> Bool {
        [0..<4, 4..<6, 6..<8].allSatisfy { isInteger(value.dropFirst($0.lowerBound).prefix($0.count)) }
    }

    private static func isTime(_ value: ArraySlice<UInt8>) -> Bool {
        value.count >= 15 && isDate(value) && [9, 11, 13].allSatisfy { isInteger(value.dropFirst($0).prefix(2)) }
    }

    private static func isDurationLike(_ value: ArraySlice<UInt8>) -> Bool {
        value.first == 80 || value.first == 45 && value.dropFirst().first == 80
    }

    private static func isDuration(_ value: ArraySlice<UInt8>) -> Bool {
        var (rest, parts) = (value, 0)
        while let letter = rest.firstIndex(where: { "PDWHMTS".utf8.contains($0) }) {
            if rest[letter] != 84 {
                guard rest[letter] == 80 || isInteger(rest[..<letter]) else { return false }
                parts += 1
            }
            rest = rest[(letter + 1)...]
        }
        return parts > 1
    }

    /// Whether JavaScript's `parseInt` finds a number.
    private static func isInteger(_ text: ArraySlice<UInt8>) -> Bool {
        var digits = text.drop { $0 == 32 || $0 >= 9 && $0 <= 13 }
        if digits.first == 43 || digits.first == 45 { digits = digits.dropFirst() }
        return digits.first.map { $0 >= 48 && $0 <= 57 } ?? false
    }

    private static func isPart(_ part: ArraySlice<UInt8>) -> Bool {
        let sides = part.split(separator: 61, maxSplits: 2, omittingEmptySubsequences: false)
        let name = ByteString(String(fromOutside: sides[0]).uppercased())
        let text = sides.count > 1 ? sides[1] : []
        let words = text.split(separator: 44, omittingEmptySubsequences: false)
        switch name {
        case "FREQ": return StrictValue.frequencies.contains(ByteString(String(fromOutside: text)))
        case "COUNT", "INTERVAL": return isInteger(text)
        case "UNTIL": return sides.count > 1
        case "WKST": return StrictValue.days.contains(ByteString(String(fromOutside: text)))
        case "BYDAY": return words.allSatisfy(isDay)
        default:
            guard let range = StrictValue.lists[name] else { return true }
            return words.allSatisfy { word in
                // A number with something behind it is compared with nothing.
                isInteger(word.first == 43 ? word.dropFirst() : word)
                    && (StrictValue.integer(word).map { $0 >= range.lowerBound && $0 <= range.upperBound } ?? true)
            }
        }
    }

    private static func isDay(_ word: ArraySlice<UInt8>) -> Bool {
        guard StrictValue.days.contains(ByteString(String(fromOutside: word.suffix(2)))) else { return false }
        let sign = word.first == 43 || word.first == 45 ? 1 : 0
        let number = word.dropLast(2).dropFirst(sign)
        guard !number.isEmpty else { return true }
        let places = number.allSatisfy { $0 >= 48 && $0 <= 57 } && number.first != 48
        return places && Int(String(fromOutside: number)).map { $0 <= 53 } ?? false
    }
}

extension ArraySlice<UInt8> {
    /// The line without blanks behind it; a NUL is not a blank.
    fileprivate var trimmingEnd: Self {
        var line = self
        while let last = line.last, last == 32 || last >= 9 && last <= 13 { line = line.dropLast() }
        return line
    }
}

extension UInt8 {
    /// Whether a line that begins with it goes on with the line before.
    fileprivate var isBlank: Bool { self == 32 || self == 9 }
}
