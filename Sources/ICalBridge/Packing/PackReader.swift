// SPDX-License-Identifier: Apache-2.0

/// The bytes were not written by `PackWriter`, or are incomplete.
public struct PackError: Error, Hashable {
    /// The position where reading stopped, in bytes from the beginning.
    public var offset: Int
}

/// Reads what `PackWriter` wrote; any bytes may be given, and bytes in another form throw `PackError`.
public struct PackReader: Sendable {
    private let bytes: [UInt8]
    private var offset = 0
    var zones: [TimeZoneReference] = []
    /// Whether `text()` passes over texts, and returns an empty one for each.
    var skipsTexts = false

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    public var isAtEnd: Bool { offset == bytes.count }

    public func failure() -> PackError { PackError(offset: offset) }

    /// The letter of the next field; nil at the end of the record.
    public mutating func tag() throws(PackError) -> Unicode.Scalar? {
        let letter = try byte()
        return letter == 46 ? nil : Unicode.Scalar(letter)
    }

    public mutating func integer() throws(PackError) -> Int {
        let (number, end) = try number()
        guard end == 59 else { throw failure() }
        return number
    }

    public mutating func text() throws(PackError) -> String {
        let (count, end) = try number()
        guard count >= 0, count <= bytes.count - offset, end == 58 || end == 33 else { throw failure() }
        if skipsTexts {
            offset += count
            return ""
        }
        let content = bytes[offset..<offset + count]
        offset += count
        return String(decoding: end == 58 ? content : try unescaped(content), as: UTF8.self)
    }

    /// Reads something with all of its texts, also while others are passed over.
    mutating func whole<Value>(
        _ body: (inout PackReader) throws(PackError) -> Value
    ) throws(PackError) -> Value {
        let skipped = skipsTexts
        skipsTexts = false
        defer { skipsTexts = skipped }
        return try body(&self)
    }

    public mutating func list<Element>(
        _ body: (inout PackReader) throws(PackError) -> Element
    ) throws(PackError) -> [Element] {
        let count = try integer()
        // Each element takes at least one byte: a false count reserves nothing, and reading stops where the bytes end.
        guard count >= 0, count <= bytes.count - offset else { throw failure() }
        var elements: [Element] = []
        elements.reserveCapacity(min(count, 64))
        for _ in 0..<count { elements.append(try body(&self)) }
        return elements
    }

    mutating func integers() throws(PackError) -> [Int] {
        try list { (reader) throws(PackError) in try reader.integer() }
    }

    private mutating func byte() throws(PackError) -> UInt8 {
        guard offset < bytes.count else { throw failure() }
        defer { offset += 1 }
        return bytes[offset]
    }

    private mutating func number() throws(PackError) -> (Int, end: UInt8) {
        var next = try byte()
        let isNegative = next == 45
        if isNegative { next = try byte() }
        guard next >= 48, next <= 57 else { throw failure() }
        var number = 0
        while next >= 48, next <= 57 {
            let (tenfold, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let digit = Int(next - 48)
            let (sum, isOver) = tenfold.addingReportingOverflow(isNegative ? -digit : digit)
            guard !isTooLarge, !isOver else { throw failure() }
            number = sum
            next = try byte()
        }
        return (number, next)
    }

    private func unescaped(_ bytes: ArraySlice<UInt8>) throws(PackError) -> ArraySlice<UInt8> {
        var plain: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == 1 else {
                plain.append(byte)
                continue
            }
            guard let code = rest.popFirst(), code == 1 || code == 2 else { throw failure() }
            plain.append(code - 1)
        }
        return plain[...]
    }
}
