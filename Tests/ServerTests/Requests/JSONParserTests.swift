// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import ServerTestSupport

@Suite("JSON as it comes in")
struct JSONParserTests {
    @Test(
        "A fault is reported with its place",
        arguments: [
            (#"{"a": 1, "a": 2}"#, "/a", "given twice"),
            (#"{"x": {"b": [0, {"c": 1, "c": 1}]}}"#, "/x/b/1/c", "given twice"),
            (#"{"a": 1e400}"#, "/a", "too large"), (#"{"a": "\ud800"}"#, "/a", "surrogate"),
            (#"{"a": "\udc00\ud800"}"#, "/a", "surrogate"), (#"{"a/b": {"~": 1e999}}"#, "/a~1b/~0", "too large"),
            ("{\"a\": \"\u{1}\"}", "/a", "Control"), (#"{"a": 01}"#, "/a", "Line 1, column 7"),
            (#"{"a": -01}"#, "/a", "must not begin with a 0"), ("{\n\"a\" 1}", "", "Line 2, column 5"),
            (#"{"a": 1 "b": 2}"#, "", "Line 1, column 9: Here “,” or “}” is expected."), ("[1 2]", "", "“,” or “]”"),
            ("", "", "a value"), ("{", "", "name in quotes"), ("[1,]", "/1", "a value"), ("tru", "", "a value"),
            ("1 2", "", "the end"),
            (#"["\x"]"#, "/0", "backslash"), (#"["\u12"]"#, "/0", "hexadecimal"), (#"["abc"#, "/0", "ends within"),
            ("-", "", "a value"), ("1.", "", "a digit"), ("1e", "", "a digit"), ("NaN", "", "a value"),
        ])
    func faults(text: String, pointer: String, message: String) {
        do throws(JSONFault) {
            let value = try JSONValue(parsing: text.utf8)
            Issue.record("\(text) is read as \(value)")
        } catch {
            #expect(error.pointer == pointer)
            #expect(error.message.contains(message), "\(error.message)")
        }
    }

    @Test("Sixty-four levels are read and sixty-five are a fault, whatever the document's length")
    func depth() throws {
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        _ = try JSONValue(parsing: nested(JSONParser.depth + 1).utf8)
        #expect(throws: JSONFault.self) { try JSONValue(parsing: nested(JSONParser.depth + 2).utf8) }
        #expect(throws: JSONFault.self) { try JSONValue(parsing: String(repeating: "[", count: 1_000_000).utf8) }
        #expect(throws: JSONFault.self) { try JSONValue(parsing: String(repeating: #"{"a":"#, count: 200_000).utf8) }
    }

    @Test("Bytes that are not UTF-8 are not a document")
    func encoding() {
        for bytes: [UInt8] in [[34, 0xFF, 34], [34, 0xED, 0xA0, 0x80, 34], [34, 0xC0, 0x80, 34]] {
            #expect(throws: JSONFault.self) { try JSONValue(parsing: bytes) }
        }
        #expect((try? JSONValue(parsing: [0xEF, 0xBB, 0xBF, 49])) == .integer(1))
        let fault = #expect(throws: JSONFault.self) {
            try JSONValue(parsing: Array("{\n\"a\": \"Gr".utf8) + [0xF6] + Array("\u{DF}e\"}".utf8))
        }
        #expect(fault?.message == "Line 2, column 9: The document is not text in UTF-8.")
    }

    @Test("Values come as they are written")
    func values() throws {
        let text =
            #" {"s": "aé\u00e9\ud83d\ude00\n\/", "i": [0, -7, 9223372036854775807, 30.0, 1e3], "#
            + #""d": [0.5, -1E-2, 9223372036854775808], "w": [true, false, null, {}, []]} "#
        #expect(
            try JSONValue(parsing: text.utf8) == [
                "s": .string("aéé😀\n/"),
                "i": [0, -7, .integer(.max), 30, 1000],
                "d": [.number(0.5), .number(-0.01), .number(9_223_372_036_854_775_808)],
                "w": [true, false, nil, [:], []],
            ])
    }

    @Test("Foundation reads the same of random documents, whole and broken")
    func foundation() throws {
        var random = SystemRandomNumberGenerator()
        func value(_ depth: Int) -> Any {
            switch Int.random(in: 0..<(depth > 3 ? 5 : 7), using: &random) {
            case 0: return NSNull()
            case 1: return Bool.random(using: &random)
            case 2: return Int.random(in: -1_000_000...1_000_000, using: &random)
            case 3: return Double(Int.random(in: -1000...1000, using: &random)) + 0.25
            case 4:
                return String(
                    (0..<Int.random(in: 0..<8, using: &random)).map { _ in
                        "ab\"\\\n\u{7F}é😀/\u{1}".randomElement(using: &random) ?? "x"
                    })
            case 5: return (0..<Int.random(in: 0..<4, using: &random)).map { _ in value(depth + 1) }
            default:
                return Dictionary(
                    (0..<Int.random(in: 0..<4, using: &random)).map { ("k\($0)", value(depth + 1)) },
                    uniquingKeysWith: { $1 })
            }
        }
        var broken = 0
        for _ in 0..<2000 {
            let data = try JSONSerialization.data(withJSONObject: [value(0)])
            let ours = try JSONValue(parsing: data)
            let again = try JSONSerialization.jsonObject(with: Data(try ours.serialized())) as? NSArray
            #expect(again == (try JSONSerialization.jsonObject(with: data) as? NSArray))
            // What we take, Foundation takes too.
            var bytes = [UInt8](data)
            bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                "{}[]\",:0-e\\ ".utf8.randomElement(using: &random) ?? 0
            if (try? JSONValue(parsing: bytes)) != nil {
                #expect(
                    (try? JSONSerialization.jsonObject(with: Data(bytes))) != nil,
                    "\(String(decoding: bytes, as: UTF8.self))")
            } else {
                broken += 1
            }
        }
        #expect(broken > 500)
    }

    @Test("A document with a name twice is refused whole, with the place")
    func route() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let answer = try await server.raw(
                .put, "/v1/circles/c/tasks/t", headers: [.authorization: "Bearer \(server.key)"],
                body: .init(bytes: #"{"title": "a", "dueAt": "2026-03-03T09:00:00Z", "title": "b"}"#.utf8)
            ).expect(400)
            #expect(answer.pointers == ["/title"])
            try await server.call(.get, "/v1/circles/c/tasks/t").expect(404)
        }
    }
}
