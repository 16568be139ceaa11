// SPDX-License-Identifier: Apache-2.0

/// Returns the text for a terminal: characters that could move the cursor or hide a word become `?`.
package func printable(_ text: String) -> String {
    String(
        String.UnicodeScalarView(
            text.unicodeScalars.map { scalar in
                scalar.value < 32 || scalar.value == 127 || (0x80..<0xA0).contains(scalar.value)
                    || (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
                    ? "?" : scalar
            }))
}
