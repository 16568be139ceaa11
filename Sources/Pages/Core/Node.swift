// SPDX-License-Identifier: Apache-2.0

internal import Mustache

/// The data for a template: text, flags, lists and names. It contains no markup, so that everything is escaped.
indirect enum Node: Sendable {
    case nothing
    case flag(Bool)
    case text(String)
    case list([Node])
    case map([String: Node])
    case words(Words)

    /// Names that can be used everywhere in a page; any other missing name shows nothing.
    private static let ofThePage: Set<String> = ["w", "csrf", "base", "path"]

    static func number(_ value: Int) -> Node { .text(String(value)) }

    /// A text node; nothing for nil.
    static func text(_ value: String?) -> Node { value.map { Node.text($0) } ?? .nothing }

    /// A list of rows; nothing for an empty list, so that the section around it is omitted too.
    static func rows(_ rows: [Node]) -> Node { rows.isEmpty ? .nothing : .map(["rows": .list(rows)]) }
}

extension Node: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
    init(stringLiteral value: String) { self = .text(value) }
    init(booleanLiteral value: Bool) { self = .flag(value) }
    init(integerLiteral value: Int) { self = .number(value) }
    init(arrayLiteral elements: Node...) { self = .list(elements) }
    init(dictionaryLiteral elements: (String, Node)...) {
        self = .map(Dictionary(elements) { _, last in last })
    }
}

extension Node: MustacheParent, MustacheCustomRepresentation, MustacheCustomRenderable {
    func child(named name: String) -> Any? {
        switch self {
        case .map(let members): members[name] ?? (Self.ofThePage.contains(name) ? nil : Node.nothing)
        case .words(let words): words[name]
        case .nothing, .flag, .text, .list: nil
        }
    }

    var representation: Any? {
        switch self {
        case .nothing: nil
        case .flag(let value): value
        case .text(let text): text.isEmpty ? nil : text
        case .list(let nodes): nodes
        case .map, .words: self
        }
    }

    var renderText: String {
        if case .text(let text) = self { text } else { "" }
    }

    var isNull: Bool { representation == nil }
}
