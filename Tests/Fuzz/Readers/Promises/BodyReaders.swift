// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import NIOCore

@testable import CalendarSync
@testable import KalendsCore
@testable import KalendsFront

/// What is read from a request's body, in whatever pieces it arrives.
extension Reader {
    static let bodies = [
        Reader(name: "multipart", check: multipart),
        Reader(name: "lines", check: lines),
        Reader(name: "form", check: form),
        Reader(name: "edge", check: EdgePromises.check),
        Reader(name: "push") { bytes in
            let query = PageForm(bytes).map { form in form.pairs } ?? []
            _ = GraphPush.validationToken(query: query)
            _ = OAuthReturn(query: query)
            if let notices = GraphPush.notices(body: bytes) {
                try promise(notices.count <= GraphPush.mostNotices, "Notices have a limit.")
            }
            let headers = text(bytes).split(separator: "\n").map { line in
                let sides = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                return (name: String(sides[0]), value: sides.count == 2 ? String(sides[1]) : "")
            }
            if GooglePush.notice(headers: headers) != nil {
                try promise(GooglePush.isMeant(headers: headers), "What is read was meant.")
            }
        },
    ]

    /// The first line is the boundary, the rest the body; and the bytes as a part's content come back.
    private static func multipart(_ bytes: [UInt8]) throws {
        let parts = bytes.split(separator: 10, maxSplits: 1, omittingEmptySubsequences: false)
        let type = "multipart/form-data; boundary=" + text(Array(parts[0]))
        let body = parts.count == 2 ? Array(parts[1]) : []
        let whole = part(type, [body])
        try promise(whole == part(type, pieces(of: body)), "In pieces the same part is found.")
        let boundary = "kalends-\(StableBoundary.boundary(for: bytes))"
        let head =
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"file\"\r\nContent-Type: text/calendar\r\n\r\n"
        let written = Array(head.utf8) + bytes + Array("\r\n--\(boundary)--\r\n".utf8)
        let read = part("multipart/form-data; boundary=\"\(boundary)\"", pieces(of: written))
        try promise(
            read == Part(content: bytes, type: " text/calendar", isWhole: true, isRefused: false),
            "A part is read back.")
    }

    private struct Part: Equatable {
        var content: [UInt8]
        var type: String?
        var isWhole: Bool
        var isRefused: Bool
    }

    private static func part(_ type: String, _ pieces: [[UInt8]]) -> Part? {
        guard var stream = MultipartStream(part: "file", contentType: type) else { return nil }
        var part = Part(content: [], type: nil, isWhole: false, isRefused: false)
        do {
            for piece in pieces { try stream.feed(piece) { part.content += $0 } }
        } catch {
            // How much of the content came before the fault depends on the pieces.
            return Part(content: [], type: nil, isWhole: false, isRefused: true)
        }
        (part.type, part.isWhole) = (stream.contentType, stream.isWhole)
        if !part.isWhole { part.content = [] }
        return part
    }

    /// Lines are those between line feeds, and one that is too long keeps nothing.
    private static func lines(_ bytes: [UInt8]) throws {
        let limit = 64
        var splitter = LineSplitter(limit: limit)
        var found: [[UInt8]?] = []
        func add(_ line: LineSplitter.Line) {
            if case .complete(let bytes) = line { found.append(bytes) } else { found.append(nil) }
        }
        for piece in pieces(of: bytes) {
            splitter.append(ByteBuffer(bytes: piece))
            while let line = splitter.next() { add(line) }
            let pending = splitter.takePending()
            try promise(pending.count <= limit, "What is kept has a limit.")
            splitter.append(ByteBuffer(bytes: pending))
        }
        if let line = splitter.rest() { add(line) }
        var expected = bytes.split(separator: 10, omittingEmptySubsequences: false).map { Array($0) }
        if expected.last?.isEmpty == true { expected.removeLast() }
        try promise(found == expected.map { $0.count > limit ? nil : $0 }, "In pieces the same lines are found.")
    }

    /// A form has the fields that Foundation finds in it.
    private static func form(_ bytes: [UInt8]) throws {
        guard let form = PageForm(bytes) else { return }
        try promise(form.pairs.count <= PageForm.mostFields, "Fields have a limit.")
        let written = PercentEncoding.fields(form.pairs.map { ($0.name, $0.value) })
        try promise(PageForm(Array(written.utf8))?.isSame(as: form) == true, "A form is read back.")
        for pair in form.pairs {
            try promise(
                PercentEncoding.decode(PercentEncoding.encode(pair.value)) == pair.value, "A value is read back.")
        }
        guard bytes.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 35 }) else { return }
        var components = URLComponents()
        components.percentEncodedQuery = PercentEncoding.fields(form.pairs.map { ($0.name, $0.value) })
        let items = components.queryItems?.map { ($0.name, $0.value ?? "") } ?? []
        guard !form.pairs.isEmpty else { return }
        try promise(
            items.count == form.pairs.count
                && zip(items, form.pairs).allSatisfy { $0.0 == asDecoded($1.name) && $0.1 == asDecoded($1.value) },
            "Foundation finds the same fields.")
    }
}

/// Text as Foundation decodes it: a byte order mark at the beginning is left out.
private func asDecoded(_ text: String) -> String {
    text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
}

/// A boundary that does not occur in some bytes.
private enum StableBoundary {
    static func boundary(for bytes: [UInt8]) -> Int {
        let text = text(bytes)
        return (0...).first { !text.contains("kalends-\($0)") } ?? 0
    }
}

extension PageForm {
    /// The fields in order.
    fileprivate var pairs: [(name: String, value: String)] {
        (Mirror(reflecting: self).children.first { $0.label == "fields" }?.value as? [(name: String, value: String)])
            ?? []
    }

    fileprivate func isSame(as other: PageForm) -> Bool {
        pairs.elementsEqual(other.pairs) { $0.name == $1.name && $0.value == $1.value }
    }
}
