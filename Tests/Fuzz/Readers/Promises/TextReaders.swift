// SPDX-License-Identifier: Apache-2.0

import Base
import Foundation
import ICalBridge

/// JSON and the plain forms of text.
extension Reader {
    static let texts = [
        Reader(name: "json", check: json),
        Reader(name: "json-node") { bytes in
            let node = try? JSONNode(parsing: bytes)
            let kept = try? JSONValue(parsing: bytes, keeping: .list(of: .scalar, most: 3))
            if kept != nil { try promise(node != nil, "What is kept in part is valid as a whole.") }
            let around = Array("{\"a\":".utf8) + bytes + [UInt8(ascii: "}")]
            let isValid = (try? JSONNode(parsing: around)) != nil
            let isSkipped = (try? JSONValue(parsing: around, keeping: .object([:]))) != nil
            try promise(isSkipped == isValid, "What is skipped is checked as strictly as what is kept.")
            if (try? JSONValue(parsing: bytes)) != nil { try promise(node != nil, "A value is also a node.") }
        },
        Reader(name: "base64url", check: base64URL),
        Reader(name: "utf-8") { bytes in
            var check = UTF8Check()
            for piece in pieces(of: bytes) { check.feed(piece[...]) }
            let isValid = String(validating: bytes, as: UTF8.self) != nil
            try promise(check.finish() == isValid, "In pieces it is valid exactly when it is valid as a whole.")
        },
        Reader(name: "text") { bytes in
            let text = text(bytes)
            let bounded = text.withBoundedMarks
            try promise(!bounded.hasLongRunOfMarks, "Marks are bounded.")
            try promise(bounded.withBoundedMarks.utf8.elementsEqual(bounded.utf8), "And bounded once.")
            let shown = text.withoutHiddenCharacters
            try promise(shown.utf8.count <= text.utf8.count, "Nothing is added.")
            let parts = text.pieces(separatedBy: ",", omittingEmpty: false)
            try promise(parts.map(String.init).joined(separator: ",").utf8.elementsEqual(text.utf8), "Nothing is lost.")
            _ = (text.asciiLowercased, text.withoutBlanks, text.withoutOuterBlanks, JSONPointer.step(text))
        },
        Reader(name: "zone") { bytes in
            let name = text(bytes)
            guard let zone = TimeZoneReference(name) else { return }
            try promise(TimeZoneReference(zone.identifier) != nil, "A zone's own name is a zone: \(zone.identifier)")
        },
        Reader(name: "time") { bytes in
            let text = text(bytes)
            if let instant = Instant(rfc3339: text) {
                try promise(Instant(rfc3339: instant.description) == instant, "An instant is read back: \(instant)")
            }
            if let date = CivilDate(iso: text) {
                try promise(CivilDate(iso: date.description) == date, "A date is read back: \(date)")
            }
            _ = CivilDateTime(basic: text[...])
        },
    ]

    /// Reads what Foundation reads, except for what the house refuses by rule, and refuses what Foundation refuses.
    private static func json(_ bytes: [UInt8]) throws {
        let foundation = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        let value: JSONValue
        do throws(JSONFault) {
            value = try JSONValue(parsing: bytes)
        } catch {
            try promise(!error.reason.isEmpty, "There is a reason.")
            return
        }
        try promise(foundation != nil, "Foundation does not read this as JSON.")
        let written = try value.serialized()
        try promise(try JSONValue(parsing: written) == value, "What is written is read back.")
        try promise(try JSONValue(parsing: written).serialized() == written, "It is written alike again.")
        let again = try? JSONSerialization.jsonObject(with: Data(written), options: .fragmentsAllowed)
        try promise(again != nil, "Foundation reads what is written.")
        if let list = foundation as? [Any] { try promise(value.array?.count == list.count, "Elements are lost.") }
        if let members = foundation as? [String: Any], value.object?.count != members.count {
            // Foundation takes names for the same that have the same characters in another form, and leaves out a byte
            // order mark at the beginning of a name.
            let names = Set(
                value.object?.keys.map {
                    let name = $0.string.unicodeScalars.drop { $0 == "\u{FEFF}" }
                    return String(name).precomposedStringWithCanonicalMapping
                } ?? [])
            try promise(names.count <= members.count, "Members are lost.")
        }
    }

    private static func base64URL(_ bytes: [UInt8]) throws {
        let encoded = Base64URL.encode(bytes)
        try promise(Base64URL.decode(Array(encoded.utf8)) == bytes, "What is encoded is decoded.")
        let usual = encoded.replacing("-", with: "+").replacing("_", with: "/")
        let padded = usual + String(repeating: "=", count: (4 - usual.utf8.count % 4) % 4)
        try promise(Data(base64Encoded: padded).map(Array.init) == bytes, "Foundation decodes the same.")
        // The bytes as a text, and a text of the right length that they make.
        for text in [bytes, Array(Base64URL.encode(Array((bytes + bytes).prefix(32))).utf8)] {
            let decoded = Base64URL.decode(text)
            let isOnlySpelling = decoded.map { Base64URL.encode($0).utf8.elementsEqual(text) } ?? false
            let words = unsafe Base64URL.fourWords(text.span.bytes)
            try promise((words != nil) == (decoded?.count == 32 && isOnlySpelling), "There is one spelling only.")
            guard let words else { continue }
            try promise(
                unsafe withUnsafeBytes(of: words) { unsafe Array($0) } == decoded, "Four words hold what is decoded.")
        }
    }
}
