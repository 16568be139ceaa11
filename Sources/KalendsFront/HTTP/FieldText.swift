// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// Whether a field's name, or a value that ignores case, equals this lower-case ASCII text (RFC 9110 section 5.1).
    func isField(_ lowercase: StaticString) -> Bool {
        // A static string's bytes live as long as the program.
        unsafe utf8.count == lowercase.utf8CodeUnitCount
            && utf8.elementsEqual(
                UnsafeBufferPointer(start: lowercase.utf8Start, count: lowercase.utf8CodeUnitCount),
                by: { (65...90).contains($0) ? $0 | 0x20 == $1 : $0 == $1 })
    }
}
