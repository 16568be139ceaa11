// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("Files that are uploaded")
struct UploadTests {
    /// A calendar of exactly this many bytes.
    private static func calendar(bytes: Int) -> String {
        let (head, tail) = ("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nX-FILL:", "\r\nEND:VCALENDAR\r\n")
        return head + String(repeating: "x", count: bytes - head.utf8.count - tail.utf8.count) + tail
    }

    private static func form(_ file: String) -> String {
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.ics\"\r\n\r\n\(file)\r\n--b--\r\n"
    }

    @Test("A file of the limit's size is taken, one byte more is 413, as a body and in a form")
    func limit() async throws {
        var settings = ServerSettings()
        settings.maxImportBytes = 100_000
        // Over a real connection, where a body comes in pieces.
        try await TestServer.run(live: true, settings: settings) { server in
            try await server.makeCircle()
            for (type, make) in [
                ("text/calendar", { $0 }), ("multipart/form-data; boundary=b", Self.form),
            ] as [(String, @Sendable (String) -> String)] {
                for (bytes, status) in [(99_999, 201), (100_000, 201), (100_001, 413)] {
                    let answer = try await server.raw(
                        .post, "/v1/circles/c/imports",
                        headers: [.authorization: "Bearer \(server.key)", .contentType: type],
                        body: ByteBuffer(string: make(Self.calendar(bytes: bytes))))
                    #expect(answer.status == status, "\(type) \(bytes): \(answer.text.prefix(300))")
                }
            }
        }
    }

    @Test("A form without the file, or one that breaks off within it, is 400")
    func forms() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let whole = Self.form(Self.calendar(bytes: 200))
            let bodies = [
                "", "--b--\r\n", String(whole.dropLast(10)), whole.replacing("name=\"file\"", with: "name=\"other\""),
                // A file's name is no part's name.
                whole.replacing("name=\"file\"; filename=\"a.ics\"", with: "name=\"x\"; filename=\"; name=file\""),
            ]
            for body in bodies {
                let answer = try await server.raw(
                    .post, "/v1/circles/c/imports",
                    headers: [
                        .authorization: "Bearer \(server.key)", .contentType: "multipart/form-data; boundary=b",
                    ], body: ByteBuffer(string: body))
                #expect(answer.status == 400, "\(body.prefix(200)): \(answer.text.prefix(200))")
            }
        }
    }

    @Test("A part is found whole, wherever the body is cut")
    func cuts() throws {
        let content = "\r\n--\r\n--bo\r\n\r\n--boundary is no boundary\r\n--b"
        let body = Array(
            ("preamble\r\n--boundaries\r\nX: y\r\n\r\nother\r\n--boundaries\r\nContent-Type: text/calendar; charset=x\r\n"
                + "content-disposition: form-data; name=file\r\n\r\n\(content)\r\n--boundaries\r\n\r\nend\r\n--boundaries--")
                .utf8)
        for size in [1, 2, 3, 7, 30, body.count] {
            for first in 0..<min(size, body.count) {
                var stream = try #require(
                    MultipartStream(part: "file", contentType: "multipart/form-data; boundary=\"boundaries\""))
                var found: [UInt8] = []
                var rest = body[...]
                try stream.feed(rest.prefix(first)) { found += $0 }
                rest = rest.dropFirst(first)
                while !rest.isEmpty {
                    try stream.feed(rest.prefix(size)) { found += $0 }
                    rest = rest.dropFirst(size)
                }
                #expect(stream.isWhole && String(decoding: found, as: UTF8.self) == content)
                #expect(stream.contentType == " text/calendar; charset=x")
            }
        }
    }

    @Test("A part's header that arrives one byte at a time is searched once")
    func drippingHeader() throws {
        let part = "\r\n" + String(repeating: "\r", count: 16_000) + "\r\n\r\n\r\n--b"
        let body = "--b" + String(repeating: part, count: 3)
        var stream = try #require(MultipartStream(part: "file", contentType: "multipart/form-data; boundary=b"))
        let start = ContinuousClock.now
        for byte in body.utf8 { try stream.feed(CollectionOfOne(byte)) { _ in } }
        // It took minutes when each byte led to another look at all before it.
        #expect(ContinuousClock.now - start < .seconds(10))
    }

    @Test("A part's header has 16 KiB at most, also when it arrives at once", arguments: [0, 1])
    func longHeader(surplus: Int) throws {
        // The line break after the boundary counts too.
        let line = "X: " + String(repeating: "y", count: MultipartStream.headLimit - 5 + surplus)
        let body = Array("--b\r\n\(line)\r\n\r\n\r\n--b--".utf8)
        var stream = try #require(MultipartStream(part: "file", contentType: "multipart/form-data; boundary=b"))
        if surplus > 0 {
            #expect(throws: Refusal.self) { try stream.feed(body) { _ in } }
        } else {
            try stream.feed(body) { _ in }
        }
    }

    @Test("UTF-8 is distinguished from other bytes, wherever they are cut")
    func encodings() {
        let texts: [[UInt8]] = [
            Array("plain".utf8), Array("ä€😀".utf8), [0xE4], Array("ä€😀".utf8).dropLast(), [0x80, 0x80, 0x80, 0x80],
            [0x41, 0xC3, 0x28], [0xF0, 0x9F, 0x98, 0x80, 0xC3], [0xED, 0xA0, 0x80], [],
        ]
        for text in texts {
            let isUTF8 = String(validating: text, as: UTF8.self) != nil
            for first in 0...text.count {
                for second in first...text.count {
                    var check = UTF8Check()
                    for piece in [text[..<first], text[first..<second], text[second...]] { check.feed(piece) }
                    #expect(check.finish() == isUTF8, "\(text) \(first) \(second)")
                }
            }
        }
    }
}
