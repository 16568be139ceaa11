// SPDX-License-Identifier: Apache-2.0

import Base
import TestSupport
import Testing

@Suite("Hidden characters") struct HiddenCharactersTests {
    @Test(
        "Characters that reorder, fill or hide are removed, and the letters stay",
        arguments: [
            ("a\u{202E}cod.exe", "acod.exe"), ("a\u{202D}b\u{202C}c", "abc"), ("\u{3164}\u{FFA0}x", "x"),
            ("\u{2067}open", "open"), ("closed\u{2069}\u{202C}", "closed"), ("a\u{E0041}\u{E0042}b", "ab"),
            ("a\u{2062}\u{206A}\u{FFF9}b", "ab"), ("\u{2067}a\u{202B}b\u{2069}c", "\u{2067}ab\u{2069}c"),
            ("\u{202B}one\ntwo\u{202C}", "one\ntwo"),
        ])
    func removed(text: String, shown: String) {
        #expect(text.hasHiddenCharacters)
        #expect(text.withoutHiddenCharacters.isSameText(as: shown))
        #expect(!shown.hasHiddenCharacters)
    }

    @Test(
        "What a script or an emoji needs stays",
        arguments: [
            "שלום \u{2067}Dr. Lee\u{2069} שלום", "\u{202A}+43 1 234\u{202C}", "نامه\u{200C}ها", "\u{200F}א\u{200E}",
            "👩🏽\u{200D}⚕️", "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", "ภาษา\u{200B}ไทย", "日本語",
        ])
    func kept(text: String) {
        #expect(!text.hasHiddenCharacters)
        #expect(text.withoutHiddenCharacters.isSameText(as: text))
    }

    @Test("A million of them take a moment, whichever they are")
    func long() {
        for unit in ["\u{202E}", "\u{2067}", "\u{2069}", "\u{202B}\u{2069}", "\u{2067}\u{202B}", "\u{E0041}"] {
            let text = String(repeating: unit, count: 200_000)
            #expect(effort { _ = text.withoutHiddenCharacters } < .seconds(20))
        }
    }
}
