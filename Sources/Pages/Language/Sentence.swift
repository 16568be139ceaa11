// SPDX-License-Identifier: Apache-2.0

/// A value that can be inserted into a sentence.
enum Insert {
    /// A name that a person or another program chose, with its own text direction.
    case name(String)
    case text(String)
    case time(Node)
    case strong(String)
    case link(String, to: String)
}

extension Words {
    /// A sentence whose inserted values keep their markup, for the template `sentence`.
    func sentence(_ key: String, _ inserts: [String: Insert] = [:]) -> Node {
        let pieces = Self.pieces(of: self[key]).map { piece -> Node in
            switch piece {
            case .text(let text): return ["text": .text(text)]
            case .name(let name):
                switch inserts[name] {
                case .name(let text): return ["name": .text(text)]
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
}
