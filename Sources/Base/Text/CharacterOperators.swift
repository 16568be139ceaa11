// SPDX-License-Identifier: Apache-2.0

// What TextOperators is for text, for what is shown as one character: a single one can be a letter with a hundred
// thousand marks, and the standard library normalises it to compare it with a comma.

extension Character {
    /// Whether both are the same bytes in UTF-8. An operator would not do: between a character and a literal the compiler
    /// takes the standard library's.
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

    /// Whether this text contains the UTF-8 bytes of another one.
    public func contains(_ text: String) -> Bool { rangeOfText(text, from: startIndex) != nil }

    /// The text with each place of another one, found by its bytes in UTF-8, written otherwise.
    public func replacing(_ text: String, with other: String) -> String {
        var result = ""
        var place = startIndex
        while !text.isEmpty, let found = rangeOfText(text, from: place) {
            result += self[place..<found.lowerBound]
            result += other
            place = found.upperBound
        }
        return result + self[place...]
    }

    /// What is before the first place of another text, found by its bytes in UTF-8, and what is after it; nil without
    /// one.
    public func parted(at text: String) -> (before: SubSequence, after: SubSequence)? {
        rangeOfText(text, from: startIndex).map { (self[..<$0.lowerBound], self[$0.upperBound...]) }
    }

    /// The first place of a text's bytes, which are looked for one after the other: in time proportional to the product
    /// of both lengths, so the text must be one of our own.
    private func rangeOfText(_ text: String, from start: Index) -> Range<Index>? {
        let bytes = Array(text.utf8)
        guard let first = bytes.first else { return start..<start }
        var rest = utf8[start...]
        while let place = rest.firstIndex(of: first) {
            if utf8[place...].starts(with: bytes) {
                return place..<utf8.index(place, offsetBy: bytes.count)
            }
            rest = utf8[utf8.index(after: place)...]
        }
        return nil
    }
}
