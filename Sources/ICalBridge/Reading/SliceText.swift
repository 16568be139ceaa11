// SPDX-License-Identifier: Apache-2.0

/// One component as it is passed to libical: only properties that it decodes, each checked first, folded at 73 octets.
///
/// Anything that makes libical slow or unsafe is kept out: long lines, many parameters, raw zone names, rules, NULs.
struct SliceText {
    private(set) var bytes: [UInt8] = []
    /// The number of lines written for each field, to check that as many come back.
    private(set) var written: [DecodedProperty.Field: Int] = [:]

    /// Whether nothing was written for libical to decode.
    var isEmpty: Bool { written.isEmpty }

    mutating func begin(_ name: StaticString) { line("BEGIN:", name) }
    mutating func end(_ name: StaticString) { line("END:", name) }

    mutating func property(_ field: DecodedProperty.Field, parameters: String = "", _ value: some Collection<UInt8>) {
        written[field, default: 0] += 1
        let start = bytes.count
        bytes.append(contentsOf: field.rawValue.utf8)
        bytes.append(contentsOf: parameters.utf8)
        bytes.append(58)
        if bytes.count - start + value.count <= 73 {
            bytes.append(contentsOf: value)
        } else {
            var room = 73 - (bytes.count - start)
            var rest = value[...]
            while !rest.isEmpty {
                bytes.append(contentsOf: rest.prefix(room))
                rest = rest.dropFirst(room)
                guard !rest.isEmpty else { break }
                bytes += [10, 32]
                room = 72
            }
        }
        bytes.append(10)
    }

    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        written.removeAll(keepingCapacity: true)
    }

    mutating func terminate() { bytes.append(0) }

    private mutating func line(_ keyword: String, _ name: StaticString) {
        bytes.append(contentsOf: keyword.utf8)
        bytes.append(contentsOf: name.description.utf8)
        bytes.append(10)
    }
}
