// SPDX-License-Identifier: Apache-2.0

/// Reads XML 1.0 with namespaces: elements, attributes, text, CDATA, comments and the five entities.
///
/// A text that is not well-formed is refused as a whole. A document type is refused, so no entity can be defined and no
/// other file can be named: there is nothing to expand and nothing to load. Depth, elements, attributes and names are
/// limited; time and memory grow only with the length.
package struct XMLReader {
    private struct Open {
        var element: XMLElement
        /// The tag as it was written, for comparison with the end tag.
        var tag: ArraySlice<UInt8>
        /// The number of declarations in scope before it.
        var declarations: Int
        var text: [UInt8] = []
        /// Where its start tag begins.
        var start: Int
        /// The declarations in scope before it, where it keeps how it was written.
        var outer: [XMLSource.Declaration] = []
        /// The language that is stated for this element or for one around it.
        var language: String?
    }

    private let bytes: [UInt8]
    private let limits: Limits
    private var index = 0
    private var open: [Open] = []
    private var namespaces: [XMLSource.Declaration] = []
    private var count = 0
    /// Where the text begins, and the number of elements up to the last child of the root.
    private var start = 0
    private var countBefore = 0
    /// The root, once it has ended.
    package private(set) var root: XMLElement?
    /// Whether each child of the root is returned by itself, and is then not in the root.
    private var partsChildren = false
    private var child: XMLElement?

    /// Reads a whole text, and returns its root element.
    package static func read(_ bytes: [UInt8], limits: Limits = Limits()) throws(XMLFailure) -> XMLElement {
        var reader = try XMLReader(bytes, limits: limits)
        reader.partsChildren = false
        _ = try reader.next()
        guard let root = reader.root else { throw reader.failure(.xmlEnds, "The XML breaks off.") }
        return root
    }

    /// Prepares to read a text child by child, so that no more than one of them is in memory.
    package init(_ bytes: [UInt8], limits: Limits = Limits()) throws(XMLFailure) {
        guard (try? UTF8Span(validating: bytes.span)) != nil else {
            throw XMLFailure(sentence: Sentence(.xmlNotUTF8, "The XML is not UTF-8."))
        }
        self.bytes = bytes
        self.limits = limits
        partsChildren = true
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
        index = start
    }

    private func failure(_ code: Sentence.Code, _ text: Sentence.Text) -> XMLFailure {
        XMLFailure(line: 1 + bytes[..<min(index, bytes.count)].count { $0 == 10 }, sentence: Sentence(code, text))
    }

    /// Returns the next child of the root; after the last one, returns nil and sets `root`.
    package mutating func next() throws(XMLFailure) -> XMLElement? {
        while index < bytes.count {
            if let child {
                self.child = nil
                return child
            }
            guard bytes[index] == UInt8(ascii: "<") else {
                try text()
                continue
            }
            let rest = bytes[index...]
            if rest.starts(with: "<!--".utf8) {
                try skip(past: "-->", from: index + 4)
            } else if rest.starts(with: "<?".utf8) {
                try instruction(isFirst: index == start)
            } else if rest.starts(with: "<![CDATA[".utf8) {
                let from = index + 9
                try skip(past: "]]>", from: from)
                try append(bytes[from..<index - 3])
            } else if rest.starts(with: "<!".utf8) {
                throw failure(
                    .xmlDocumentType, "The XML has a document type, which is not read: it can pull in other files.")
            } else if rest.starts(with: "</".utf8) {
                if let closed = try endTag() { root = closed }
            } else {
                guard root == nil else {
                    throw failure(.xmlAfterEnd, "There is something after the end of the XML.")
                }
                if let empty = try startTag() { root = empty }
            }
        }
        guard open.isEmpty, root != nil else { throw failure(.xmlEnds, "The XML breaks off.") }
        return nil
    }

    /// Skips everything up to a mark, which ends with `>`.
    private mutating func skip(past delimiter: String, from start: Int) throws(XMLFailure) {
        index = start
        while let found = ByteSearch.first(UInt8(ascii: ">"), in: bytes, from: index) {
            index = found + 1
            if index - start >= delimiter.utf8.count,
                bytes[..<index].suffix(delimiter.utf8.count).elementsEqual(delimiter.utf8)
            {
                return
            }
        }
        index = bytes.count
        throw failure(.xmlEnds, "The XML breaks off.")
    }

    /// Accepts a declaration only at the start, and only with an encoding that is UTF-8 or a part of it.
    private mutating func instruction(isFirst: Bool) throws(XMLFailure) {
        let from = index
        try skip(past: "?>", from: index + 2)
        guard !limits.isLenient, bytes[from..<index].starts(with: "<?xml ".utf8) else { return }
        guard isFirst else { throw failure(.xmlDeclaration, "The XML's declaration is not at the start.") }
        let said = String(fromOutside: bytes[from..<index]).lowercased()
        guard let encoding = said.parted(at: "encoding=")?.after else { return }
        let name = encoding.dropFirst().utf8.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "'") }
        guard name.elementsEqual("utf-8".utf8) || name.elementsEqual("us-ascii".utf8) else {
            throw failure(.xmlNotUTF8, "The XML is not UTF-8.")
        }
    }

    private mutating func append(_ data: ArraySlice<UInt8>) throws(XMLFailure) {
        guard let last = open.indices.last else {
            guard data.allSatisfy(\.isXMLSpace) else {
                throw failure(.xmlTextOutside, "There is text outside the XML's root element.")
            }
            return
        }
        var previous: UInt8 = 0
        for byte in data {
            guard byte >= 32 || byte.isXMLSpace || limits.isLenient else {
                throw failure(.xmlControlCharacter, Self.control)
            }
            // Every line break becomes one line feed (XML 1.0 section 2.11).
            if byte == 13 || byte == 10 && previous != 13 {
                open[last].text.append(10)
            } else if byte != 10 {
                open[last].text.append(byte)
            }
            previous = byte
        }
    }

    private static let control: Sentence.Text = "The XML has a control character."

    /// Reads character data up to the next tag.
    private mutating func text() throws(XMLFailure) {
        let end = ByteSearch.first(UInt8(ascii: "<"), in: bytes, from: index) ?? bytes.count
        while index < end {
            let stop = ByteSearch.first(UInt8(ascii: "&"), in: bytes, from: index, to: end) ?? end
            try append(bytes[index..<stop])
            var position = index
            while let found = ByteSearch.first(UInt8(ascii: ">"), in: bytes, from: position, to: stop) {
                guard !bytes[index..<found].suffix(2).elementsEqual("]]".utf8) else {
                    throw failure(.xmlSectionEnd, "The XML ends a section that did not begin.")
                }
                position = found + 1
            }
            index = stop
            guard index < end else { break }
            guard let last = open.indices.last else {
                throw failure(.xmlTextOutside, "There is text outside the XML's root element.")
            }
            open[last].text += try reference()
        }
    }

    /// Reads `&amp;`, `&#10;` or `&#xA;`, and returns the character's bytes.
    private mutating func reference() throws(XMLFailure) -> [UInt8] {
        guard let end = ByteSearch.first(UInt8(ascii: ";"), in: bytes, from: index, to: min(index + 12, bytes.count))
        else { throw failure(.xmlAmpersand, "An & in the XML is not the beginning of an entity.") }
        let name = String(fromOutside: bytes[index + 1..<end])
        let scalar: Unicode.Scalar?
        switch name {
        case "amp": scalar = "&"
        case "lt": scalar = "<"
        case "gt": scalar = ">"
        case "quot": scalar = "\""
        case "apos": scalar = "'"
        case _ where name.hasPrefix("#"):
            let isHexadecimal = name.hasPrefix("#x")
            let digits = name.dropFirst(isHexadecimal ? 2 : 1)
            // A number has no sign here.
            let number = digits.utf8.first == 43 ? nil : UInt32(digits, radix: isHexadecimal ? 16 : 10)
            scalar = number.flatMap(Unicode.Scalar.init)
        default: scalar = nil
        }
        guard let scalar, limits.isLenient || scalar.isInXML else {
            throw failure(.xmlEntityUnknown, "The XML has an entity that is not known.")
        }
        index = end + 1
        return Array(String(Character(scalar)).utf8)
    }
}

