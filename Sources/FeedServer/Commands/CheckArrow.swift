// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// A problem on the screen: where, how bad, what, and below the line of the file with an arrow at the place.
enum CheckArrow {
    /// The most columns of the terminal that a line of the file takes.
    private static let width = 96

    static func lines(for problem: Problem, in source: inout CheckLines) -> [String] {
        let place = problem.line == 0 ? "file" : "line \(problem.line.grouped)"
        let head =
            "  \(place): \(problem.severity.rawValue): \(printable(problem.message)) [\(problem.code.rawValue)]"
        guard let excerpt = excerpt(of: problem, in: &source) else { return [head] }
        let number = excerpt.line == 0 ? "" : String(excerpt.line)
        let gutter = String(repeating: " ", count: max(0, 7 - number.count))
        let (text, arrow) = cut(excerpt.text, around: excerpt.mark)
        let lines = [head, "\(gutter)\(number) > \(text)"]
        return arrow.isEmpty ? lines : lines + [String(repeating: " ", count: max(7, number.count) + 3) + arrow]
    }

    /// A text and the scalars of it that are meant.
    struct Excerpt: Equatable {
        var line: Int
        var text: String
        var mark: Range<Int>?
    }

    /// The line of the file that is meant if it can be found, else the text that the problem has.
    static func excerpt(of problem: Problem, in source: inout CheckLines) -> Excerpt? {
        var number = problem.line
        if problem.column == nil, let names = properties[problem.code],
            let inside = source.first(names, inComponentAt: number)
        {
            number = inside
        }
        guard number > 0, let line = source.unfolded(number) else {
            return problem.text.map { Excerpt(line: 0, text: $0, mark: nil) }
        }
        if let mark = mark(of: problem, in: line) { return Excerpt(line: number, text: line, mark: mark) }
        if number != problem.line { return Excerpt(line: number, text: line, mark: value(in: line)) }
        return problem.text.map { Excerpt(line: 0, text: $0, mark: nil) }
    }

    /// What is meant when a problem names the component's first line alone: the property that it is about.
    private static let properties: [Problem.Code: [String]] = [
        "end-before-start": ["DTEND", "DURATION"], "end-equals-start": ["DTEND", "DURATION"],
        "end-type": ["DTEND"], "end-and-duration": ["DURATION"], "list-type": ["EXDATE", "RDATE"],
        "all-day-mark": ["X-MICROSOFT-CDO-ALLDAYEVENT"], "recurrence-id-type": ["RECURRENCE-ID"],
        "cancelled-by-title": ["SUMMARY"], "missing-start": ["SUMMARY"],
    ]

    /// Words that are meant within a longer text.
    private static let words: [Problem.Code: [String]] = [
        "count-and-until": ["COUNT=", "UNTIL="], "until-type": ["UNTIL="],
    ]

    private static func mark(of problem: Problem, in line: String) -> Range<Int>? {
        if let column = problem.column { return place(column, problem.text, in: line) }
        switch problem.code {
        case "control-characters":
            return first(in: line) { $0.value < 32 || $0.value == 127 }
        case "not-utf8":
            return first(in: line) { $0.value > 127 }
        case "missing-end":
            // What is missing is missing before this line.
            return 0..<1
        case "rule-empty-part":
            return emptyPart(in: line)
        default: break
        }
        for word in words[problem.code] ?? ruleParts(of: problem) {
            if let found = find(word, in: line) { return found.lowerBound..<token(from: found.lowerBound, in: line) }
        }
        guard var text = problem.text else { return nil }
        // A long text was cut, and an ellipsis put where.
        if text.count > 80, text.hasSuffix("…") { text.removeLast() }
        return find(text, in: line)
    }

    private static func first(in line: String, where holds: (Unicode.Scalar) -> Bool) -> Range<Int>? {
        line.unicodeScalars.enumerated().first { holds($0.element) }.map { $0.offset..<$0.offset + 1 }
    }

    /// The first part of a rule that has no value: `BYDAY=`.
    private static func emptyPart(in line: String) -> Range<Int>? {
        guard let value = value(in: line) else { return nil }
        var start = value.lowerBound
        let text = line.unicodeScalars.dropFirst(start)
        for part in text.split(separator: ";", omittingEmptySubsequences: false) {
            if part.isEmpty || part.last == "=" { return start..<start + max(1, part.count) }
            start += part.count + 1
        }
        return nil
    }

