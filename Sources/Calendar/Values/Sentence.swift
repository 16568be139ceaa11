// SPDX-License-Identifier: Apache-2.0

/// One sentence about a calendar file in English, with the code and the arguments from which it is said in another
/// language.
public struct Sentence: Hashable, Sendable, Codable {
    /// The sentence in English.
    public let text: String
    /// What is said; nil for a sentence of another program, which has no words in other languages.
    public let code: Code?
    /// The arguments of the sentence, in its order.
    public let arguments: [Argument]

    /// A value in a sentence, and its place there.
    public struct Argument: Hashable, Sendable, Codable {
        /// The name by which the words of a language say where the argument goes.
        public enum Placeholder: String, Hashable, Sendable, Codable, CaseIterable {
            case charset, component, count, kind, least, limit, line, most, name, names, part, rule, sentence, size,
                value
            case year, zone, zones
        }

        public enum Value: Hashable, Sendable, Codable {
            case text(String)
            case number(Int)
            case sentence(Sentence)
        }

        public let placeholder: Placeholder
        public let value: Value

        public init(_ placeholder: Placeholder, _ value: Value) {
            (self.placeholder, self.value) = (placeholder, value)
        }
    }

    public init(text: String, code: Code?, arguments: [Argument]) {
        (self.text, self.code, self.arguments) = (text, code, arguments)
    }

    /// - Parameter count: the number on which the form of the sentence depends, where the text does not insert it.
    public init(_ code: Code, _ text: Text, count: Int? = nil) {
        self.init(
            text: text.english, code: code,
            arguments: text.arguments + (count.map { [Argument(.count, .number($0))] } ?? []))
    }

    /// A sentence of another program.
    public init(ofOthers text: String) { self.init(text: text, code: nil, arguments: []) }

    /// The English text of a sentence, which keeps what is inserted: `"END:\(name, .name) was missing."`.
    public struct Text: Sendable, ExpressibleByStringInterpolation {
        let english: String
        let arguments: [Argument]

        public init(stringLiteral english: String) { (self.english, arguments) = (english, []) }

        public init(stringInterpolation parts: StringInterpolation) {
            (english, arguments) = (parts.english, parts.arguments)
        }

        public struct StringInterpolation: StringInterpolationProtocol {
            fileprivate var english = ""
            fileprivate var arguments: [Argument] = []

            public init(literalCapacity: Int, interpolationCount: Int) { english.reserveCapacity(literalCapacity) }

            public mutating func appendLiteral(_ literal: String) { english += literal }

            public mutating func appendInterpolation(_ text: some StringProtocol, _ placeholder: Argument.Placeholder) {
                append(String(text), .init(placeholder, .text(String(text))))
            }

            public mutating func appendInterpolation(_ number: Int, _ placeholder: Argument.Placeholder) {
                append(String(number), .init(placeholder, .number(number)))
            }

            public mutating func appendInterpolation(_ sentence: Sentence, _ placeholder: Argument.Placeholder) {
                append(sentence.text, .init(placeholder, .sentence(sentence)))
            }

            /// Inserts words that only the English text has.
            public mutating func appendInterpolation(english words: String) { english += words }

            /// Inserts an argument that the English text shows in this form.
            public mutating func append(_ shown: String, _ argument: Argument) {
                english += shown
                arguments.append(argument)
            }
        }
    }
}
