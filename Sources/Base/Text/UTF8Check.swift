// SPDX-License-Identifier: Apache-2.0

/// Whether bytes that come piece by piece are UTF-8.
package struct UTF8Check {
    private var isValid = true
    /// The beginning of a character whose end is in the next piece.
    private var begun: [UInt8] = []

    package init() {}

    package mutating func feed(_ bytes: ArraySlice<UInt8>) {
        guard isValid else { return }
        var whole = begun + bytes
        begun = []
        for length in 1...3 where length <= whole.count {
            let byte = whole[whole.count - length]
            // The first byte of a character gives its length; those that follow begin with 10.
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

    /// Whether all of it was.
    package func finish() -> Bool { isValid && begun.isEmpty }
}
