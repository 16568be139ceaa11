// SPDX-License-Identifier: Apache-2.0

/// Recognizes lines that a generator's template has indented, and that the rule of folding (RFC 5545 section 3.1) would join
/// to the line before them.
///
/// A line is one of its own if it begins or ends a component, follows such a line, or follows an indented line of its own and
/// begins with a property's name. The line to which it belongs is decided by the lines right before it, so that a file that is
/// read in parts gives the same result.
struct Indentation {
    private let isRecognized: Bool
    /// The number of the first such line.
    private(set) var firstLine: UInt32?
    /// Whether the line that was looked at last is indented and a line of its own.
    private(set) var isOwnLine = false
    private var followsDelimiter = false

    private static let components: Set<ByteString> = [
        "VCALENDAR", "VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VTIMEZONE", "STANDARD", "DAYLIGHT", "VALARM",
        "VAVAILABILITY", "AVAILABLE",
    ]

    init(isRecognized: Bool) { self.isRecognized = isRecognized }

    /// Registers a line that is not indented.
    mutating func beginLine(_ input: Span<UInt8>, _ line: Range<Int>) {
        isOwnLine = false
        followsDelimiter = Self.isDelimiter(input, line)
    }

    /// Looks at an indented line; returns where its text begins if it is a line of its own.
    mutating func ownLine(_ input: Span<UInt8>, _ line: Range<Int>, _ number: UInt32) -> Int? {
        guard isRecognized, let start = line.first(where: { input[$0] != 32 && input[$0] != 9 }) else { return nil }
        let text = start..<line.upperBound
        let isDelimiter = Self.isDelimiter(input, text)
        guard isDelimiter || followsDelimiter || isOwnLine && Self.beginsProperty(input, text) else { return nil }
        (isOwnLine, followsDelimiter) = (true, isDelimiter)
        firstLine = firstLine ?? number
        return start
    }

    private static func isDelimiter(_ input: Span<UInt8>, _ line: Range<Int>) -> Bool {
        guard line.count <= 24, let first = line.first.map({ input[$0] }), first == 66 || first == 69 else {
            return false
        }
        switch ComponentDelimiter(line.map { input[$0] }[...]) {
        case .begin(let name), .end(let name): return components.contains(ByteString(name))
        case nil: return false
        }
    }

    private static func beginsProperty(_ input: Span<UInt8>, _ line: Range<Int>) -> Bool {
        let name = line.prefix(40).prefix { input[$0] != 58 && input[$0] != 59 }
        guard !name.isEmpty, name.upperBound < line.upperBound, name.count < 40 else { return false }
        let text = ByteString(String(fromOutside: name.map { input[$0] }))
        return PropertyNames.texts.contains(text) || PropertyNames.others.contains(text)
            || text.string.hasPrefix("X-") && name.allSatisfy { input[$0] > 32 && input[$0] < 127 }
    }
}
