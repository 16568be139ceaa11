// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// A sentence as one process or one version of the program passes it to another: a code that the other one does not
/// know leaves the English text.
extension PackWriter {
    mutating func write(_ sentence: Sentence) {
        write(sentence.text)
        field("c", sentence.code?.rawValue)
        for argument in sentence.arguments {
            tag("a")
            write(argument.placeholder.rawValue)
            switch argument.value {
            case .text(let text): field("t", text)
            case .number(let number): field("n", number)
            case .sentence(let inner):
                tag("s")
                write(inner)
            }
        }
        tag(".")
    }
}

extension PackReader {
    /// - Parameter levels: the most sentences within each other; who sends them may be in a stranger's hands.
    mutating func sentence(levels: Int = 8) throws(PackError) -> Sentence {
        guard levels > 0 else { throw failure() }
        let text = try text()
        var code: Sentence.Code?
        var arguments: [Sentence.Argument] = []
        while let letter = try tag() {
            switch letter {
            case "c": code = Sentence.Code(text: try self.text())
            case "a":
                let placeholder = Sentence.Argument.Placeholder(text: try self.text())
                let value: Sentence.Argument.Value
                switch try tag() {
                case "t": value = .text(try self.text())
                case "n": value = .number(try integer())
                case "s": value = .sentence(try sentence(levels: levels - 1))
                default: throw failure()
                }
                if let placeholder { arguments.append(.init(placeholder, value)) }
            default: throw failure()
            }
        }
        return Sentence(text: text, code: code, arguments: arguments)
    }
}

extension Sentence: JSONPart {
    package static var schema: JSONSchema { .string }

    /// Reads what `json` writes.
    package init?(json: JSONValue) {
        guard let packed = json.string else { return nil }
        var reader = PackReader(Array(packed.utf8))
        guard let sentence = try? reader.sentence() else { return nil }
        self = sentence
    }

    /// The sentence as a text of `PackWriter`, which only this program reads.
    package var json: JSONValue {
        var writer = PackWriter()
        writer.write(self)
        return .string(writer.text)
    }
}
