// SPDX-License-Identifier: Apache-2.0

import Calendar
import Testing

@testable import Pages

struct SentenceTests {
    @Test("Arguments are carried over, numbers in the language's format, names as bytes")
    func arguments() {
        let rule = Sentence(.ruleFrequency, "FREQ=\("\u{301}x", .value) is not a frequency.")
        let cases = [
            (
                Sentence(.appEndBeforeStart, "discards 1 event: the end is before the start", count: 1),
                "verwirft einen Termin: Das Ende liegt vor dem Beginn"
            ),
            (
                Sentence(
                    .appEndBeforeStart, "discards \(english: "1,204 events"): the end is before the start", count: 1204),
                "verwirft 1.204 Termine: Das Ende liegt vor dem Beginn"
            ),
            (
                Sentence(
                    .ruleRefused,
                    "\("RRULE", .name) cannot be followed, so the event does not repeat by it: \(rule, .sentence)"),
                "RRULE lässt sich nicht befolgen, darum wiederholt sich der Termin danach nicht: FREQ=\u{301}x ist keine "
                    + "Häufigkeit."
            ),
        ]
        for (sentence, other) in cases {
            #expect(Words.of(.german)(sentence) == other)
            #expect(Words.of(.english)(sentence) == sentence.text)
        }
    }

    @Test("A sentence of another program has no words, nor has one that contains it")
    func others() {
        let other = Sentence(ofOthers: "What others say")
        let around = Sentence(.inLine, "Line \(7, .line): \(other, .sentence)")
        #expect(around.text == "Line 7: What others say")
        for language in Language.allCases {
            #expect(Words.of(language)(other) == nil && Words.of(language)(around) == nil)
        }
    }
}
