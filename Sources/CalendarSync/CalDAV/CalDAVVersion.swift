// SPDX-License-Identifier: Apache-2.0

/// An etag together with what was seen in the object that it names, as one text.
///
/// A plain object, which has nothing but what we write ourselves, can be written again without being read first. It is
/// remembered nowhere else between two runs.
struct CalDAVVersion: Hashable, Sendable {
    enum Seen: Hashable, Sendable, Codable {
        /// The object has nothing that an entry does not have; `sequence` is the number of its last revision.
        case plain(sequence: Int)
        /// The object is what we wrote, as far as the server said; nobody has read it since.
        case written(sequence: Int)
        /// The object has properties that we do not understand, and keep.
        case more
        /// The object has guests, to whom a scheduling server would send messages.
        case guests
        /// The object was not looked at.
        case unknown
    }

    /// The etag as the server wrote it.
    var etag: String
    var seen: Seen

    init(etag: String, seen: Seen) {
        self.etag = etag
        self.seen = seen
    }

    init(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        let first = parts.first ?? ""
        let letter = first.utf8.first
        let isNumbered = letter == UInt8(ascii: "p") || letter == UInt8(ascii: "w")
        if parts.count == 2, isNumbered, let sequence = Int(first.dropFirst()), sequence >= 0 {
            let isRead = letter == UInt8(ascii: "p")
            self.init(
                etag: String(parts[1]), seen: isRead ? .plain(sequence: sequence) : .written(sequence: sequence))
        } else if parts.count == 2, first == "m" {
            self.init(etag: String(parts[1]), seen: .more)
        } else if parts.count == 2, first == "g" {
            self.init(etag: String(parts[1]), seen: .guests)
        } else {
            self.init(etag: text, seen: .unknown)
        }
    }

    var text: String {
        switch seen {
        case .plain(let sequence): "p\(sequence) \(etag)"
        case .written(let sequence): "w\(sequence) \(etag)"
        case .more: "m \(etag)"
        case .guests: "g \(etag)"
        case .unknown: etag
        }
    }

    /// The number of the last revision of an object that has nothing but what we write; nil for any other object.
    var ownSequence: Int? {
        switch seen {
        case .plain(let sequence), .written(let sequence): sequence
        case .more, .guests, .unknown: nil
        }
    }

    /// The value for If-Match, which accepts no weak validator (RFC 9110 section 13.1.1): the strong etag that a proxy
    /// made weak. It has quotes only if the server wrote them, because some servers compare it as text.
    var condition: String { etag.hasPrefix("W/") ? String(etag.dropFirst(2)) : etag }

    /// The condition with quotes if the server wrote none, and without them otherwise.
    var otherCondition: String { condition == tag ? "\"\(tag)\"" : tag }

    /// The part that two etags of the same state have in common, whether or not they are weak or have quotes.
    var tag: String {
        let text = condition
        let isQuoted = text.utf8.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
        return isQuoted ? String(text.dropFirst().dropLast()) : text
    }

    /// Returns an etag that can be sent back; nil when the text is not a valid one.
    static func etag(_ text: String?) -> String? {
        guard let text, !text.isEmpty, text.utf8.count <= 512, text.utf8.allSatisfy({ $0 > 32 && $0 != 127 }) else {
            return nil
        }
        return text
    }
}
