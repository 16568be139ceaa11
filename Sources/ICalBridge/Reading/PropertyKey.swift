// SPDX-License-Identifier: Apache-2.0

/// A property's name as a number, for names that reading treats in a way of their own.
enum PropertyKey: UInt8 {
    case uid, summary, description, location, categories, url, sequence, status, classification, transparency
    case start, end, due, recurrenceID, duration, timestamp, created, lastModified, exclusion, addition, rule
    case action, trigger, attendee
    /// What only the careful way of reading takes: EXRULE, ATTACH, REQUEST-STATUS, X-LIC-ERROR and what vCalendar 1.0 had.
    case careful
    /// BEGIN and END: never a property, so that nothing that is kept can open or close a component.
    case delimiter
    /// A name of an RFC that is kept as it stands, with a text or with another value.
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

/// Where the parts of a property's line lie, found without copying anything.
struct LineHead {
    var name = PackedName()
    /// Where its `:` or `;` stands.
    var separator = 0

    /// Nil when the line does not begin as a property, as `Property.nameEnd` has it.
    init?(_ bytes: Span<UInt8>, _ range: Range<Int>) {
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
}
