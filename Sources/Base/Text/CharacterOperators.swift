// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

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
    /// both lengths at worst, so the text must not come from outside.
    private func rangeOfText(_ text: String, from start: Index) -> Range<Index>? {
        var text = text
        let rest = utf8[start...]
        let offset = text.withUTF8 { wanted in
            // Texts of other systems may have no bytes of their own.
            unsafe rest.withContiguousStorageIfAvailable { unsafe wanted.firstOffset(in: $0) }
                ?? Array(rest).withUnsafeBufferPointer { unsafe wanted.firstOffset(in: $0) }
        }
        guard let offset else { return nil }
        let position = utf8.index(start, offsetBy: offset)
        return position..<utf8.index(position, offsetBy: text.utf8.count)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Where these bytes first occur in others, by the C library, which is fast where nothing is optimized, too.
    fileprivate func firstOffset(in bytes: Self) -> Int? {
        guard let start = baseAddress, !isEmpty else { return 0 }
        guard let other = bytes.baseAddress else { return nil }
        var offset = 0
        while offset + count <= bytes.count {
            // Proof: both buffers live during the call, and `count` bytes from any byte that is looked at are within.
            let length = bytes.count - count + 1 - offset
            guard let found = unsafe memchr(other + offset, Int32(start[0]), length) else { break }
            offset = unsafe UnsafeRawPointer(found) - UnsafeRawPointer(other)
            if unsafe memcmp(found, start, count) == 0 { return offset }
            offset += 1
        }
        return nil
    }
}
