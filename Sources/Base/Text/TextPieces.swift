// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// Splits the text at an ASCII mark, found by bytes: a combining character after the mark does not hide it.
    public func pieces(
        separatedBy scalar: Unicode.Scalar, maxSplits: Int = .max, omittingEmpty: Bool = true
    ) -> [Substring] {
        Substring(self).utf8.split(
            separator: UInt8(ascii: scalar), maxSplits: maxSplits, omittingEmptySubsequences: omittingEmpty
        ).map { Substring($0) }
    }

    /// The text without leading and trailing blanks and tabs.
    public var withoutOuterBlanks: Substring {
        var bytes = Substring(self).utf8
        while let first = bytes.first, first == 32 || first == 9 { bytes.removeFirst() }
        while let last = bytes.last, last == 32 || last == 9 { bytes.removeLast() }
        return Substring(bytes)
    }

    /// The text without any blanks and tabs.
    public var withoutBlanks: String {
        guard utf8.contains(where: { $0 == 32 || $0 == 9 }) else { return String(self) }
        return String(fromOutside: utf8.filter { $0 != 32 && $0 != 9 })
    }

    /// The text with ASCII letters in lower case, the form in which keywords of protocols are compared.
    public var asciiLowercased: String {
        guard utf8.contains(where: { $0 >= 65 && $0 <= 90 }) else { return String(self) }
        return String(decoding: utf8.map { $0 >= 65 && $0 <= 90 ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
