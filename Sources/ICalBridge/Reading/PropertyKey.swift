// SPDX-License-Identifier: Apache-2.0

/// A property's name as a number, for names that the reader treats specially.
enum PropertyKey: UInt8 {
    case uid, summary, description, location, categories, url, sequence, status, classification, transparency
    case start, end, due, recurrenceID, duration, timestamp, created, lastModified, exclusion, addition, rule
    case action, trigger, attendee
    /// Names that only careful reading handles: EXRULE, ATTACH, REQUEST-STATUS, X-LIC-ERROR and those of vCalendar 1.0.
    case careful
    /// BEGIN and END: never a property, so that no kept line can open or close a component.
    case delimiter
    /// A name from an RFC that is kept as it is, with a text or with another value.
    case knownText, known
    /// Any other name.
    case other
}

/// A property's name of up to sixteen bytes in upper case, packed into two words.
struct PackedName: Hashable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    private(set) var count = 0
    private(set) var hasLowerCase = false

    static let limit = 16

    @inline(__always) mutating func append(_ byte: UInt8) {
        var byte = byte
        if byte >= 97, byte <= 122 {
            byte -= 32
            hasLowerCase = true
        }
        if count < 8 {
            low |= UInt64(byte) << (UInt64(count) * 8)
        } else if count < Self.limit {
            high |= UInt64(byte) << (UInt64(count - 8) * 8)
        }
        count += 1
    }

    /// Makes a name of only capitals and hyphens from machine words; bytes beyond `count` are zero.
    @inline(__always)
    init(low: UInt64, high: UInt64, count: Int) {
        (self.low, self.high, self.count) = (low, high, count)
    }

    init() {}

    static func == (a: Self, b: Self) -> Bool { a.low == b.low && a.high == b.high && a.count == b.count }

    func hash(into hasher: inout Hasher) {
        hasher.combine(low)
        hasher.combine(high)
    }

    /// Whether the name begins with `X-`, as extensions do.
    var isExtension: Bool { low & 0xFFFF == 0x2D58 }

    fileprivate var slot: Int {
        let mixed = (low ^ high &* 0x9E37_79B9_7F4A_7C15) &* 0xD6E8_FEB8_6659_FD93
        return Int(mixed >> 56)
    }
}

extension PropertyKey {
    /// Whether the value is text that careless programs break over several lines.
    var isText: Bool {
        switch self {
        case .summary, .description, .location, .categories, .knownText: true
        default: false
        }
    }

    /// The key of a name that is short enough to be packed.
    static func of(_ name: PackedName) -> PropertyKey {
        var slot = name.slot
        while let entry = table[slot] {
            if entry.name == name { return entry.key }
            slot = (slot + 1) & 255
        }
        return .other
    }

    private static let special: [(String, PropertyKey)] = [
        ("UID", .uid), ("SUMMARY", .summary), ("DESCRIPTION", .description), ("LOCATION", .location),
        ("CATEGORIES", .categories), ("URL", .url), ("SEQUENCE", .sequence), ("STATUS", .status),
        ("CLASS", .classification), ("TRANSP", .transparency), ("DTSTART", .start), ("DTEND", .end), ("DUE", .due),
        ("RECURRENCE-ID", .recurrenceID), ("DURATION", .duration), ("DTSTAMP", .timestamp), ("CREATED", .created),
        ("LAST-MODIFIED", .lastModified), ("EXDATE", .exclusion), ("RDATE", .addition), ("RRULE", .rule),
        ("ACTION", .action), ("TRIGGER", .trigger), ("ATTENDEE", .attendee), ("EXRULE", .careful),
        ("ATTACH", .careful), ("REQUEST-STATUS", .careful), ("AALARM", .careful), ("DALARM", .careful),
        ("MALARM", .careful), ("PALARM", .careful), ("DCREATED", .careful), ("X-LIC-ERROR", .careful),
        ("BEGIN", .delimiter), ("END", .delimiter),
    ]

    /// A hash table of names, with free slots between them.
    private static let table: [(name: PackedName, key: PropertyKey)?] = {
        var table = [(name: PackedName, key: PropertyKey)?](repeating: nil, count: 256)
        let names = Set<ByteString>(special.map(\.0))
        let texts = PropertyNames.texts.subtracting(names).sortedTexts().map { ($0, PropertyKey.knownText) }
        let others = PropertyNames.others.subtracting(names).sortedTexts().map { ($0, PropertyKey.known) }
        for (text, key) in special + texts + others where text.utf8.count <= PackedName.limit {
            var name = PackedName()
            for byte in text.utf8 { name.append(byte) }
            var slot = name.slot
            while table[slot] != nil { slot = (slot + 1) & 255 }
            table[slot] = (name, key)
        }
        return table
    }()
}

