// SPDX-License-Identifier: Apache-2.0

/// Classification of single lines.
extension ComponentTree {
    /// Removes spaces before and after a line.
    func trim(_ line: inout LogicalLine, _ bytes: Span<UInt8>) {
        while line.start < line.end, bytes[Int(line.start)] <= 32 { line.start += 1 }
    }

    /// The name after `BEGIN:` or `END:` in upper case.
    func delimiter(_ keyword: StaticString, _ line: LogicalLine, _ bytes: Span<UInt8>) -> String? {
        let length = keyword.utf8CodeUnitCount
        let range = line.range
        // Most lines end here, because they begin with another letter.
        guard range.count > length, bytes[range.lowerBound] & 0xDF == (length == 5 ? 66 : 69) else { return nil }
        let isKeyword = (0..<length).allSatisfy { index in
            // Proof: `place` is less than the length of the keyword.
            unsafe keyword.utf8Start[index] == bytes[range.lowerBound + index] & 0xDF
        }
        guard isKeyword else { return nil }
        let colon = range.lowerBound + length
        if bytes[colon] == 58, let name = Self.names.first(where: { isName($0, bytes, colon + 1, range.upperBound) }) {
            return name.description
        }
        return ComponentDelimiter.name(after: text.bytes[colon..<range.upperBound])
    }

    /// The names in nearly every delimiter.
    private static let names: [StaticString] = ["VEVENT", "VALARM", "VTODO", "VJOURNAL"]

    private func isName(_ name: StaticString, _ bytes: Span<UInt8>, _ start: Int, _ end: Int) -> Bool {
        guard end - start == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { word in
            // Proof: the length of the name was just compared.
            for index in 0..<word.count where unsafe bytes[start + index] != word[index] { return false }
            return true
        }
    }

    /// The kind of line; nil for a line that is not a property, or only looks like one below a text ("Note: bring the
    /// key").
    ///
    /// Stores in the line where its head ends, for the code that reads its value.
    func lineKind(_ line: inout LogicalLine, _ bytes: Span<UInt8>) -> LineKind? {
        guard let head = LineHead(bytes, line.range) else { return nil }
        if head.name.count <= PackedName.limit {
            let key = PropertyKey.of(head.name)
            line.setHead(head, key)
            if head.name.isExtension { return .text }
            // A line that opens or closes a component was handled before; this one has a parameter, or no component
            // name.
            if key == .delimiter { return nil }
            if key.isText { return .text }
            return key == .other && previousIsText && head.name.hasLowerCase ? nil : .other
        }
        line.setHead(head, .other)
        if head.name.isExtension { return .text }
        let name = text.bytes[Int(line.start)..<Int(line.start) + head.name.count]
        let upper = String(fromOutside: name.map { $0 >= 97 && $0 <= 122 ? $0 - 32 : $0 })
        if PropertyNames.texts.contains(upper) { return .text }
        return previousIsText && head.name.hasLowerCase && !PropertyNames.others.contains(upper) ? nil : .other
    }

    /// Joins the soft line breaks of vCalendar 1.0's QUOTED-PRINTABLE, which are not folds.
    func joinQuotedPrintable(_ line: inout LogicalLine, _ index: inout Int) {
        guard line.start < line.end, text.bytes[Int(line.end) - 1] == 61,
            // Uses the same check as decoding the value: a line that only looks quoted-printable would swallow others.
            Property(text.bytes, line)?.isQuotedPrintable == true
        else { return }
        while index < text.lines.count, text.bytes[Int(line.end) - 1] == 61, text.lines[index].range.count > 0 {
            line.end = text.lines[index].end
            index += 1
        }
    }
}
