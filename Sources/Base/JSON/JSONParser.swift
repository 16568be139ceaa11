// SPDX-License-Identifier: Apache-2.0

/// Reads JSON strictly by RFC 8259, for every kind of tree that is made from it.
///
/// It knows the grammar and makes no values: `JSONValue`, `JSONNode` and `JSONShape` each make their own from the
/// parts. Nesting is limited, because each level uses stack space.
package struct JSONParser {
    /// The maximum number of lists and objects around a value.
    package static let depth = 64

    let bytes: [UInt8]
    var position = 0
    /// Whether half of a surrogate pair is read as U+FFFD; otherwise it is a fault.
    var replacesHalves = false

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads a whole document; `read` reads its single value.
    static func parse<Tree>(
        _ bytes: [UInt8], replacingHalves: Bool = false, _ read: (inout JSONParser) throws(JSONFault) -> Tree
    ) throws(JSONFault) -> Tree {
        var parser = JSONParser(bytes)
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw parser.fault("The document is not text in UTF-8.", at: error.byteOffsets.lowerBound)
        }
        parser.replacesHalves = replacingHalves
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
        parser.skipSpace()
        let tree = try read(&parser)
        parser.skipSpace()
        guard parser.position == bytes.count else { throw parser.unexpected("the end of the document") }
        return tree
    }

    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func skipSpace() {
        while let byte = next, byte == 32 || byte == 10 || byte == 13 || byte == 9 { position += 1 }
    }

    /// Reads an object's members; `body` starts at the opening quote of a name and reads the name and the value.
    ///
    /// - Parameter level: the number of lists and objects around it.
    @inline(__always)
    mutating func eachMember(
        _ level: Int, _ body: (inout JSONParser) throws(JSONFault) -> Void
    ) throws(JSONFault) {
        guard try enters(level, end: "}") else { return }
        repeat {
            guard next == UInt8(ascii: "\"") else { throw unexpected("a member's name in quotes") }
            try body(&self)
        } while try goesOn(until: "}")
    }

    /// Reads a list's elements; `body` reads each of them.
    ///
    /// - Parameter level: the number of lists and objects around it.
    @inline(__always)
    mutating func eachElement(
        _ level: Int, _ body: (inout JSONParser) throws(JSONFault) -> Void
    ) throws(JSONFault) {
        guard try enters(level, end: "]") else { return }
        repeat { try body(&self) } while try goesOn(until: "]")
    }

    /// Moves past the opening bracket; returns false when the closing bracket follows at once.
    private mutating func enters(_ level: Int, end: Unicode.Scalar) throws(JSONFault) -> Bool {
        guard level <= Self.depth else { throw fault("This is nested more than \(Self.depth) levels deep.") }
        position += 1
        skipSpace()
        guard next == UInt8(ascii: end) else { return true }
        position += 1
        return false
    }

    /// Reports whether a comma follows instead of the closing bracket.
    private mutating func goesOn(until end: Unicode.Scalar) throws(JSONFault) -> Bool {
        skipSpace()
        switch next {
        case UInt8(ascii: ","):
            position += 1
            skipSpace()
            return true
        case UInt8(ascii: end):
            position += 1
            return false
        default: throw unexpected("“,” or “\(end)”")
        }
    }

    /// Reads a member's name and the colon; the value follows.
    mutating func name() throws(JSONFault) -> String {
        let name = try string()
        try skipColon()
        return name
    }

    mutating func skipColon() throws(JSONFault) {
        skipSpace()
        guard next == UInt8(ascii: ":") else { throw unexpected("“:”") }
        position += 1
        skipSpace()
    }

    mutating func word<Tree>(_ word: String, _ tree: Tree) throws(JSONFault) -> Tree {
        guard bytes[position...].starts(with: word.utf8) else { throw unexpected("a value") }
        position += word.utf8.count
        return tree
    }

    func fault(_ reason: String, at index: Int? = nil) -> JSONFault {
        let end = min(index ?? position, bytes.count)
        let line = bytes[..<end].count { $0 == 10 } + 1
        let column = end - (bytes[..<end].lastIndex(of: 10) ?? -1)
        return JSONFault(at: JSONFault.Place(line: line, column: column), reason: reason)
    }

    func unexpected(_ wanted: String, at index: Int? = nil) -> JSONFault {
        (index ?? position) < bytes.count
            ? fault("Here \(wanted) is expected.", at: index)
            : fault("The document ends where \(wanted) is expected.", at: index)
    }
}
