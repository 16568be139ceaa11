// SPDX-License-Identifier: Apache-2.0

/// Reads XML 1.0 with namespaces, as servers send it, strictly: a text that is not well-formed is refused as a whole.
///
/// A document type is refused, so there are no entities except the predefined five, and no other files. Depth,
/// elements, attributes and names are limited; time and memory grow only with the length.
struct XMLReader {
    struct Limits: Sendable {
        var depth = 32
        var elements = 500_000
        /// The maximum number of elements in one child of the root.
        var elementsOfChild = 20_000
        /// The maximum number of attributes of one element, including namespace declarations.
        var attributes = 32
        /// The maximum number of namespace declarations in scope: every name searches them.
        var declarations = 64
        /// The maximum number of bytes of a name.
        var name = 128
    }

    private struct Open {
        var element: XMLElement
        /// The tag as it was written, for comparison with the end tag.
        var tag: ArraySlice<UInt8>
        /// The number of declarations in scope before it.
        var declarations: Int
        var text: [UInt8] = []
    }

    private let bytes: [UInt8]
    private let limits: Limits
    private var index = 0
    private var open: [Open] = []
    private var namespaces: [(prefix: ArraySlice<UInt8>, namespace: XMLNamespace)] = []
    private var count = 0
    /// Where the text begins, and the number of elements up to the last child of the root.
    private var start = 0
    private var countBefore = 0
    /// The root, once it has ended.
    private(set) var root: XMLElement?
    /// Whether each child of the root is returned by itself, and is then not in the root.
    private var partsChildren = false
    private var child: XMLElement?

    /// Reads a whole text, and returns its root element.
    static func read(_ bytes: [UInt8], limits: Limits = Limits()) throws(XMLFailure) -> XMLElement {
        var reader = try XMLReader(bytes, limits: limits)
        reader.partsChildren = false
        _ = try reader.next()
        guard let root = reader.root else { throw XMLFailure(message: "It breaks off.") }
        return root
    }

    /// Prepares to read a text child by child, so that no more than one of them is in memory.
    init(_ bytes: [UInt8], limits: Limits = Limits()) throws(XMLFailure) {
        guard (try? UTF8Span(validating: bytes.span)) != nil else { throw XMLFailure(message: "It is not UTF-8.") }
        self.bytes = bytes
        self.limits = limits
        partsChildren = true
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
        index = start
    }

    /// Returns the next child of the root; after the last one, returns nil and sets `root`.
    mutating func next() throws(XMLFailure) -> XMLElement? {
        while index < bytes.count {
            if let child {
                self.child = nil
                return child
            }
            guard bytes[index] == UInt8(ascii: "<") else {
                try text()
                continue
            }
            if at("<!--") {
                try skip(past: "-->", from: index + 4)
            } else if at("<?") {
                try instruction(isFirst: index == start)
            } else if at("<![CDATA[") {
                let from = index + 9
                try skip(past: "]]>", from: from)
                try append(bytes[from..<index - 3])
            } else if at("<!") {
                throw XMLFailure(message: "It has a document type.")
            } else if at("</") {
                if let closed = try endTag() { root = closed }
            } else {
                guard root == nil else { throw XMLFailure(message: "It has more than one element.") }
                if let empty = try startTag() { root = empty }
            }
        }
        guard open.isEmpty, root != nil else { throw XMLFailure(message: "It breaks off.") }
        return nil
    }

    private func at(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard index + count <= bytes.count else { return false }
        return word.withUTF8Buffer { word in
            // Safe: the length of the word was compared before.
            for place in 0..<count where unsafe bytes[index + place] != word[place] { return false }
            return true
        }
    }

    private mutating func skip(past end: StaticString, from: Int) throws(XMLFailure) {
        index = from
        while index < bytes.count {
            if at(end) {
                index += end.utf8CodeUnitCount
                return
            }
            index += 1
        }
        throw XMLFailure(message: "It breaks off.")
    }

    /// Accepts a declaration only at the start, and only with an encoding that is UTF-8 or a part of it.
    private mutating func instruction(isFirst: Bool) throws(XMLFailure) {
        let from = index
        let isDeclaration = at("<?xml ")
        try skip(past: "?>", from: index + 2)
        guard isDeclaration else { return }
        guard isFirst else { throw XMLFailure(message: "Its declaration is not at the start.") }
        let said = String(decoding: bytes[from..<index], as: UTF8.self).lowercased()
        guard let encoding = said.parted(at: "encoding=")?.after else { return }
        let name = encoding.dropFirst().utf8.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") }
        guard name.elementsEqual("utf-8".utf8) || name.elementsEqual("us-ascii".utf8) else {
            throw XMLFailure(message: "It is not UTF-8.")
        }
    }