// MARK: - Tags

extension XMLReader {
    /// Reads `<name a="b">`; returns the element when it is empty and is the root.
    private mutating func startTag() throws(XMLFailure) -> XMLElement? {
        guard open.count < limits.depth else {
            throw failure(.xmlTooDeep, "The XML is nested too deeply for a calendar.")
        }
        count += 1
        guard count <= limits.elements, !partsChildren || count - countBefore <= limits.elementsOfChild else {
            throw failure(.xmlTooManyElements, "The XML has too many elements.")
        }
        let start = index
        index += 1
        let tag = try name()
        let declarations = namespaces.count
        let outer = open.count + 1 == limits.sourceLevel ? namespaces : []
        var attributes: [(name: ArraySlice<UInt8>, value: String)] = []
        while true {
            let isSpaced = skipSpace()
            guard index < bytes.count else {
                throw failure(.xmlEndsInTag, "The XML breaks off within a tag.")
            }
            if bytes[index] == UInt8(ascii: ">") || bytes[index] == UInt8(ascii: "/") { break }
            guard isSpaced, attributes.count < limits.attributes else {
                throw failure(.xmlTagAttributes, "A tag in the XML has too many attributes, or no space before one.")
            }
            let name = try name()
            guard !attributes.contains(where: { $0.name.elementsEqual(name) }) else {
                throw failure(.xmlAttributeTwice, "An attribute in the XML is given twice.")
            }
            attributes.append((name, try value()))
        }
        for (name, value) in attributes {
            if name.elementsEqual("xmlns".utf8) {
                namespaces.append(XMLSource.Declaration(prefix: [], namespace: XMLNamespace(value)))
            } else if name.starts(with: "xmlns:".utf8) {
                guard !value.isEmpty else {
                    throw failure(.xmlPrefixUnbound, "A prefix in the XML is bound to no namespace.")
                }
                namespaces.append(
                    XMLSource.Declaration(prefix: name.dropFirst(6), namespace: XMLNamespace(value)))
            }
        }
        guard namespaces.count <= limits.declarations else {
            throw failure(
                .xmlTooManyNamespaces, "An element in the XML declares more namespaces than a calendar needs.")
        }
        let (namespace, local) = try resolved(tag)
        let plain = attributes.filter { !$0.name.contains(UInt8(ascii: ":")) && !$0.name.elementsEqual("xmlns".utf8) }
        for (name, _) in attributes where name.contains(UInt8(ascii: ":")) && !name.starts(with: "xmlns:".utf8) {
            _ = try resolved(name)
        }
        let element = XMLElement(
            namespace: namespace, name: limits.lowersNames ? local.lowercased() : local,
            attributes: plain.map { (String(fromOutside: $0.name), $0.value) })
        let isEmpty = bytes[index] == UInt8(ascii: "/")
        if isEmpty { index += 1 }
        guard index < bytes.count, bytes[index] == UInt8(ascii: ">") else {
            throw failure(.xmlTagOpen, "A tag in the XML has no end.")
        }
        index += 1
        let language = attributes.first { $0.name.elementsEqual("xml:lang".utf8) }?.value ?? open.last?.language
        open.append(
            Open(
                element: element, tag: tag, declarations: declarations, start: start, outer: outer,
                language: language))
        return isEmpty ? close() : nil
    }

