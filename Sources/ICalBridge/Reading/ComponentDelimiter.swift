// SPDX-License-Identifier: Apache-2.0

/// A line that begins or ends a component (RFC 5545 section 3.4).
///
/// Code that changes an object in place finds its components by the same lines as `CalendarReader`; otherwise the object
/// that it writes would have other components than the one that was read.
package enum ComponentDelimiter: Hashable, Sendable {
    /// The name of the component in upper case.
    case begin(String)
    case end(String)

    /// - Parameter line: an unfolded line; nil is returned for a property, and for a delimiter with parameters.
    package init?(_ line: ArraySlice<UInt8>) {
        var line = line
        while let first = line.first, first <= 32 { line = line.dropFirst() }
        func name(after keyword: String) -> String? {
            let head = line.prefix(keyword.utf8.count)
            guard head.elementsEqual(keyword.utf8, by: { $0 & 0xDF == $1 }) else { return nil }
            return Self.name(after: line[head.endIndex...])
        }
        if let name = name(after: "BEGIN") {
            self = .begin(name)
        } else if let name = name(after: "END") {
            self = .end(name)
        } else {
            return nil
        }
    }

    /// The maximum size in bytes of a name.
    package static let nameLimit = 64

    /// Returns the name in what follows `BEGIN` or `END`, without the spaces around it; nil without a colon right there, and
    /// for a name above the limit.
    static func name(after rest: ArraySlice<UInt8>) -> String? {
        let rest = rest.trimmingSpaces
        guard rest.first == 58 else { return nil }
        let name = rest.dropFirst().trimmingSpaces
        return name.count <= nameLimit ? upperCased(name) : nil
    }

    /// Returns text with ASCII letters in upper case.
    ///
    /// Every other character stays: `ſ` and `ı`, whose upper case is an ASCII letter, make no name that is known, and
    /// `STA<U+2028>NDARD` is a component that nobody knows.
    package static func upperCased(_ bytes: ArraySlice<UInt8>) -> String {
        String(fromOutside: bytes.map { $0 >= 97 && $0 <= 122 ? $0 & 0xDF : $0 })
    }
}
