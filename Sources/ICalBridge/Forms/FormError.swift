// SPDX-License-Identifier: Apache-2.0

/// Why some bytes are not a calendar in the form that was expected.
public struct FormError: Error, Hashable, Sendable {
    public var form: CalendarForm
    /// The line of the input, from 1; nil when no single line is meant.
    public var line: Int?
    /// What was found.
    public var sentence: Sentence

    public var message: String { sentence.text }

    init(form: CalendarForm, line: Int? = nil, sentence: Sentence) {
        (self.form, self.line, self.sentence) = (form, line, sentence)
    }

    init(form: CalendarForm, line: Int? = nil, _ code: Sentence.Code, _ text: Sentence.Text) {
        self.init(form: form, line: line, sentence: Sentence(code, text))
    }
}

extension FormError: CustomStringConvertible {
    public var description: String { located.text }

    /// The sentence with the line.
    var located: Sentence { line.map { Sentence(.inLine, "Line \($0, .line): \(sentence, .sentence)") } ?? sentence }
}
