// SPDX-License-Identifier: Apache-2.0

import Base
import ICalBridge
import Testing

@testable import KalendsCore

@Suite("Sentences about a file, passed from one process to another")
struct SentencePassingTests {
    @Test("A sentence keeps its code and its arguments")
    func kept() {
        let reason = Sentence(.ruleNegative, "\("COUNT", .name)=\("-1", .value) must not be negative.")
        let sentences = [
            Sentence(ofOthers: "What others say"), reason,
            Sentence(
                .ruleRefused,
                "The rule \("RRULE", .name) cannot be applied, so it is ignored: \(reason, .sentence)"),
            Sentence(.linesOutside, "A line outside of the calendar was ignored.", count: 1),
        ]
        for sentence in sentences { #expect(Sentence(json: sentence.json) == sentence) }
    }

    @Test("A code of a later version leaves the English text, and nothing nests without end")
    func foreign() {
        var writer = PackWriter()
        writer.write("What is said later")
        writer.field("c", "ofLater")
        writer.tag(".")
        #expect(Sentence(json: .string(writer.text)) == Sentence(ofOthers: "What is said later"))
        var deep = Sentence(ofOthers: "What others say")
        for _ in 0..<100 { deep = Sentence(.inLine, "Line \(1, .line): \(deep, .sentence)") }
        #expect(Sentence(json: deep.json) == nil)
    }
}
