// SPDX-License-Identifier: Apache-2.0

import Base

/// The items of an import's list that are left out, by number: one bit each, so that a form can carry them through all
/// pages of the longest list.
struct LeftOut: Sendable {
    /// Larger numbers are not valid.
    private static let most = 1 << 21

    private(set) var numbers: Set<Int> = []

    init() {}

    /// Reads the text from a form; unreadable text counts as empty.
    init(text: String?) {
        let bytes = text.flatMap { Base64URL.decode($0.utf8) } ?? []
        guard bytes.count <= Self.most / 8 else { return }
        for (index, byte) in bytes.enumerated() where byte != 0 {
            for bit in 0..<8 where byte & 1 << UInt8(bit) != 0 { numbers.insert(index * 8 + bit) }
        }
    }

    var text: String {
        guard let last = numbers.max() else { return "" }
        var bytes = [UInt8](repeating: 0, count: last / 8 + 1)
        for number in numbers { bytes[number / 8] |= 1 << UInt8(number % 8) }
        return Base64URL.encode(bytes)
    }

    /// Applies the boxes of one page.
    ///
    /// - Parameters:
    /// - page: the numbers of the items on the page.
    /// - chosen: the numbers of the items whose boxes are on.
    mutating func set(_ page: Range<Int>, to chosen: some Sequence<Int>) {
        numbers = numbers.filter { !page.contains($0) }
        for number in chosen where page.contains(number) && number < Self.most { numbers.insert(number) }
    }
}
