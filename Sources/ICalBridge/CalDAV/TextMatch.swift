// SPDX-License-Identifier: Apache-2.0

/// A condition on a text (RFC 4791 section 9.7.5), with the kinds of match of RFC 6352 section 10.5.4.
struct TextMatch: Hashable, Sendable {
    enum Collation: String {
        case ascii = "i;ascii-casemap"
        case octet = "i;octet"
        case unicode = "i;unicode-casemap"
    }

    enum How: String {
        case contains
        case equals
        case startsWith = "starts-with"
        case endsWith = "ends-with"
    }

    let collation: Collation
    private let how: How
    private let isNegated: Bool
    /// The text that is looked for, without differences of case that the collation does not see.
    private let pattern: [UInt8]
    /// The failure table of the Knuth-Morris-Pratt search: for each number of bytes that were met, how many of them are met
    /// again when the next byte differs.
    private let failureTable: [Int]

    /// The maximum size in bytes of a text that is searched for.
    private static let longest = 4096

    init(_ element: XMLElement) throws(CalendarReportFault) {
        let name = element.attribute("collation") ?? "default"
        guard let collation = name == "default" ? .ascii : Collation(rawValue: name) else {
            throw .unsupportedCollation
        }
        guard let how = element.attribute("match-type").map(How.init(rawValue:)) ?? .contains,
            element.bytes.count <= Self.longest
        else { throw .unsupportedFilter }
        switch element.attribute("negate-condition") ?? "no" {
        case "yes": isNegated = true
        case "no": isNegated = false
        default: throw .invalidFilter
        }
        (self.collation, self.how) = (collation, how)
        pattern = Self.folded(element.bytes, collation)
        failureTable = Self.failureTable(of: pattern)
    }

    /// Whether the condition holds for a property or a parameter with these texts, each of which is `folded`.
    func holds(for texts: [[UInt8]]) -> Bool { texts.contains(where: isMet) != isNegated }

    private func isMet(by text: [UInt8]) -> Bool {
        switch how {
        case .contains: isWithin(text)
        case .equals: text == pattern
        case .startsWith: text.starts(with: pattern)
        case .endsWith: text.suffix(pattern.count).elementsEqual(pattern)
        }
    }

    /// Returns a text without the differences of case that a collation does not see.
    static func folded(_ text: [UInt8], _ collation: Collation) -> [UInt8] {
        switch collation {
        case .octet: text
        case .ascii: text.map { $0 >= 97 && $0 <= 122 ? $0 & 0xDF : $0 }
        // Title case first: it is what RFC 5051 compares, and unites letters that have no upper case of their own.
        case .unicode:
            Array(
                String(fromOutside: text).unicodeScalars.map(\.properties.titlecaseMapping).joined().lowercased().utf8)
        }
    }

    /// Looks for the pattern in time that grows only with the text, whatever both contain.
    private func isWithin(_ text: [UInt8]) -> Bool {
        guard !pattern.isEmpty else { return true }
        var met = 0
        for byte in text {
            while met > 0, pattern[met] != byte { met = failureTable[met - 1] }
            if pattern[met] == byte { met += 1 }
            if met == pattern.count { return true }
        }
        return false
    }

    private static func failureTable(of pattern: [UInt8]) -> [Int] {
        var failureTable = [Int](repeating: 0, count: pattern.count)
        var met = 0
        for index in pattern.indices.dropFirst() {
            while met > 0, pattern[met] != pattern[index] { met = failureTable[met - 1] }
            if pattern[met] == pattern[index] { met += 1 }
            failureTable[index] = met
        }
        return failureTable
    }
}
