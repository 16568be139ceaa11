// SPDX-License-Identifier: Apache-2.0

/// The parts of a `multipart/form-data` body (RFC 7578), as slices of it.
struct MultipartForm {
    struct Part {
        var content: ArraySlice<UInt8>
        /// As its own header has it.
        var contentType: String?
    }

    /// The part with a name, nil when the form has none.
    static func part(named name: String, of body: [UInt8], contentType: String) -> Part? {
        guard let boundary = parameter("boundary", of: contentType), boundary.count <= 70 else { return nil }
        let delimiter = Array("--\(boundary)".utf8)
        var position = body.startIndex
        while let start = find(delimiter, in: body[position...]) {
            let headStart = start + delimiter.count
            guard let headEnd = find([13, 10, 13, 10], in: body[headStart...]) else { return nil }
            let contentStart = headEnd + 4
            guard let end = find([13, 10] + delimiter, in: body[contentStart...]) else { return nil }
            let head = String(decoding: body[headStart..<headEnd], as: UTF8.self).lowercased()
            if head.contains("name=\"\(name)\"") || head.contains("name=\(name)") {
                let type = head.split(whereSeparator: \.isNewline).first { $0.hasPrefix("content-type:") }
                return Part(content: body[contentStart..<end], contentType: type.map { String($0.dropFirst(13)) })
            }
            position = end + 2
        }
        return nil
    }

    /// A parameter of a media type, without its quotes; nil when it is not there or says nothing.
    static func parameter(_ name: String, of contentType: String) -> String? {
        for parameter in contentType.split(separator: ";").dropFirst() {
            let sides = parameter.split(separator: "=", maxSplits: 1)
            guard sides.count == 2, sides[0].trimmingPrefix(while: \.isWhitespace).lowercased() == name else {
                continue
            }
            let value = sides[1].filter { $0 != "\"" && !$0.isWhitespace }
            return value.isEmpty ? nil : value
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
