// SPDX-License-Identifier: Apache-2.0

import Base
import Testing

@Suite("JSON as it is written")
struct JSONNodeTests {
    @Test("Order, two members of one name, and the digits of numbers are kept")
    func kept() throws {
        let text = #"{"b":[10.50,1e400,-0,12345678901234567890],"a":"x\n\"\\é","b":{"":null},"c":[true,false,[],{}]}"#
        let node = try JSONNode(parsing: Array(text.utf8))
        guard case .object(let members) = node else {
            Issue.record("It is no object.")
            return
        }
        #expect(members.map(\.name) == ["b", "a", "b", "c"])
        #expect(
            members.first?.value
                == .array([.number("10.50"), .number("1e400"), .number("-0"), .number("12345678901234567890")]))
        var bytes: [UInt8] = []
        node.write(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }

    @Test("Half of a surrogate pair becomes one replacement character, and what follows it is kept")
    func halves() throws {
        let text = #"["\ud834\udd1e", "\ud834 ", "\ud834\u0041", "\udd1e\ud834", "\ud834\ud834\udd1e"]"#
        #expect(
            try JSONNode(parsing: Array(text.utf8))
                == .array(["𝄞", "\u{FFFD} ", "\u{FFFD}A", "\u{FFFD}\u{FFFD}", "\u{FFFD}𝄞"].map(JSONNode.string)))
    }

    @Test("A tree of nodes and one of values are refused for the same reasons, at the same place")
    func sameFaults() throws {
        for text in [
            "", " ", "{", "[1,]", "tru", "1 2", #"["\x"]"#, #"["\u12"]"#, #"["abc"#, "-", "1.", "1e", "NaN",
            "{\n\"a\" 1}", #"{"a": 01}"#, "{\"a\": [\"\u{1}\"]}", #"{"a":1,}"#, #"{1:2}"#, "[1 2]", "\u{FEFF}[}",
            String(repeating: "[", count: 100_000), String(repeating: #"{"a":"#, count: 100_000),
        ] {
            let bytes = Array(text.utf8)
            let fault = try #require(throws: JSONFault.self) { try JSONNode(parsing: bytes) }
            let other = try #require(throws: JSONFault.self) { try JSONValue(parsing: bytes) }
            #expect(fault == other)
        }
        #expect(throws: JSONFault.self) { try JSONNode(parsing: [34, 0xFF, 34]) }
    }

    @Test("Valid and invalid numbers", arguments: ["0", "-0", "10.50", "1e5", "1E-5", "12345678901234567890"])
    func numbers(text: String) {
        #expect(JSONNode.isNumber(text))
        for other in ["+\(text)", "0\(text)", "\(text).", "\(text)e", "\(text) ", "", "-", ".5", "x"] {
            #expect(!JSONNode.isNumber(other))
        }
    }
}
