// SPDX-License-Identifier: Apache-2.0

/// A property's name as a number, for names that reading treats in a special way.
enum PropertyKey: UInt8 {
    case uid, summary, description, location, categories, url, sequence, status, classification, transparency
    case start, end, due, recurrenceID, duration, timestamp, created, lastModified, exclusion, addition, rule
    case action, trigger, attendee
    /// What only the careful way of reading takes: EXRULE, ATTACH, REQUEST-STATUS, X-LIC-ERROR and what vCalendar 1.0 had.
    case careful
    /// BEGIN and END: never a property, so that nothing that is kept can open or close a component.
    case delimiter
    /// A name of an RFC that is kept as it is, with a text or with another value.
    case knownText, known
    /// Any other name.
    case other
}

/// A property's name of up to sixteen bytes in upper case, packed into two words.
struct PackedName: Equatable {
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

    /// A name of only capitals and hyphens, as machine words; what lies beyond the count is zero.
    @inline(__always)
    init(low: UInt64, high: UInt64, count: Int) {
        (self.low, self.high, self.count) = (low, high, count)
    }

    init() {}

    static func == (a: Self, b: Self) -> Bool { a.low == b.low && a.high == b.high && a.count == b.count }

    /// Whether it begins as the name of an extension does.
    var isExtension: Bool { low & 0xFFFF == 0x2D58 }

    fileprivate var slot: Int {
        let mixed = (low ^ high &* 0x9E37_79B9_7F4A_7C15) &* 0xD6E8_FEB8_6659_FD93
        return Int(mixed >> 56)
    }
}

extension PropertyKey {
    /// Whether the value is text that a careless writer breaks over lines.
    var isText: Bool {
        switch self {
        case .summary, .description, .location, .categories, .knownText: true
        default: false
        }
    }

    /// The key of a name that is not too long to be packed.
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

    /// Names by their hash, with free slots between them.
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
    /// Takes down where the head ends, if that is near enough.
    mutating func setHead(_ head: LineHead, _ key: PropertyKey) {
        separator = UInt16(exactly: head.separator - Int(start)) ?? 0
        self.key = key
    }

    /// The key of the property and where its `:` or `;` is; nil when it does not begin as one.
    @inline(__always)
    func head(_ bytes: Span<UInt8>) -> (key: PropertyKey, separator: Int)? {
        if separator > 0 { return (key, Int(start) + Int(separator)) }
        return LineHead(bytes, range).map {
            ($0.name.count <= PackedName.limit ? PropertyKey.of($0.name) : .other, $0.separator)
        }
    }
}

/// Where the parts of a property's line lie, found without copying anything.
struct LineHead {
    var name = PackedName()
    /// Where its `:` or `;` is.
    var separator = 0

    /// Nil when the line does not begin as a property, as `Property.nameEnd` has it.
    @inline(__always)
    init?(_ bytes: Span<UInt8>, _ range: Range<Int>) {
        if let (name, separator) = Self.capitals(bytes, range) {
            self.init(name: name, separator: separator)
        } else {
            self.init(byBytes: bytes, range)
        }
    }

    private init(name: PackedName, separator: Int) { (self.name, self.separator) = (name, separator) }

    /// The same, byte by byte.
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

    /// A name of up to sixteen capitals and hyphens right before its `:` or `;`, as most lines have it; nil for others.
    @inline(__always)
    private static func capitals(_ bytes: Span<UInt8>, _ range: Range<Int>) -> (PackedName, Int)? {
        // Two words and the byte after them; what is after the line's end is neither a letter nor a colon at first.
        guard range.lowerBound + 17 <= bytes.count else { return nil }
        let word = range.lowerBound..<range.lowerBound + 17
        let found = unsafe bytes.extracting(word).withUnsafeBytes { line -> (PackedName, Int)? in
            // Proof: seventeen bytes are there, as was just asked.
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

    /// How many bytes of a word, from its lowest, are capitals or hyphens.
    @inline(__always)
    private static func lengthOfCapitals(_ word: UInt64) -> Int {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        // No sum carries into the next byte, because the highest bit of each is left out of it.
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
