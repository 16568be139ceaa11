// SPDX-License-Identifier: Apache-2.0

/// Checks whether bytes that arrive in pieces are valid UTF-8.
package struct UTF8Check {
    private var isValid = true
    /// The first bytes of a character that ends in the next piece.
    private var begun: [UInt8] = []

    package init() {}

    package mutating func feed(_ bytes: ArraySlice<UInt8>) {
        guard isValid else { return }
        var whole = begun + bytes
        begun = []
        for length in 1...3 where length <= whole.count {
            let byte = whole[whole.count - length]
            // A character's first byte gives its length; the bytes that follow begin with the bits 10.
            guard byte & 0xC0 != 0x80 else { continue }
            let needed = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            if needed > length {
                begun = Array(whole.suffix(length))
                whole.removeLast(length)
            }
            break
        }
        if (try? UTF8Span(validating: whole.span)) == nil { isValid = false }
    }

    /// Reports whether all bytes together were valid.
    package func finish() -> Bool { isValid && begun.isEmpty }
}
