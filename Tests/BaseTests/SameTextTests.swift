// SPDX-License-Identifier: Apache-2.0

import Base
import TestSupport
import Testing

@Suite("Text as bytes") struct SameTextTests {
    @Test("Two spellings of one letter are two texts")
    func spellings() {
        #expect(!"é".isSameText(as: "e\u{301}"))
        #expect("é".isSameText(as: "é"))
        #expect(ByteString("é") != ByteString("e\u{301}"))
        #expect(Set<ByteString>(["é", "e\u{301}", "é"]).count == 2)
    }

    @Test("A substring is the same text as an equal string")
    func pieces() {
        let text = "summary;é"
        #expect(text.dropFirst(8).isSameText(as: "é"))
        #expect("".isSameText(as: text.prefix(0)))
        #expect(!text.isSameText(as: "summary;è"))
    }

    @Test("Beginnings and ends are found by their bytes, inside what is shown as one character")
    func ends() {
        #expect("W/\u{301}x".startsWithText("W/"))
        #expect(!"W".startsWithText("W/"))
        #expect("x:443\u{301}".endsWithText("\u{301}"))
        #expect(!"443".endsWithText(":443"))
    }

    @Test("A million marks are compared and hashed in a moment")
    func long() {
        let marks = String(repeating: "\u{301}", count: 500_000) + String(repeating: "\u{316}", count: 500_000)
        let time = effort {
            #expect(!("a" + marks).isSameText(as: "b" + marks))
            #expect(Set([ByteString("a" + marks), ByteString("b" + marks), ByteString("a" + marks)]).count == 2)
            #expect(ByteString("a" + marks) < ByteString("b" + marks))
        }
        #expect(time < .seconds(5))
    }
}
