// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// How an event carries our mark: three single-value extended properties, which survive every edit by a person.
enum GraphMark {
    /// The set of all our properties; it must never change, because existing events have it.
    private static let set = "{8b1d1c3e-6f7a-4c55-9f0e-5d3a0c7b9e21}"
    /// The mark itself, as JSON.
    static let markProperty = "String \(set) Name KalendsMark"
    /// The property by which an event is found: short, and without characters that a filter would have to quote.
    static let keyProperty = "String \(set) Name KalendsKey"
    /// `1`, on every event and every calendar that a Kalends created.
    static let signProperty = "String \(set) Name KalendsSign"

    /// - Parameter isUnfinished: whether occurrences are still to be written.
    static func text(of mark: EventMark, isUnfinished: Bool = false) -> String {
        var json: [ByteString: JSONValue] = [
            "circle": .string(mark.circle), "collection": .string(mark.item.collection.rawValue),
            "connection": .string(mark.connection), "generation": .integer(mark.generation),
            "installation": .string(mark.installation), "item": .string(mark.item.id),
        ]
        if let occurrence = mark.item.markedOccurrence { json["occurrence"] = .string(occurrence) }
        if isUnfinished { json["unfinished"] = true }
        // No member is a number that cannot be written as JSON.
        return (try? JSONValue.object(json).text()) ?? ""
    }

    static func isUnfinished(_ text: String) -> Bool {
        text.utf8.count <= 4096 && (try? JSONValue(parsing: text.utf8))?["unfinished"]?.bool ?? false
    }

    static func mark(_ text: String) -> EventMark? {
        guard text.utf8.count <= 4096, let json = try? JSONValue(parsing: text.utf8),
            let circle = json["circle"]?.string, let connection = json["connection"]?.string,
            let collection = (json["collection"]?.string).flatMap(ItemKey.Collection.init(rawValue:)),
            let installation = json["installation"]?.string, let item = json["item"]?.string,
            let generation = json["generation"]?.integer, EventMark.generations.contains(generation),
            let key = ItemKey(collection, item, marked: json["occurrence"]?.string)
        else { return nil }
        return EventMark(
            installation: installation, connection: connection, circle: circle, item: key, generation: generation)
    }

    static func key(of mark: EventMark) -> String { hexadecimal(text(of: mark)) }

    /// Returns the idempotency key of a mark's event in a calendar, in the form of a UUID: another calendar gets
    /// another event, and the same calendar never gets a second one.
    static func transaction(of mark: EventMark, in calendar: String) -> String {
        let digits = Array(hexadecimal("\(calendar)\n\(text(of: mark))").utf8)
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
        return groups.map { String(fromOutside: digits[$0]) }.joined(separator: "-")
    }

    /// Returns only the mark, as a member of an event.
    static func property(of mark: EventMark, isUnfinished: Bool) -> [ByteString: JSONValue] {
        [
            "singleValueExtendedProperties": [
                ["id": .string(markProperty), "value": .string(text(of: mark, isUnfinished: isUnfinished))]
            ]
        ]
    }

    static func properties(of mark: EventMark, isUnfinished: Bool) -> JSONValue {
        [
            ["id": .string(markProperty), "value": .string(text(of: mark, isUnfinished: isUnfinished))],
            ["id": .string(keyProperty), "value": .string(key(of: mark))],
            ["id": .string(signProperty), "value": "1"],
        ]
    }

    /// Returns the first 16 bytes of a text's SHA-256, as hexadecimal digits.
    private static func hexadecimal(_ text: String) -> String {
        let digest = SHA256.hash(data: Array(text.utf8)).prefix(16)
        return String(fromOutside: digest.flatMap { Hexadecimal.digits(of: $0) })
    }
}