    /// The part of a rule that the sentence of a refusal names: `COUNT=`.
    private static func ruleParts(of problem: Problem) -> [String] {
        guard problem.code == "rule-refused" else { return [] }
        return problem.message.split(separator: " ").compactMap { word in
            guard let sign = word.firstIndex(of: "="), sign > word.startIndex,
                word[..<sign].allSatisfy({ $0.isASCII && $0.isUppercase })
            else { return nil }
            return String(word[...sign])
        }
    }

    /// The scalars from a column in bytes on: those of the text if it stands there, else up to a separator.
    private static func place(_ column: Int, _ text: String?, in line: String) -> Range<Int>? {
        guard column >= 1, column <= line.utf8.count else { return nil }
        // A column within a character means the character.
        var (start, end) = (0, 0)
        for scalar in line.unicodeScalars {
            end += UTF8.width(scalar)
            guard end < column else { break }
            start += 1
        }
        if let text, !text.isEmpty, line.unicodeScalars.dropFirst(start).starts(with: text.unicodeScalars) {
            return start..<start + text.unicodeScalars.count
        }
        return start..<token(from: start, in: line)
    }

    /// Where what begins at a scalar ends: at a separator of parts, at least one scalar on.
    private static func token(from start: Int, in line: String) -> Int {
        let rest = line.unicodeScalars.dropFirst(start)
        return start + max(1, rest.prefix { !";,:".unicodeScalars.contains($0) }.count)
    }

    private static func find(_ text: String, in line: String) -> Range<Int>? {
        let (needle, hay) = (Array(text.unicodeScalars), Array(line.unicodeScalars))
        guard !needle.isEmpty, needle.count <= hay.count else { return nil }
        for start in 0...(hay.count - needle.count) where hay[start] == needle[0] {
            if hay[start..<start + needle.count].elementsEqual(needle) { return start..<start + needle.count }
        }
        return nil
    }

    /// What stands behind the first colon outside of quotes.
    private static func value(in line: String) -> Range<Int>? {
        var isQuoted = false
        for (offset, scalar) in line.unicodeScalars.enumerated() {
            if scalar == "\"" { isQuoted.toggle() }
            if scalar == ":", !isQuoted { return offset + 1..<max(offset + 2, line.unicodeScalars.count) }
        }
        return nil
    }
}

extension CheckArrow {
    /// A text as long as the screen allows, and `^~~~` below what is meant.
    static func cut(_ text: String, around mark: Range<Int>?) -> (text: String, arrow: String) {
        // Made printable scalar by scalar, so that places stay the same.
        let shown = printable(text)
        let characters = Array(shown)
        var first = 0
        var starts: [Int] = []
        for character in characters {
            starts.append(first)
            first += character.unicodeScalars.count
        }
        let from = mark.map { mark in (starts.lastIndex { $0 <= mark.lowerBound }) ?? 0 } ?? 0
        let to = mark.map { mark in (starts.firstIndex { $0 >= mark.upperBound }) ?? characters.count } ?? from
        let widths = characters.map(columns)
        var lower = 0
        if widths.reduce(0, +) > width {
            // A third of the screen before the place, so that it is seen what it belongs to.
            var before = 0
            lower = from
            while lower > 0, before + widths[lower - 1] <= width / 3 {
                lower -= 1
                before += widths[lower]
            }
        }
        var upper = lower
        var used = 0
        while upper < characters.count, used + widths[upper] <= width {
            used += widths[upper]
            upper += 1
        }
        let line =
            (lower > 0 ? "…" : "") + String(characters[lower..<upper]) + (upper < characters.count ? "…" : "")
        guard mark != nil, from < max(upper, 1) else { return (line, "") }
        let indent = widths[lower..<from].reduce(lower > 0 ? 1 : 0, +)
        let length = widths[from..<min(max(to, from), upper)].reduce(0, +)
        return (
            line, String(repeating: " ", count: indent) + "^" + String(repeating: "~", count: max(0, length - 1))
        )
    }

    /// How many columns of a terminal a character takes.
    private static func columns(_ character: Character) -> Int {
        guard let scalar = character.unicodeScalars.first else { return 0 }
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // East Asian wide letters, and pictures.
        let isPicture =
            scalar.properties.isEmojiPresentation || character.unicodeScalars.contains { $0.value == 0xFE0F }
        let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
        ]
        return isPicture || wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }
}