    private mutating func endTag() throws(XMLFailure) -> XMLElement? {
        index += 2
        let tag = try name()
        _ = skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: ">"), open.last?.tag.elementsEqual(tag) == true else {
            throw failure(
                .xmlEndTag, "</\(String(fromOutside: tag.prefix(40)), .name)> in the XML ends no element that is open.")
        }
        index += 1
        return close()
    }

    /// Closes the innermost element, and returns it when it is the root.
    private mutating func close() -> XMLElement? {
        guard var last = open.popLast() else { return nil }
        if open.count + 1 == limits.sourceLevel {
            last.element.source = XMLSource(
                bytes: bytes[last.start..<index], nameLength: last.tag.count, declarations: last.outer,
                language: open.last?.language)
        }
        namespaces.removeLast(namespaces.count - last.declarations)
        last.element.bytes = last.text
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
            throw failure(.xmlNameTwoPrefixes, "A name in the XML has more than one prefix.")
        }
        let prefix = parts.count == 2 ? parts[0] : []
        let found = namespaces.last { $0.prefix.elementsEqual(prefix) }?.namespace
        if let found { return (found, String(fromOutside: local)) }
        guard limits.isLenient || parts.count == 1 || prefix.elementsEqual("xml".utf8) else {
            throw failure(.xmlPrefixUndeclared, "A prefix in the XML is not declared.")
        }
        let namespace: XMLNamespace =
            if parts.count == 1 { .undeclared } else { .other(ByteString(String(fromOutside: prefix))) }
        return (namespace, String(fromOutside: local))
    }

    private mutating func value() throws(XMLFailure) -> String {
        _ = skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else {
            throw failure(.xmlAttributeWithoutValue, "An attribute in the XML has no value.")
        }
        index += 1
        _ = skipSpace()
        guard index < bytes.count, bytes[index] == 34 || bytes[index] == 39 else {
            throw failure(.xmlAttributeUnquoted, "An attribute's value in the XML is not in quotes.")
        }
        let quote = bytes[index]
        index += 1
        var text: [UInt8] = []
        while index < bytes.count, bytes[index] != quote {
            switch bytes[index] {
            case UInt8(ascii: "&"):
                text += try reference()
                continue
            case UInt8(ascii: "<"):
                throw failure(.xmlAttributeLessThan, "An attribute's value in the XML has a <.")
            case 9, 10, 13: text.append(32)
            case 0..<32 where !limits.isLenient: throw failure(.xmlControlCharacter, Self.control)
            default: text.append(bytes[index])
            }
            index += 1
        }
        guard index < bytes.count else { throw failure(.xmlEndsInTag, "The XML breaks off within a tag.") }
        index += 1
        return String(fromOutside: text)
    }

    private mutating func name() throws(XMLFailure) -> ArraySlice<UInt8> {
        let start = index
        while index < bytes.count, bytes[index].isInXMLNames { index += 1 }
        let name = bytes[start..<index]
        let first = name.first ?? 0
        // A name does not begin with a digit, `-` or `.`.
        guard name.count <= limits.name, first | 0x20 >= 97 && first | 0x20 <= 122 || first == 95 || first >= 128 else {
            throw failure(.xmlLessThan, "A < in the XML is not the beginning of an element.")
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

extension Unicode.Scalar {
    /// Whether a text in XML 1.0 can hold it (section 2.2).
    fileprivate var isInXML: Bool {
        value >= 32 && value != 0xFFFE && value != 0xFFFF || value == 9 || value == 10 || value == 13
    }
}
