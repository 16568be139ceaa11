// SPDX-License-Identifier: Apache-2.0

/// The escapes of a TEXT value (RFC 5545 section 3.3.11).
enum TextValue {
    /// The text of a value, for values that libical does not decode, such as zone names.
    static func decoded(_ value: some Collection<UInt8>) -> String { unescaped(canonical(value)) }

    /// The text of a canonical value, also of one with guarded spaces.
    static func unescaped(_ canonical: some Collection<UInt8>) -> String {
        var out: [UInt8] = []
        out.reserveCapacity(canonical.count)
        var escaped = false
        for byte in canonical {
            if escaped {
                out.append(byte == 110 ? 10 : byte == 115 ? 32 : byte)
                escaped = false
            } else if byte == 92 {
                escaped = true
            } else {
                out.append(byte)
            }
        }
        return String(fromOutside: out)
    }

    /// The same value with only the RFC's four escapes.
    ///
    /// libical turns the `\t` in `C:\temp` into a tab and an unknown escape into a space; such a backslash is meant
    /// literally and is doubled. `\"` and `\:`, which some apps write, become the bare character.
    static func canonical(_ value: some Collection<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(value.count + 8)
        var escaped = false
        for byte in value {
            if escaped {
                escaped = false
                switch byte {
                case 110, 78: out += [92, 110]
                case 92, 44, 59: out += [92, byte]
                case 34, 58: out.append(byte)
                case 10: out += [92, 92, 92, 110]
                default: out += [92, 92, byte]
                }
            } else if byte == 92 {
                escaped = true
            } else if byte == 10 {
                out += [92, 110]
            } else {
                out.append(byte)
            }
        }
        if escaped { out += [92, 92] }
        return out
    }

    /// Changes a canonical value so that libical keeps its outer spaces.
    ///
    /// libical removes spaces from both ends, but reads an unknown escape, `\s`, as one space.
    static func guardingSpaces(_ canonical: [UInt8]) -> [UInt8] {
        guard let first = canonical.first, let last = canonical.last, first == 32 || last == 32 else {
            return canonical
        }
        var out = canonical
        if last == 32 { out.replaceSubrange(out.count - 1..<out.count, with: [92, 115]) }
        if first == 32, out.count > 2 { out.replaceSubrange(0..<1, with: [92, 115]) }
        return out
    }

    /// Encodes a text as a TEXT value.
    static func encoded(_ text: some Sequence<UInt8>) -> [UInt8] {
        var out: [UInt8] = []
        for byte in text {
            switch byte {
            case 10: out += [92, 110]
            case 13: continue
            case 92, 44, 59: out += [92, byte]
            default: out.append(byte)
            }
        }
        return out
    }

    /// Splits a value at commas, or other separators, that have no backslash before them.
    static func split(_ value: ArraySlice<UInt8>, at separator: UInt8 = UInt8(ascii: ",")) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var start = value.startIndex
        var escaped = false
        for index in value.indices {
            if escaped {
                escaped = false
            } else if value[index] == 92 {
                escaped = true
            } else if value[index] == separator {
                parts.append(value[start..<index])
                start = index + 1
            }
        }
        parts.append(value[start...])
        return parts
    }
}
