// SPDX-License-Identifier: Apache-2.0

/// Returns a text as one path segment: all but the unreserved characters of RFC 3986 are percent-encoded.
package func pathComponent(_ text: String) -> String {
    text.utf8.map { byte in
        let isAlphanumeric = (byte | 0x20) >= 97 && (byte | 0x20) <= 122 || byte >= 48 && byte <= 57
        if isAlphanumeric || [45, 46, 95, 126].contains(byte) { return String(UnicodeScalar(byte)) }
        let hex = String(byte, radix: 16, uppercase: true)
        return hex.count == 1 ? "%0\(hex)" : "%\(hex)"
    }.joined()
}
