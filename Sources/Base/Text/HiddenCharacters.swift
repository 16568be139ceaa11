// SPDX-License-Identifier: Apache-2.0

/// Invisible characters that change how the text around them is shown.
///
/// An override reverses the letters after it, even those of a program that prints the text within another line; a
/// filler makes a name that looks empty; tags carry words that nobody sees. The direction marks that a Hebrew or Arabic
/// text needs are kept: the two marks, and embeddings and isolates that end on the line on which they begin.
public enum HiddenCharacters {
    private enum Opening { case embedding, override, isolate }

    /// Returns the positions of the scalars to remove, in order.
    static func positions(in scalars: [Unicode.Scalar]) -> [Int] {
        var positions: [Int] = []
        var open: [(kind: Opening, position: Int)] = []
        // Openings are counted, so that a closing mark never searches them without finding one.
        var isolates = 0
        func endLine() {
            for one in open where one.kind != .override { positions.append(one.position) }
            (open, isolates) = ([], 0)
        }
        for (index, scalar) in scalars.enumerated() {
            switch scalar.value {
            case 0x0A, 0x0D, 0x2028, 0x2029: endLine()
            case 0x202A, 0x202B: open.append((.embedding, index))
            case 0x202D, 0x202E:
                open.append((.override, index))
                positions.append(index)
            case 0x2066...0x2068:
                open.append((.isolate, index))
                isolates += 1
            case 0x202C:
                // The end of an override is removed with it; within an isolate nothing outside of it can be ended.
                if let last = open.last, last.kind != .isolate {
                    open.removeLast()
                    if last.kind == .override { positions.append(index) }
                } else {
                    positions.append(index)
                }
            case 0x2069:
                guard isolates > 0, let first = open.lastIndex(where: { $0.kind == .isolate }) else {
                    positions.append(index)
                    continue
                }
                for one in open[(first + 1)...] where one.kind == .embedding { positions.append(one.position) }
                open.removeSubrange(first...)
                isolates -= 1
            case 0xE0020...0xE007F: if !isFlag(scalars, at: index) { positions.append(index) }
            default: if isNeverShown(scalar) { positions.append(index) }
            }
        }
        endLine()
        return positions.sorted()
    }

    /// Reports fillers, invisible operators, deprecated shaping controls, annotations, and the language tag.
    private static func isNeverShown(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x115F, 0x1160, 0x180E, 0x2061...0x2064, 0x206A...0x206F, 0x3164, 0xFFA0, 0xFFF9...0xFFFB, 0xE0001: true
        default: false
        }
    }

    /// Reports whether a tag belongs to the flag of a region: a black flag, then up to six tags and the one that ends
    /// them.
    private static func isFlag(_ scalars: [Unicode.Scalar], at position: Int) -> Bool {
        func isTag(_ index: Int) -> Bool { index < scalars.count && (0xE0020...0xE007F).contains(scalars[index].value) }
        var first = position
        while first > 0, position - first < 8, isTag(first - 1) { first -= 1 }
        var end = first
        while end - first < 8, isTag(end) { end += 1 }
        return first > 0 && scalars[first - 1].value == 0x1F3F4 && end - first <= 7 && scalars[end - 1].value == 0xE007F
    }
}

extension String {
    /// Whether it may have hidden characters; none of them begins below 0xE1.
    public var mayHaveHiddenCharacters: Bool { !utf8Span.isKnownASCII && utf8.contains { $0 >= 0xE1 } }

    /// Whether it has characters that `withoutHiddenCharacters` removes.
    public var hasHiddenCharacters: Bool {
        mayHaveHiddenCharacters && !HiddenCharacters.positions(in: Array(unicodeScalars)).isEmpty
    }

    /// The text without `HiddenCharacters`.
    @inlinable
    public var withoutHiddenCharacters: String { mayHaveHiddenCharacters ? HiddenCharacters.removed(from: self) : self }
}

extension HiddenCharacters {
    @usableFromInline
    static func removed(from text: String) -> String {
        let scalars = Array(text.unicodeScalars)
        var positions = positions(in: scalars)[...]
        guard !positions.isEmpty else { return text }
        var kept = String.UnicodeScalarView()
        for (position, scalar) in scalars.enumerated() {
            if positions.first == position { positions.removeFirst() } else { kept.append(scalar) }
        }
        return String(kept)
    }
}
