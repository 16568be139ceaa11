// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// How an event at Google carries its mark, and the id that follows from the mark.
///
/// The mark is in private extended properties, which only this application's copy of the event has. Google silently
/// cuts values after 1,024 characters, so a long mark is spread over several.
enum GoogleMark {
    /// The property with the mark; its continuations are `kalends2`, `kalends3`, …
    static let name = "kalends"
    /// Present while a new series lacks some of its changed occurrences.
    static let unfinishedName = "kalendsUnfinished"
    private static let longestValue = 1000
    private static let mostValues = 8
    private static let version = "1"

    /// Returns an event id of our choice, in base32hex characters (RFC 4648 section 7): always the same for the same
    /// mark.
    static func eventID(_ mark: EventMark) -> String {
        "kalends" + Base32.encode(Array(SHA256.hash(data: Array(text(mark).utf8))), with: Base32.extendedHex)
    }

    /// Reports whether a UID is one that Google gives an event with an id of our choice.
    static func isUID(_ uid: String) -> Bool {
        guard uid.hasPrefix("kalends"), uid.hasSuffix("@google.com") else { return false }
        let digest = uid.utf8.dropFirst("kalends".utf8.count).dropLast("@google.com".utf8.count)
        return digest.count == 52 && digest.allSatisfy { $0 >= 48 && $0 <= 57 || $0 >= 97 && $0 <= 118 }
    }

    /// Returns the private properties of an event.
    static func properties(_ mark: EventMark) -> JSONValue {
        var properties: [ByteString: JSONValue] = [:]
        var rest = Array(text(mark).utf8)[...]
        var number = 1
        while !rest.isEmpty {
            let value = String(fromOutside: rest.prefix(longestValue))
            properties[ByteString(number == 1 ? name : "\(name)\(number)")] = .string(value)
            rest = rest.dropFirst(longestValue)
            number += 1
        }
        return .object(properties)
    }

    /// Reads the mark from an event's private properties; returns nil when no Kalends wrote one.
    static func read(_ properties: JSONValue?) -> EventMark? {
        guard let first = properties?[name]?.string else { return nil }
        var text = first
        var number = 2
        while number <= mostValues, let next = properties?["\(name)\(number)"]?.string {
            text += next
            number += 1
        }
        return mark(text)
    }

    private static func text(_ mark: EventMark) -> String {
        var fields = [
            version, mark.installation, mark.connection, mark.circle, mark.item.collection.rawValue, mark.item.id,
            String(mark.generation),
        ]
        if let occurrence = mark.item.markedOccurrence { fields.append(occurrence) }
        return fields.map(PercentEncoding.encode).joined(separator: "/")
    }

    private static func mark(_ text: String) -> EventMark? {
        guard text.utf8.count <= longestValue * mostValues else { return nil }
        let fields = text.pieces(separatedBy: "/", omittingEmpty: false).compactMap(PercentEncoding.decode)
        guard fields.count == 7 || fields.count == 8, fields[0] == version,
            let collection = ItemKey.Collection(rawValue: fields[4]), let generation = Int(fields[6]),
            EventMark.generations.contains(generation),
            let key = ItemKey(collection, fields[5], marked: fields.count == 8 ? fields[7] : nil)
        else { return nil }
        let mark = EventMark(
            installation: fields[1], connection: fields[2], circle: fields[3], item: key, generation: generation)
        return self.text(mark) == text ? mark : nil
    }
}
