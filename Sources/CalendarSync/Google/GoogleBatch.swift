// SPDX-License-Identifier: Apache-2.0

/// Several calls in one request: `multipart/mixed` of `application/http` (RFC 2046 section 5.1, RFC 9112 section 10.2).
enum GoogleBatch {
    // No line of a part begins with two hyphens: JSON is written on one line, and begins with a brace.
    private static let boundary = "kalends_batch"
    private static let mostHeaders = 64
    private static let longestHeaders = 16 << 10

    static var contentType: String { "multipart/mixed; boundary=\(boundary)" }

    static func body(_ calls: [GoogleCall]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (number, call) in calls.enumerated() {
            bytes += "--\(boundary)\r\nContent-Type: application/http\r\nContent-ID: <item-\(number)>\r\n\r\n".utf8
            bytes += "\(call.method) \(call.target) HTTP/1.1\r\n".utf8
            for (name, value) in call.headers { bytes += "\(name): \(value)\r\n".utf8 }
            let body = call.bytes ?? []
            if !body.isEmpty { bytes += "Content-Length: \(body.count)\r\n".utf8 }
            bytes += "\r\n".utf8
            bytes += body
            bytes += "\r\n".utf8
        }
        bytes += "--\(boundary)--\r\n".utf8
        return bytes
    }

    /// Returns the answers by the number of their call, with nil for a call without an answer.
    ///
    /// Returns nil for an answer that is cut off, or whose parts cannot be distinguished: which calls it answers is
    /// then unknown.
    static func answers(_ answer: ProviderAnswer, count: Int) -> [GoogleAnswer?]? {
        guard let boundary = answer.field("Content-Type").flatMap(boundary), let parts = parts(answer.body, boundary)
        else { return nil }
        var answers: [GoogleAnswer?] = Array(repeating: nil, count: count)
        guard parts.count <= count else { return nil }
        for part in parts {
            guard let (headers, message) = headers(part), let id = only("content-id", headers), let number = number(id),
                number < count, answers[number] == nil, let answer = http(message)
            else { return nil }
            answers[number] = answer
        }
        return answers
    }

    /// Reads the number in `<response-item-7>`.
    private static func number(_ id: String) -> Int? {
        let prefix = "<response-item-"
        guard id.hasPrefix(prefix), id.hasSuffix(">") else { return nil }
        let digits = id.utf8.dropFirst(prefix.utf8.count).dropLast()
        guard (1...3).contains(digits.count), digits.allSatisfy({ $0 >= 48 && $0 <= 57 }) else { return nil }
        return Int(Substring(digits))
    }

    private static func boundary(_ contentType: String) -> String? {
        let fields = contentType.pieces(separatedBy: ";").map(\.withoutOuterBlanks)
        guard fields.first?.asciiLowercased == "multipart/mixed" else { return nil }
        for field in fields.dropFirst() {
            let sides = field.pieces(separatedBy: "=", maxSplits: 1, omittingEmpty: false)
            guard sides.count == 2, sides[0].asciiLowercased == "boundary" else { continue }
            var value = sides[1].utf8
            if value.first == 34, value.last == 34, value.count >= 2 { value = value.dropFirst().dropLast() }
            guard (1...70).contains(value.count), value.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 34 }) else {
                return nil
            }
            return String(Substring(value))
        }
        return nil
    }

    /// Returns the bytes between the delimiter lines; nil if the last delimiter is missing.
    private static func parts(_ bytes: [UInt8], _ boundary: String) -> [ArraySlice<UInt8>]? {
        let delimiter = Array("--\(boundary)".utf8)
        var parts: [ArraySlice<UInt8>] = []
        var start: Int?
        var line = 0
        while line < bytes.count {
            let end = bytes[line...].firstIndex(of: 10) ?? bytes.count
            if bytes[line..<end].starts(with: delimiter) {
                var rest = bytes[(line + delimiter.count)..<end]
                while let last = rest.last, last == 13 || last == 32 || last == 9 { rest.removeLast() }
                let isLast = rest.elementsEqual([45, 45])
                if rest.isEmpty || isLast {
                    if let start { parts.append(bytes[start..<line]) }
                    if isLast { return parts }
                    start = min(end + 1, bytes.count)
                }
            }
            line = end + 1
        }
        return nil
    }

    /// Returns the header lines up to the empty one, and the bytes after it.
    private static func headers(
        _ bytes: ArraySlice<UInt8>
    ) -> (headers: [(name: String, value: String)], rest: ArraySlice<UInt8>)? {
        var headers: [(name: String, value: String)] = []
        var line = bytes.startIndex
        while line < bytes.endIndex, line - bytes.startIndex < longestHeaders, headers.count <= mostHeaders {
            guard let end = bytes[line...].firstIndex(of: 10) else { return nil }
            var text = bytes[line..<end]
            if text.last == 13 { text.removeLast() }
            if text.isEmpty { return (headers, bytes[(end + 1)...]) }
            guard let colon = text.firstIndex(of: 58), colon > text.startIndex else { return nil }
            let name = String(fromOutside: text[..<colon]).asciiLowercased
            let value = String(fromOutside: text[(colon + 1)...]).withoutOuterBlanks
            headers.append((name, String(value)))
            line = end + 1
        }
        return nil
    }

    private static func only(_ name: String, _ headers: [(name: String, value: String)]) -> String? {
        let values = headers.filter { $0.name == name }
        return values.count == 1 ? values[0].value : nil
    }

    /// Reads `HTTP/1.1 200 OK`, headers, and a body.
    private static func http(_ bytes: ArraySlice<UInt8>) -> GoogleAnswer? {
        guard let end = bytes.firstIndex(of: 10), end - bytes.startIndex < 1000 else { return nil }
        let line = bytes[bytes.startIndex..<end]
        let words = String(fromOutside: line).pieces(separatedBy: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3, let status = Int(words[1]),
            (200...599).contains(status), let (headers, body) = headers(bytes[(end + 1)...])
        else { return nil }
        return GoogleAnswer(ProviderAnswer(status: status, headers: headers, body: Array(body)))
    }
}
