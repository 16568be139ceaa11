// SPDX-License-Identifier: Apache-2.0

/// The parts of a `multipart/form-data` body (RFC 7578), as slices of it.
struct MultipartForm {
    /// The content of the part with a name, nil when the form has none.
    static func part(named name: String, of body: [UInt8], contentType: String) -> ArraySlice<UInt8>? {
        guard let boundary = boundary(contentType) else { return nil }
        let delimiter = Array("--\(boundary)".utf8)
        var position = body.startIndex
        while let start = find(delimiter, in: body[position...]) {
            let headStart = start + delimiter.count
            guard let headEnd = find([13, 10, 13, 10], in: body[headStart...]) else { return nil }
            let contentStart = headEnd + 4
            guard let end = find([13, 10] + delimiter, in: body[contentStart...]) else { return nil }
            let head = String(decoding: body[headStart..<headEnd], as: UTF8.self).lowercased()
            if head.contains("name=\"\(name)\"") || head.contains("name=\(name)") { return body[contentStart..<end] }
            position = end + 2
        }
        return nil
    }

    private static func boundary(_ contentType: String) -> String? {
        for parameter in contentType.split(separator: ";").dropFirst() {
            let sides = parameter.split(separator: "=", maxSplits: 1)
            guard sides.count == 2, sides[0].trimmingPrefix(while: \.isWhitespace).lowercased() == "boundary" else {
                continue
            }
            let value = sides[1].filter { $0 != "\"" && !$0.isWhitespace }
            return value.isEmpty || value.count > 70 ? nil : value
        }
        return nil
    }

    private static func find(_ needle: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = needle.first else { return nil }
        var rest = bytes
        while let index = rest.firstIndex(of: first) {
            if bytes[index...].starts(with: needle) { return index }
            rest = bytes[(index + 1)...]
        }
        return nil
    }
}
