// SPDX-License-Identifier: Apache-2.0

import Base
import Testing

@Suite("The wanted parts of JSON")
struct JSONShapeTests {
    private static let shape = JSONShape.object(["kept": .list(of: .scalar, most: 1)])

    private static func read(_ text: String) throws(JSONFault) -> JSONValue {
        try JSONValue(parsing: Array(text.utf8), keeping: shape)
    }

    @Test("Members without a shape, and elements beyond those that are wanted, do not become values")
    func kept() throws {
        #expect(
            try Self.read(#"{"other":{"kept":[1]},"kept":["a",{"b":1},3,4],"other":[true,null]}"#)
                == ["kept": ["a", [:]]])
    }

    @Test("Nobody asks how large a number is that is skipped")
    func largeNumbers() throws {
        for number in ["1e400", "-9223e7203685477", "123456789012345678901234567890", "1e-999999999999"] {
            #expect(
                try Self.read(#"{"kept":[1,2,\#(number)],"other":\#(number),"x":{"y":[\#(number)]}}"#) == [
                    "kept": [1, 2]
                ])
        }
        #expect(throws: JSONFault.self) { try Self.read(#"{"kept":[1e400]}"#) }
    }

    @Test(
        "What is skipped is valid JSON",
        arguments: [
            "01", "-", "1.", "1e", "+1", "NaN", "tru", "nul", "x", "", #""\x""#, #""abc"#, "[1,]", #"{"a":1,}"#,
            "{1:2}",
        ])
    func faults(value: String) {
        #expect(throws: JSONFault.self) { try Self.read(#"{"other":\#(value)}"#) }
        #expect(throws: JSONFault.self) { try Self.read(#"{"kept":[1,2,\#(value)]}"#) }
    }
}
