// SPDX-License-Identifier: Apache-2.0

/// Reads the part of XML 1.0 in which xCal is written: elements, text, CDATA, comments and the five entities.
///
/// A document type is refused, so no entity can be defined and no other file can be named: there is nothing to expand
/// and nothing to load. Memory and time grow only with the length.
struct XMLScanner {
    private let bytes: [UInt8]
    private var index = 0
    private var open: [Element] = []

    /// The deepest nesting of elements: a calendar needs two for each component and four for a property.
    static let depthLimit = 32
    /// The most namespaces that one element may declare: each is checked for every element within.
    private static let namespaceLimit = 64

    private struct Element {
        var node: XMLNode
        /// The tag as it was written, to compare with the end tag.
        var tag: String
        var namespaces: [(prefix: String, name: String)]
        var text: [UInt8] = []
    }

    /// Reads a whole text and returns its root element.
    static func read(_ bytes: [UInt8]) throws(FormError) -> XMLNode {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw FormError(form: .xCal, message: "The XML is not UTF-8.")
        }
        var scanner = XMLScanner(bytes: bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { scanner.index = 3 }
        return try scanner.document()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private func failure(_ message: String) -> FormError {
        FormError(form: .xCal, line: 1 + bytes[..<min(index, bytes.count)].count { $0 == 10 }, message: message)
    }

    private mutating func document() throws(FormError) -> XMLNode {
        var root: XMLNode?
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "<") else {
                try text()
                continue
            }
            let rest = bytes[index...]
            if rest.starts(with: "<!--".utf8) {
                try skip(past: "-->")
            } else if rest.starts(with: "<?".utf8) {
                try skip(past: "?>")
            } else if rest.starts(with: "<![CDATA[".utf8) {
                let start = index + 9
                try skip(past: "]]>")
                try append(bytes[start..<index - 3])
            } else if rest.starts(with: "<!".utf8) {
                throw failure("The XML has a document type, which is not read: it can pull in other files.")
            } else if rest.starts(with: "</".utf8) {
                if let closed = try endTag() { root = closed }
            } else {
                guard root == nil else { throw failure("There is something after the end of the XML.") }
                if let empty = try startTag() { root = empty }
            }
        }
        guard open.isEmpty, let root else { throw failure("The XML breaks off.") }
        return root
    }

    private mutating func skip(past mark: StaticString) throws(FormError) {
        let mark = Array(mark.description.utf8)
        var from = index
        while let found = ByteSearch.first(UInt8(ascii: ">"), in: bytes, from: from) {
            from = found + 1
            if from - index >= mark.count + 2, bytes[from - mark.count..<from].elementsEqual(mark) {
                index = from
                return
            }
        }
        index = bytes.count
        throw failure("The XML breaks off.")
    }

    private mutating func append(_ text: some Collection<UInt8>) throws(FormError) {
        guard !open.isEmpty else {
            guard text.allSatisfy({ $0 == 32 || $0 == 9 || $0 == 10 || $0 == 13 }) else {
                throw failure("There is text outside the XML's root element.")
            }
            return
        }
        var previous: UInt8 = 0
        for byte in text {
            // Every line break becomes one line feed (XML 1.0 section 2.11).
            if byte == 13 || byte == 10 && previous != 13 {
                open[open.count - 1].text.append(10)
            } else if byte != 10 {
                open[open.count - 1].text.append(byte)
            }
            previous = byte
        }
    }

    /// Reads the text up to the next tag.
    private mutating func text() throws(FormError) {
        let end = ByteSearch.first(UInt8(ascii: "<"), in: bytes, from: index) ?? bytes.count
        while index < end {
            let stop = min(ByteSearch.first(UInt8(ascii: "&"), in: bytes, from: index, to: end) ?? end, end)
            try append(bytes[index..<stop])
            index = stop
            if index < end { try reference() }
        }
    }

    /// Reads a reference such as `&amp;`, `&#10;` or `&#xA;`.
    private mutating func reference() throws(FormError) {
        guard let end = ByteSearch.first(UInt8(ascii: ";"), in: bytes, from: index, to: min(index + 12, bytes.count)),
            !open.isEmpty
        else { throw failure("An & in the XML is not the beginning of an entity.") }
        let name = String(decoding: bytes[index + 1..<end], as: UTF8.self)
        let scalar: Unicode.Scalar?
        switch name {
        case "amp": scalar = "&"
        case "lt": scalar = "<"
        case "gt": scalar = ">"
        case "quot": scalar = "\""
        case "apos": scalar = "'"
        case _ where name.hasPrefix("#x"): scalar = UInt32(name.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init)
        case _ where name.hasPrefix("#"): scalar = UInt32(name.dropFirst()).flatMap(Unicode.Scalar.init)
        default: scalar = nil
        }
        guard let scalar else { throw failure("The XML has an entity that is not known.") }
        open[open.count - 1].text += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        index = end + 1
    }

    /// Reads `<name a="b">`; returns the node when the element is empty and has no parent.
    private mutating func startTag() throws(FormError) -> XMLNode? {
        guard open.count < Self.depthLimit else { throw failure("The XML is nested too deeply for a calendar.") }
        index += 1
        let tag = name()
        guard !tag.isEmpty else { throw failure("A < in the XML is not the beginning of an element.") }
        var element = Element(node: XMLNode(name: ""), tag: tag, namespaces: [])
        while true {
            skipSpace()
            guard index < bytes.count else { throw failure("The XML breaks off within a tag.") }
            if bytes[index] == UInt8(ascii: ">") || bytes[index] == UInt8(ascii: "/") { break }
            let attribute = name()
            skipSpace()
            guard !attribute.isEmpty, index < bytes.count, bytes[index] == UInt8(ascii: "=") else {
                throw failure("An attribute in the XML has no value.")
            }
            index += 1
            skipSpace()
            guard index < bytes.count, bytes[index] == 34 || bytes[index] == 39,
                let end = ByteSearch.first(bytes[index], in: bytes, from: index + 1)
            else { throw failure("An attribute's value in the XML is not in quotes.") }
            if attribute == "xmlns" || attribute.hasPrefix("xmlns:") {
                let value = String(decoding: bytes[index + 1..<end], as: UTF8.self)
                guard element.namespaces.count < Self.namespaceLimit else {
                    throw failure("An element in the XML declares more namespaces than a calendar needs.")
                }
                element.namespaces.append((String(attribute.dropFirst(6)), value))
            }
            index = end + 1
        }
        let isEmpty = bytes[index] == UInt8(ascii: "/")
        if isEmpty { index += 1 }
        guard index < bytes.count, bytes[index] == UInt8(ascii: ">") else {
            throw failure("A tag in the XML has no end.")
        }
        index += 1
        open.append(element)
        resolve(tag)
        return isEmpty ? close() : nil
    }

    private mutating func endTag() throws(FormError) -> XMLNode? {
        index += 2
        let tag = name()
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: ">"), open.last?.tag == tag else {
            throw failure("</\(tag.prefix(40))> in the XML ends no element that is open.")
        }
        index += 1
        return close()
    }

    /// Closes the innermost element; returns it when it has no parent.
    private mutating func close() -> XMLNode? {
        guard var element = open.popLast() else { return nil }
        element.node.text = String(decoding: element.text, as: UTF8.self)
        if open.isEmpty { return element.node }
        open[open.count - 1].node.children.append(element.node)
        return nil
    }

    /// Resolves the prefix of the innermost element; without any declaration it is xCal's.
    private mutating func resolve(_ tag: String) {
        let sides = tag.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let prefix = sides.count == 2 ? String(sides[0]) : ""
        var namespace: String?
        for element in open.reversed() where namespace == nil {
            namespace = element.namespaces.last { $0.prefix == prefix }?.name
        }
        open[open.count - 1].node.name = (sides.last ?? "").lowercased()
        open[open.count - 1].node.isForeign = namespace.map { $0 != XMLNode.namespace } ?? !prefix.isEmpty
    }

    private mutating func name() -> String {
        let start = index
        while index < bytes.count, bytes[index] > 32, !"<>/=\"'&".utf8.contains(bytes[index]) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] <= 32 { index += 1 }
    }
}
