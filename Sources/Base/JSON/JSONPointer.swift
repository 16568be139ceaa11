// SPDX-License-Identifier: Apache-2.0

/// The place of a value in a JSON document (RFC 6901).
package enum JSONPointer {
    /// The maximum size in bytes of a name from outside that an error repeats.
    private static let longestName = 40

    /// Returns the step to a member whose name comes from outside.
    package static func step(_ name: String) -> String {
        // A name this long is not a misspelled field: it may be a secret in the wrong place, so it is not repeated.
        let shown = name.utf8.count > longestName ? String(name.unicodeScalars.prefix(8)) + "…" : name
        var step: [UInt8] = [UInt8(ascii: "/")]
        for byte in shown.utf8 {
            switch byte {
            case UInt8(ascii: "~"): step += "~0".utf8
            case UInt8(ascii: "/"): step += "~1".utf8
            default: step.append(byte)
            }
        }
        return String(decoding: step, as: UTF8.self)
    }
}
