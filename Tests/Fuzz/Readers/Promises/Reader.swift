// SPDX-License-Identifier: Apache-2.0

/// A reader of text from outside, and what holds for it whatever the text is.
///
/// An input is the reader's number in one byte, and the text: the group in the upper half of the byte, the place in the
/// group in the lower one. New readers come last in their group, so that the inputs that are kept stay what they are.
struct Reader: Sendable {
    let name: String
    let check: @Sendable ([UInt8]) throws -> Void

    static let groups = [texts, network, formats, heads, bodies, providers, exchange]

    /// The reader with a number; nil when there is none.
    static func numbered(_ number: UInt8) -> Reader? {
        let (group, index) = (Int(number >> 4), Int(number & 15))
        return groups.indices.contains(group) && groups[group].indices.contains(index) ? groups[group][index] : nil
    }

    static func name(of input: [UInt8]) -> String { input.first.flatMap(numbered)?.name ?? "none" }

    /// The numbers of all readers.
    static let numbers = (0...UInt8.max).filter { numbered($0) != nil }

    /// Checks an input; returns false for one that names no reader.
    static func check(_ input: [UInt8]) throws -> Bool {
        guard let reader = input.first.flatMap(numbered) else { return false }
        try reader.check(Array(input.dropFirst()))
        return true
    }
}

/// A promise that was not kept for some text.
struct BrokenPromise: Error, CustomStringConvertible {
    var description: String
}

/// Throws the sentence when something that must always hold does not.
func promise(_ holds: Bool, _ sentence: @autoclosure () -> String) throws(BrokenPromise) {
    if !holds { throw BrokenPromise(description: sentence()) }
}

/// Bytes cut into pieces at places that follow from their content, so that an input is always cut alike.
func pieces(of bytes: [UInt8]) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    var state: UInt32 = 2_166_136_261
    while !rest.isEmpty {
        state = (state ^ UInt32(rest.first ?? 0) ^ UInt32(truncatingIfNeeded: rest.count)) &* 16_777_619
        let count = min(rest.count, [1, 1, 2, 3, 5, 17, 64, 300][Int(state >> 13 & 7)])
        pieces.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
    }
    return pieces
}

/// Text of any bytes, as it is decoded from outside.
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
