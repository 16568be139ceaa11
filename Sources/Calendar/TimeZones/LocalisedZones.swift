// SPDX-License-Identifier: Apache-2.0

/// Names of time zones as programs in other languages write them: `Mitteleuropäische Zeit`, `heure d’Europe centrale`.
///
/// Derived from the long names of Unicode CLDR's metazones in 17 languages, as found in Babel 2.16, copyright Unicode,
/// Inc., under the Unicode License v3 (https://www.unicode.org/license.txt). A name of several zones means the largest.
enum LocalisedZones {
    /// The IANA id of a name in upper or lower case; nil when the name is not known.
    static func identifier(_ name: String) -> String? { byName[plain(name)] }

    private static let byName: [ByteString: String] = {
        var found: [ByteString: String] = [:]
        for entry in (names + "\n" + moreNames).replacing(";\n", with: "; ").split(separator: "\n") {
            let parts = entry.split(separator: ";").map { $0.drop { $0.is(" ") } }
            for name in parts.dropFirst() { found[plain(name)] = String(parts[0].dropFirst()) }
        }
        return found
    }()

    private static func plain(_ name: some StringProtocol) -> String {
        String(name.lowercased().map { $0.is("\u{2019}") ? "'" : $0.is("\u{A0}") ? " " : $0 })
    }
}
