// SPDX-License-Identifier: Apache-2.0

/// A type that is read from a JSON string, number, boolean or null.
protocol JSONScalar: Decodable {
    /// The kind of value in words, capitalized to begin a sentence.
    static var noun: String { get }

    /// Returns nil for a value of another kind, and for a number that does not fit.
    init?(json value: JSONValue)
}

extension JSONScalar where Self: FixedWidthInteger {
    static var noun: String { "A whole number" }

    /// Accepts integers only: beyond 2^63 the parser yields doubles, which may differ from the numbers that were
    /// written.
    init?(json value: JSONValue) {
        guard case .integer(let number) = value else { return nil }
        self.init(exactly: number)
    }
}

extension JSONScalar where Self: BinaryFloatingPoint {
    static var noun: String { "A number" }

    init?(json value: JSONValue) {
        switch value {
        case .integer(let number): self.init(number)
        case .number(let number): self.init(number)
        default: return nil
        }
        guard isFinite else { return nil }
    }
}

extension Bool: JSONScalar {
    static var noun: String { "Either true or false" }

    init?(json value: JSONValue) {
        guard case .bool(let flag) = value else { return nil }
        self = flag
    }
}

extension String: JSONScalar {
    static var noun: String { "A text" }

    init?(json value: JSONValue) {
        guard case .string(let text) = value else { return nil }
        self = text
    }
}

extension Int: JSONScalar {}
extension Int8: JSONScalar {}
extension Int16: JSONScalar {}
extension Int32: JSONScalar {}
extension Int64: JSONScalar {}
extension UInt: JSONScalar {}
extension UInt8: JSONScalar {}
extension UInt16: JSONScalar {}
extension UInt32: JSONScalar {}
extension UInt64: JSONScalar {}
extension Float: JSONScalar {}
extension Double: JSONScalar {}
