// SPDX-License-Identifier: Apache-2.0

/// The items of an import's list that are left out, by number: one bit each, so that a form can carry them through all
/// pages of the longest list.
struct LeftOut: Sendable {
    /// Larger numbers are not valid.
    static let most = 1 << 21

    /// A form may name very many numbers, so they stay bits here too.
    private var bytes: [UInt8] = []

    init() {}

    /// Reads the text from a form; unreadable text counts as empty.
    init(text: String?) {
        let bytes = text.flatMap { Base64URL.decode($0.utf8) } ?? []
        if bytes.count <= Self.most / 8 { self.bytes = bytes }
    }

    var text: String { Base64URL.encode(Array(bytes.prefix(1 + (bytes.lastIndex { $0 != 0 } ?? -1)))) }

    /// How many items are left out.
    var count: Int { bytes.reduce(0) { $0 + $1.nonzeroBitCount } }

    func contains(_ number: Int) -> Bool {
        bytes.indices.contains(number / 8) && bytes[number / 8] & 1 << UInt8(number % 8) != 0
    }

    /// The first of the numbers that is not below another one, or nil.
    func first(from start: Int) -> Int? { (start..<max(start, bytes.count * 8)).first(where: contains) }

    /// Applies the boxes of one page.
    ///
    /// - Parameters:
    /// - page: the numbers of the items on the page.
    /// - chosen: the numbers of the items whose boxes are on.
    mutating func set(_ page: Range<Int>, to chosen: some Sequence<Int>) {
        for number in page.clamped(to: 0..<bytes.count * 8) { bytes[number / 8] &= ~(1 << UInt8(number % 8)) }
        for number in chosen where page.contains(number) && number < Self.most {
            if number / 8 >= bytes.count {
                bytes += [UInt8](repeating: 0, count: number / 8 + 1 - bytes.count)
            }
            bytes[number / 8] |= 1 << UInt8(number % 8)
        }
    }
}
