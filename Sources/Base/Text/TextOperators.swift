// SPDX-License-Identifier: Apache-2.0

// In every module that re-exports this one, these take precedence over the standard library's, even in code that the
// compiler derives: texts are equal when their bytes are, as they are to the database and to other programs. An edit from
// “é” to “e” with an accent is an edit, and a Kelvin sign is not a K.

extension String {
    public static func == (left: String, right: String) -> Bool { left.isSameText(as: right) }
    public static func != (left: String, right: String) -> Bool { !left.isSameText(as: right) }
    public static func < (left: String, right: String) -> Bool { left.isTextBefore(right) }
    public static func > (left: String, right: String) -> Bool { right.isTextBefore(left) }
    public static func <= (left: String, right: String) -> Bool { !right.isTextBefore(left) }
    public static func >= (left: String, right: String) -> Bool { !left.isTextBefore(right) }
    public static func ~= (pattern: String, text: String) -> Bool { text.isSameText(as: pattern) }
    public static func ~= (pattern: String, text: Substring) -> Bool { text.isSameText(as: pattern) }
    public static func ~= (pattern: String, text: String?) -> Bool { text?.isSameText(as: pattern) ?? false }
    public static func ~= (pattern: String, text: Substring?) -> Bool { text?.isSameText(as: pattern) ?? false }

    public func hasPrefix(_ prefix: String) -> Bool { startsWithText(prefix) }
    public func hasSuffix(_ suffix: String) -> Bool { endsWithText(suffix) }
}

extension Substring {
    public static func == (left: Substring, right: Substring) -> Bool { left.isSameText(as: right) }
    public static func != (left: Substring, right: Substring) -> Bool { !left.isSameText(as: right) }
}

extension StringProtocol {
    public static func == <Other: StringProtocol>(left: Self, right: Other) -> Bool { left.isSameText(as: right) }
    public static func != <Other: StringProtocol>(left: Self, right: Other) -> Bool { !left.isSameText(as: right) }

    public func hasPrefix<Prefix: StringProtocol>(_ prefix: Prefix) -> Bool { startsWithText(prefix) }
    public func hasSuffix<Suffix: StringProtocol>(_ suffix: Suffix) -> Bool { endsWithText(suffix) }
}

extension Optional where Wrapped == String {
    public static func == (left: String?, right: String?) -> Bool {
        guard let left, let right else { return left.isNone && right.isNone }
        return left.isSameText(as: right)
    }
    public static func == (left: String?, right: String) -> Bool { left?.isSameText(as: right) ?? false }
    public static func == (left: String, right: String?) -> Bool { right?.isSameText(as: left) ?? false }
    public static func != (left: String?, right: String?) -> Bool { !(left == right) }
    public static func != (left: String?, right: String) -> Bool { !(left == right) }
    public static func != (left: String, right: String?) -> Bool { !(left == right) }

    fileprivate var isNone: Bool { if case .none = self { true } else { false } }
}

extension Optional where Wrapped == Substring {
    public static func == (left: Substring?, right: Substring) -> Bool { left?.isSameText(as: right) ?? false }
    public static func == (left: Substring?, right: String) -> Bool { left?.isSameText(as: right) ?? false }
    public static func != (left: Substring?, right: Substring) -> Bool { !(left == right) }
    public static func != (left: Substring?, right: String) -> Bool { !(left == right) }
}

extension Array where Element == String {
    public static func == (left: [String], right: [String]) -> Bool {
        left.elementsEqual(right) { $0.isSameText(as: $1) }
    }
    public static func != (left: [String], right: [String]) -> Bool { !(left == right) }
}

extension Optional where Wrapped == [String] {
    public static func == (left: [String]?, right: [String]?) -> Bool {
        switch (left, right) {
        case (.some(let left), .some(let right)): left == right
        case (.none, .none): true
        default: false
        }
    }
    public static func != (left: [String]?, right: [String]?) -> Bool { !(left == right) }
}

extension Dictionary where Key == ByteString, Value == String {
    public static func == (left: [ByteString: String], right: [ByteString: String]) -> Bool {
        left.count == right.count
            && left.allSatisfy { key, text in
                if let other = right[key] { text.isSameText(as: other) } else { false }
            }
    }
    public static func != (left: [ByteString: String], right: [ByteString: String]) -> Bool { !(left == right) }
}

extension Sequence where Element == String {
    public func contains(_ text: String) -> Bool { contains { $0.isSameText(as: text) } }

    /// Returns the texts sorted by their UTF-8 bytes.
    public func sorted() -> [String] { sorted { $0.isTextBefore($1) } }
}

extension Collection where Element == String {
    public func firstIndex(of text: String) -> Index? { firstIndex { $0.isSameText(as: text) } }
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
    /// The case with this raw value; the `init(rawValue:)` that the compiler derives takes a Kelvin sign for a K.
    public init?(text: some StringProtocol) {
        guard let found = Self.allCases.first(where: { $0.rawValue.isSameText(as: text) }) else { return nil }
        self = found
    }
}