    private mutating func append(_ data: ArraySlice<UInt8>) throws(XMLFailure) {
        guard let last = open.indices.last else {
            guard data.allSatisfy(\.isXMLSpace) else { throw XMLFailure(message: "There is text outside the root.") }
            return
        }
        var previous: UInt8 = 0
        for byte in data {
            guard byte >= 32 || byte.isXMLSpace else { throw XMLFailure(message: "It has a control character.") }
            // Every line break becomes one line feed (XML 1.0 section 2.11).
            if byte == 13 || byte == 10 && previous != 13 {
                open[last].text.append(10)
            } else if byte != 10 {
                open[last].text.append(byte)
            }
            previous = byte
        }
    }

    /// Reads character data up to the next tag.
    private mutating func text() throws(XMLFailure) {
        var from = index
        while index < bytes.count, bytes[index] != UInt8(ascii: "<") {
            if bytes[index] == UInt8(ascii: "&") {
                try append(bytes[from..<index])
                guard let last = open.indices.last else { throw XMLFailure(message: "There is text outside the root.") }
                open[last].text += try reference()
                from = index
            } else {
                if bytes[index] == UInt8(ascii: "]"), at("]]>") {
                    throw XMLFailure(message: "A section ends that did not begin.")
                }
                index += 1
            }
        }
        try append(bytes[from..<index])
    }

    /// Reads `&amp;`, `&#10;` or `&#xA;`, and returns the character's bytes.
    private mutating func reference() throws(XMLFailure) -> [UInt8] {
        let unknown = XMLFailure(message: "It has an entity that is not known.")
        guard let end = bytes[index..<min(index + 12, bytes.count)].firstIndex(of: UInt8(ascii: ";")) else {
            throw unknown
        }
        let name = String(decoding: bytes[index + 1..<end], as: UTF8.self)
        index = end + 1
        switch name {
        case "amp": return [38]
        case "lt": return [60]
        case "gt": return [62]
        case "quot": return [34]
        case "apos": return [39]
        default: break
        }
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard name.hasPrefix("#"), digits.utf8.allSatisfy({ $0 != 43 && $0 != 45 }),
            let number = UInt32(digits, radix: isHexadecimal ? 16 : 10), let scalar = Unicode.Scalar(number),
            number >= 32 || number == 9 || number == 10 || number == 13, number != 0xFFFE, number != 0xFFFF
        else { throw unknown }
        return Array(String(Character(scalar)).utf8)
    }
}

// MARK: - Tags

extension XMLReader {
    /// Reads `<name a="b">`; returns the element when it is empty and is the root.
    private mutating func startTag() throws(XMLFailure) -> XMLElement? {
        guard open.count < limits.depth else { throw XMLFailure(message: "It is nested too deeply.") }
        count += 1
        guard count <= limits.elements, !partsChildren || count - countBefore <= limits.elementsOfChild else {
            throw XMLFailure(message: "It has too many elements.")
        }
        index += 1
        let tag = try name()
        let declarations = namespaces.count
        var attributes: [(name: ArraySlice<UInt8>, value: String)] = []
        while true {
            let isSpaced = skipSpace()
            guard index < bytes.count else { throw XMLFailure(message: "It breaks off within a tag.") }
            if bytes[index] == UInt8(ascii: ">") || bytes[index] == UInt8(ascii: "/") { break }
            guard isSpaced, attributes.count < limits.attributes else {
                throw XMLFailure(message: "A tag has too many attributes, or no space before one.")
            }
            let name = try name()
            guard !attributes.contains(where: { $0.name.elementsEqual(name) }) else {
                throw XMLFailure(message: "An attribute is given twice.")
            }
            attributes.append((name, try value()))
        }
        for (name, value) in attributes {
            if name.elementsEqual("xmlns".utf8) {
                namespaces.append(([], XMLNamespace(value)))
            } else if name.starts(with: "xmlns:".utf8) {
                guard !value.isEmpty else { throw XMLFailure(message: "A prefix is bound to no namespace.") }
                namespaces.append((name.dropFirst(6), XMLNamespace(value)))
            }
        }
        guard namespaces.count <= limits.declarations else {
            throw XMLFailure(message: "It declares too many namespaces.")
        }
        let (namespace, local) = try resolved(tag)
        let plain = attributes.filter { !$0.name.contains(UInt8(ascii: ":")) && !$0.name.elementsEqual("xmlns".utf8) }
        for (name, _) in attributes where name.contains(UInt8(ascii: ":")) && !name.starts(with: "xmlns:".utf8) {
            _ = try resolved(name)
        }
        let element = XMLElement(
            namespace: namespace, name: local,
            attributes: plain.map { (String(decoding: $0.name, as: UTF8.self), $0.value) })
        let isEmpty = bytes[index] == UInt8(ascii: "/")
        if isEmpty { index += 1 }
        guard index < bytes.count, bytes[index] == UInt8(ascii: ">") else {
            throw XMLFailure(message: "A tag has no end.")
        }
        index += 1
        open.append(Open(element: element, tag: tag, declarations: declarations))
        return isEmpty ? close() : nil
    }

