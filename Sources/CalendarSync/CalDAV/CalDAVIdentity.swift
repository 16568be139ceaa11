// SPDX-License-Identifier: Apache-2.0

internal import Crypto

/// A mark in the forms that CalDAV carries: a property, a UID and a resource name.
///
/// The resource name follows from the whole mark with its generation, so that a second creation of the same event finds
/// the first on the server, even if the answer was lost.
enum CalDAVIdentity {
    /// The property with the whole mark. Servers keep properties that they do not know (RFC 5545 section 3.8.8.2).
    static let property = "X-KALENDS-MARK"

    private static let separator: UInt8 = 31
    /// The maximum length of a UID: a longer one does not fit in every server's tables.
    private static let longestUID = 200
    private static let longestText = 2048

    /// Returns the mark as letters, digits, `-` and `_`.
    static func text(_ mark: EventMark) -> String {
        var fields = [
            mark.installation, mark.connection, mark.circle, mark.item.collection.rawValue, mark.item.id,
            String(mark.generation),
        ]
        if let occurrence = mark.item.markedOccurrence { fields.append(occurrence) }
        return Base64URL.encode(Array(fields.map { Array($0.utf8) }.joined(separator: [separator])))
    }

    static func mark(_ text: String) -> EventMark? {
        guard text.utf8.count <= longestText, let bytes = Base64URL.decode(Array(text.utf8)) else { return nil }
        let fields = bytes.split(separator: separator, omittingEmptySubsequences: false)
            .compactMap { String(validating: $0, as: UTF8.self)?.fromOutside }
        guard fields.count == 6 || fields.count == 7,
            let collection = ItemKey.Collection.allCases.first(where: { $0.rawValue == fields[3] }),
            let generation = Int(fields[5]), EventMark.generations.contains(generation),
            let key = ItemKey(collection, fields[4], marked: fields.count == 7 ? fields[6] : nil)
        else { return nil }
        return EventMark(
            installation: fields[0], connection: fields[1], circle: fields[2], item: key, generation: generation)
    }

    private static func digest(_ mark: EventMark) -> String {
        Hexadecimal.text(SHA256.hash(data: Array(text(mark).utf8)).prefix(20))
    }

    private static let prefix = "kalends-"

    /// Returns a UID that holds the mark itself if it is short enough, otherwise its digest.
    static func uid(_ mark: EventMark) -> String {
        let text = text(mark)
        return prefix + (text.utf8.count + prefix.utf8.count <= longestUID ? text : digest(mark))
    }

    /// Reports whether a UID is one that some mark has.
    static func isUID(_ uid: String) -> Bool {
        guard uid.hasPrefix(prefix), uid.utf8.count <= longestUID else { return false }
        let text = String(uid.dropFirst(prefix.utf8.count))
        return mark(text) != nil || text.utf8.count == 40 && text.utf8.allSatisfy(isHexadecimal)
    }

    /// Returns the resource's name within its collection, which has the same length for every mark.
    static func resource(_ mark: EventMark) -> String { "\(prefix)\(digest(mark)).ics" }

    /// Returns the mark of an event; nil for an event that is not ours.
    ///
    /// A copy that a person made has the property, but another UID and name: it belongs to the person.
    static func mark(property: String?, uid: String, resource: String) -> EventMark? {
        let uidText = uid.hasPrefix(prefix) ? String(uid.dropFirst(prefix.count)) : nil
        for text in [property, uidText].compactMap({ $0 }) {
            guard let mark = mark(text), self.uid(mark) == uid || self.resource(mark) == resource else { continue }
            return mark
        }
        return nil
    }

    /// Returns the name of a calendar that is created for a key: always the same, so that it is found again.
    static func calendar(_ key: String, attempt: Int) -> String {
        let digest = Hexadecimal.text(SHA256.hash(data: Array(key.utf8)).prefix(10))
        return prefix + digest + (attempt == 0 ? "" : "-\(attempt + 1)")
    }

    /// Reports whether a calendar carries our sign, in its resource name or its description.
    static func isOurs(name: String, description: String?) -> Bool {
        isSign(Array(name.utf8)[...])
            || (description ?? "").utf8.split { $0 == 32 || $0 == 40 || $0 == 41 || $0 == 10 }.contains {
                isSign(Array($0)[...])
            }
    }

    private static func isSign(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.starts(with: prefix.utf8) else { return false }
        let digest = bytes.dropFirst(prefix.utf8.count).prefix { $0 != UInt8(ascii: "-") }
        return digest.count == 20 && digest.allSatisfy(isHexadecimal)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 || byte >= 97 && byte <= 102 }
}
