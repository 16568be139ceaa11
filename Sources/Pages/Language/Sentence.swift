// SPDX-License-Identifier: Apache-2.0

public import Calendar
import ProgramFiles

/// A value that can be inserted into a sentence.
enum Insert {
    /// A name that a person or another program chose, with its own text direction.
    case name(String)
    /// A sentence from this server or another one, in English.
    case english(String)
    case text(String)
    case time(Node)
    case strong(String)
    case link(String, to: String)
}

extension Words {
    /// A sentence whose inserted values keep their markup, for the template `sentence`.
    func sentence(_ key: String, _ inserts: [String: Insert] = [:]) -> Node {
        let pieces = WordFile.pieces(of: self[key]).map { piece -> Node in
            switch piece {
            case .text(let text): return ["text": .text(text)]
            case .name(let name):
                switch inserts[name] {
                case .name(let text): return ["name": .text(text)]
                case .english(let text): return ["english": .text(text)]
                case .text(let text): return ["text": .text(text)]
                case .strong(let text): return ["strong": .text(text)]
                case .time(let time): return ["time": time]
                case .link(let text, let address):
                    return ["link": ["href": .text(address.safeAddress ?? "#"), "label": .text(text)]]
                case nil: return .nothing
                }
            }
        }
        return ["pieces": .list(pieces)]
    }

    func sentence(_ key: String, count: Int, _ inserts: [String: Insert] = [:]) -> Node {
        sentence(plural(key, count), inserts.merging(["count": .text(number(count))]) { own, _ in own })
    }

    /// The beginning of the key of a sentence about a calendar file; its code follows.
    static let sentencePrefix = "sentence_"

    /// A sentence about a calendar file in this language; nil if any part of it is another program's.
    public func callAsFunction(_ sentence: Sentence) -> String? {
        guard let code = sentence.code else { return nil }
        var key = Self.sentencePrefix + code.rawValue
        var values: [String: String] = [:]
        for argument in sentence.arguments {
            switch argument.value {
            case .text(let text): values[argument.placeholder.rawValue] = text
            case .number(let count):
                values[argument.placeholder.rawValue] = number(count)
                if argument.placeholder == .count, known(plural(key, count)) != nil { key = plural(key, count) }
            case .sentence(let inner):
                guard let text = self(inner) else { return nil }
                values[argument.placeholder.rawValue] = text
            }
        }
        return known(key) == nil ? nil : self(key, values)
    }
}

extension RenderContext {
    /// A sentence about a calendar file; another program's is shown as it is, marked as what it probably is.
    func phrase(_ sentence: Sentence) -> Node {
        let text = words(sentence)
        let isForeign = text == nil && words.language != .english
        return ["text": .text(text ?? sentence.text), "lang": .text(isForeign ? Language.english.rawValue : nil)]
    }
}