    private mutating func endTag() throws(XMLFailure) -> XMLElement? {
        index += 2
        let tag = try name()
        _ = skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: ">"), open.last?.tag.elementsEqual(tag) == true else {
            throw XMLFailure(message: "An end tag ends no element that is open.")
        }
        index += 1
        return close()
    }

    /// Closes the innermost element, and returns it when it is the root.
    private mutating func close() -> XMLElement? {
        guard var last = open.popLast() else { return nil }
        namespaces.removeLast(namespaces.count - last.declarations)
        last.element.text = String(decoding: last.text, as: UTF8.self)
        if open.isEmpty { return last.element }
        if partsChildren, open.count == 1 {
            (child, countBefore) = (last.element, count)
            return nil
        }
        open[open.count - 1].element.children.append(last.element)
        return nil
    }

    /// Returns the namespace of a name's prefix, and the name without the prefix.
    private func resolved(_ tag: ArraySlice<UInt8>) throws(XMLFailure) -> (XMLNamespace, String) {
        let parts = tag.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count <= 2, let local = parts.last, !local.isEmpty else {
            throw XMLFailure(message: "A name has more than one prefix.")
        }
        let prefix = parts.count == 2 ? parts[0] : []
        let found = namespaces.last { $0.prefix.elementsEqual(prefix) }?.namespace
        guard found != nil || prefix.isEmpty && parts.count == 1 || prefix.elementsEqual("xml".utf8) else {
            throw XMLFailure(message: "A prefix is not declared.")
        }
        return (found ?? .other, String(decoding: local, as: UTF8.self))
    }

    private mutating func value() throws(XMLFailure) -> String {
        _ = skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else {
            throw XMLFailure(message: "An attribute has no value.")
        }
        index += 1
        _ = skipSpace()
        guard index < bytes.count, bytes[index] == 34 || bytes[index] == 39 else {
            throw XMLFailure(message: "An attribute's value is not in quotes.")
        }
        let quote = bytes[index]
        index += 1
        var text: [UInt8] = []
        while index < bytes.count, bytes[index] != quote {
            switch bytes[index] {
            case UInt8(ascii: "&"):
                text += try reference()
                continue
            case UInt8(ascii: "<"): throw XMLFailure(message: "An attribute's value has a <.")
            case 9, 10, 13: text.append(32)
            case 0..<32: throw XMLFailure(message: "It has a control character.")
            default: text.append(bytes[index])
            }
            index += 1
        }
        guard index < bytes.count else { throw XMLFailure(message: "It breaks off within a tag.") }
        index += 1
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func name() throws(XMLFailure) -> ArraySlice<UInt8> {
        let start = index
        while index < bytes.count, bytes[index].isInXMLNames { index += 1 }
        let name = bytes[start..<index]
        let first = name.first ?? 0
        // A name does not begin with a digit, `-` or `.`.
        guard name.count <= limits.name, first | 0x20 >= 97 && first | 0x20 <= 122 || first == 95 || first >= 128 else {
            throw XMLFailure(message: "A < is not the beginning of an element, or a name is too long.")
        }
        return name
    }

    private mutating func skipSpace() -> Bool {
        let start = index
        while index < bytes.count, bytes[index].isXMLSpace { index += 1 }
        return index > start
    }
}

extension UInt8 {
    fileprivate var isXMLSpace: Bool { self == 32 || self == 9 || self == 10 || self == 13 }

    fileprivate var isInXMLNames: Bool {
        self | 0x20 >= 97 && self | 0x20 <= 122 || self >= 48 && self <= 58 || self == 45 || self == 46 || self == 95
            || self >= 128
    }
}
