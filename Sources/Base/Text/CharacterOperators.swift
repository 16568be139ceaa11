// SPDX-License-Identifier: Apache-2.0

// The counterpart of TextOperators for characters: to the standard library a Greek question mark is a semicolon.

extension Character {
    /// Reports whether both are the same bytes in UTF-8. An operator would not do: between a character and a literal
    /// the compiler picks the standard library's.
    public func `is`(_ other: Character) -> Bool { utf8.elementsEqual(other.utf8) }

    public static func ~= (pattern: Character, character: Character) -> Bool { character.is(pattern) }
    public static func ~= (pattern: Character, character: Character?) -> Bool { character == pattern }
}

extension Optional where Wrapped == Character {
    public static func == (left: Character?, right: Character?) -> Bool {
        switch (left, right) {
        case (.some(let left), .some(let right)): left.is(right)
        case (.none, .none): true
        default: false
        }
    }
    public static func == (left: Character?, right: Character) -> Bool { left.map { $0.is(right) } ?? false }
    public static func != (left: Character?, right: Character?) -> Bool { !(left == right) }
    public static func != (left: Character?, right: Character) -> Bool { !(left == right) }
}

extension Sequence where Element == Character {
    public func contains(_ character: Character) -> Bool { contains { $0.is(character) } }
}

extension StringProtocol {
    public func firstIndex(of character: Character) -> Index? { firstIndex { $0.is(character) } }
    public func lastIndex(of character: Character) -> Index? { lastIndex { $0.is(character) } }

    public func split(
        separator: Character, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
    ) -> [SubSequence] {
        split(maxSplits: maxSplits, omittingEmptySubsequences: omittingEmptySubsequences) { $0.is(separator) }
    }

    /// Reports whether this text contains the UTF-8 bytes of another one.
    public func contains(_ text: String) -> Bool { rangeOfText(text, from: startIndex) != nil }

    /// Returns the text with each occurrence of another one, found by its UTF-8 bytes, replaced.
    public func replacing(_ text: String, with other: String) -> String {
        var result = ""
        var position = startIndex
        while !text.isEmpty, let found = rangeOfText(text, from: position) {
            result += self[position..<found.lowerBound]
            result += other
            position = found.upperBound
        }
        return result + self[position...]
    }

    /// Returns the parts before and after the first occurrence of another text, found by its UTF-8 bytes; nil if it
    /// does not occur.
    public func parted(at text: String) -> (before: SubSequence, after: SubSequence)? {
        rangeOfText(text, from: startIndex).map { (self[..<$0.lowerBound], self[$0.upperBound...]) }
    }

    /// The range of a text's first occurrence, found by its UTF-8 bytes. It takes time proportional to the product of
    /// both lengths, so the text must not come from outside.
    private func rangeOfText(_ text: String, from start: Index) -> Range<Index>? {
        let bytes = Array(text.utf8)
        guard let first = bytes.first else { return start..<start }
        var rest = utf8[start...]
        while let position = rest.firstIndex(of: first) {
            if utf8[position...].starts(with: bytes) {
                return position..<utf8.index(position, offsetBy: bytes.count)
            }
            rest = utf8[utf8.index(after: position)...]
        }
        return nil
    }
}