extension LogicalLine {
    /// Stores the key and where the head ends, if that is near enough.
    mutating func setHead(_ head: LineHead, _ key: PropertyKey) {
        separator = UInt16(exactly: head.separator - Int(start)) ?? 0
        self.key = key
    }

    /// The key of the property and the index of its `:` or `;`; nil when the line does not begin like a property.
    @inline(__always)
    func head(_ bytes: Span<UInt8>) -> (key: PropertyKey, separator: Int)? {
        if separator > 0 { return (key, Int(start) + Int(separator)) }
        return LineHead(bytes, range).map {
            ($0.name.count <= PackedName.limit ? PropertyKey.of($0.name) : .other, $0.separator)
        }
    }
}

/// The parts of a property's line, found without copying anything.
struct LineHead {
    var name = PackedName()
    /// The index of its `:` or `;`.
    var separator = 0

    /// Returns nil when the line does not begin like a property, as in `Property.nameEnd`.
    @inline(__always)
    init?(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        if let (name, separator) = Self.capitals(bytes, range) {
            self.init(name: name, separator: separator)
        } else {
            self.init(byBytes: bytes, range)
        }
    }

    private init(name: PackedName, separator: Int) { (self.name, self.separator) = (name, separator) }

    /// Finds the same parts byte by byte.
    init?(byBytes bytes: Span<UInt8>, _ range: Range<Int>) {
        var index = range.lowerBound
        while index < range.upperBound, index - range.lowerBound <= 64 {
            let byte = bytes[index]
            if byte == 58 || byte == 59 || byte == 32 { break }
            guard byte.isInPropertyNames else { return nil }
            name.append(byte)
            index += 1
        }
        guard name.count > 0, name.count <= 64 else { return nil }
        while index < range.upperBound, bytes[index] == 32 { index += 1 }
        guard index < range.upperBound, bytes[index] == 58 || bytes[index] == 59 else { return nil }
        separator = index
    }

    /// A name of up to sixteen capitals and hyphens right before its `:` or `;`, as in most lines; nil for others.
    @inline(__always)
    private static func capitals(_ bytes: Span<UInt8>, _ range: Range<Int>) -> (PackedName, Int)? {
        // Two words and the byte after them; the line's end is neither a letter nor a colon, so reading past it does no
        // harm.
        guard range.lowerBound + 17 <= bytes.count else { return nil }
        let word = range.lowerBound..<range.lowerBound + 17
        let found = unsafe bytes.extracting(word).withUnsafeBytes { line -> (PackedName, Int)? in
            // Proof: the guard above ensures that there are seventeen bytes.
            let low = unsafe UInt64(littleEndian: line.loadUnaligned(as: UInt64.self))
            let first = lengthOfCapitals(low)
            if first < 8 {
                guard first > 0, unsafe line[first] == 58 || line[first] == 59 else { return nil }
                return (PackedName(low: low & lowBytes(first), high: 0, count: first), range.lowerBound + first)
            }
            let high = unsafe UInt64(littleEndian: line.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            let second = lengthOfCapitals(high)
            guard unsafe line[8 + second] == 58 || line[8 + second] == 59 else { return nil }
            return (
                PackedName(low: low, high: high & lowBytes(second), count: 8 + second), range.lowerBound + 8 + second
            )
        }
        guard let found, found.1 < range.upperBound else { return nil }
        return found
    }

    /// The number of bytes of a word, from its lowest, that are capitals or hyphens.
    @inline(__always)
    private static func lengthOfCapitals(_ word: UInt64) -> Int {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        // No sum carries into the next byte, because each byte's highest bit is removed first.
        let rest = word & ~highs
        let isCapital = (rest &+ 0x3F &* ones) & ~(rest &+ 0x25 &* ones)
        let hyphen = rest ^ 0x2D &* ones
        let isHyphen = ~(hyphen &+ 0x7F &* ones)
        let isNeither = ~(isCapital | isHyphen) & highs | word & highs
        return isNeither.trailingZeroBitCount / 8
    }

    @inline(__always)
    private static func lowBytes(_ count: Int) -> UInt64 { count == 0 ? 0 : .max >> UInt64(64 - count * 8) }
}
