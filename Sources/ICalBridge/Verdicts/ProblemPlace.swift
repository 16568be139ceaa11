// SPDX-License-Identifier: Apache-2.0

/// The place of a problem in a file.
package struct ProblemPlace: Equatable {
    /// The line of the file, from 1; 0 when there is none to show.
    package var line: Int
    /// The line, unfolded, or the text that the problem contains.
    package var text: String
    /// The range of the text that is meant, in Unicode scalars.
    package var mark: Range<Int>?

    /// Finds the line of the file that is meant; if that is not possible, uses the text that the problem contains.
    package init?(of problem: Problem, in source: inout FileLines) {
        var number = problem.line
        if problem.column == nil, let names = Self.properties[problem.code],
            let inside = source.first(names, inComponentAt: number)
        {
            number = inside
        }
        if number > 0, let line = source.unfolded(number) {
            let mark = Self.mark(of: problem, in: line)
            if mark != nil || number != problem.line {
                self.init(line: number, text: line, mark: mark ?? Self.value(in: line))
                return
            }
        }
        guard let text = problem.text else { return nil }
        self.init(line: 0, text: text, mark: nil)
    }

    private init(line: Int, text: String, mark: Range<Int>?) {
        self.line = line
        self.text = text
        self.mark = mark
    }

    /// The properties that a problem concerns when it names only the component's first line.
    private static let properties: [Problem.Code: [String]] = [
        "end-before-start": ["DTEND", "DURATION"], "end-equals-start": ["DTEND", "DURATION"],
        "end-type": ["DTEND"], "end-clock": ["DTEND"], "duration-of-days": ["DURATION"],
        "exclusion-rule": ["EXRULE"], "exception-with-rule": ["RRULE", "RDATE", "EXDATE"],
        "end-and-duration": ["DURATION"], "list-type": ["EXDATE", "RDATE"],
        "list-clock": ["EXDATE", "RDATE"],
        "all-day-mark": ["X-MICROSOFT-CDO-ALLDAYEVENT"], "recurrence-id-type": ["RECURRENCE-ID"],
        "recurrence-id-unreadable": ["RECURRENCE-ID"], "cancelled-by-title": ["SUMMARY"],
        "missing-start": ["SUMMARY"],
    ]

    /// The words within a longer text that a problem concerns.
    private static let words: [Problem.Code: [String]] = [
        "count-and-until": ["COUNT=", "UNTIL="], "until-type": ["UNTIL="], "until-before-start": ["UNTIL="],
    ]

    private static func mark(of problem: Problem, in line: String) -> Range<Int>? {
        if let column = problem.column {
            let found = place(column, problem.text, in: line)
            // Only one character is meant, not what surrounds it.
            let isCharacter = ["control-characters", "not-utf8", "missing-end"].contains(problem.code)
            return isCharacter ? found.map { $0.lowerBound..<$0.lowerBound + 1 } : found
        }
        switch problem.code {
        case "control-characters":
            return first(in: line) { $0.value < 32 || $0.value == 127 }
        case "not-utf8":
            return first(in: line) { $0.value > 127 }
        case "missing-end":
            // The missing part belongs before this line.
            return 0..<1
        case "rule-empty-part":
            return emptyPart(in: line)
        default: break
        }
        for word in words[problem.code] ?? ruleParts(of: problem) {
            if let found = find(word, in: line) { return found.lowerBound..<token(from: found.lowerBound, in: line) }
        }
        guard var text = problem.text else { return nil }
        // A long text was cut and ends with an ellipsis.
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

    /// The part of a rule that the message of a refusal names: `COUNT=`.
    private static func ruleParts(of problem: Problem) -> [String] {
        guard problem.code == "rule-refused" else { return [] }
        return problem.message.pieces(separatedBy: " ").compactMap { word in
            guard let sign = word.firstIndex(of: "="), sign > word.startIndex,
                word[..<sign].allSatisfy({ $0.isASCII && $0.isUppercase })
            else { return nil }
            return String(word[...sign])
        }
    }

    /// The scalars from a column (in bytes) on: those of the text if the line has it, otherwise up to a separator.
    private static func place(_ column: Int, _ text: String?, in line: String) -> Range<Int>? {
        guard column >= 1, column <= line.utf8.count else { return nil }
        // A column inside a character means that character.
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

    /// Where a part that begins at a scalar ends: at a separator, but at least one scalar on.
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

    /// The range after the first colon outside quotes.
    private static func value(in line: String) -> Range<Int>? {
        var isQuoted = false
        for (offset, scalar) in line.unicodeScalars.enumerated() {
            if scalar == "\"" { isQuoted.toggle() }
            if scalar == ":", !isQuoted { return offset + 1..<max(offset + 2, line.unicodeScalars.count) }
        }
        return nil
    }
}

extension CalendarReading {
    /// Sets each problem's line and column to its place in the file, where that can be found.
    ///
    /// - Parameter bytes: the file that was read, as iCalendar.
    public mutating func locateProblems(in bytes: [UInt8]) {
        guard !problems.isEmpty else { return }
        var source = FileLines(bytes)
        for index in problems.indices where problems[index].column == nil && problems[index].unlisted == nil {
            guard let place = ProblemPlace(of: problems[index], in: &source), place.line > 0, let mark = place.mark
            else { continue }
            problems[index].line = place.line
            problems[index].column = place.text.unicodeScalars.prefix(mark.lowerBound).reduce(1) { $0 + UTF8.width($1) }
        }
        problems = ProblemLog.sorted(problems)
    }
}
