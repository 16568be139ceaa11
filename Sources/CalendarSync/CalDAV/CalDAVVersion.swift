// SPDX-License-Identifier: Apache-2.0

/// An etag together with what was seen of the object that it names, as one text.
///
/// A plain object, in which nothing is but what we write ourselves, can be written again without being read first.
/// Nothing else remembers that between two runs.
struct CalDAVVersion: Hashable, Sendable {
    enum Seen: Hashable, Sendable {
        /// Nothing that an entry does not have; with the number of its last revision.
        case plain(sequence: Int)
        /// It is what we wrote, as far as the server said; nobody has read it since.
        case written(sequence: Int)
        /// Properties that we do not understand, and keep.
        case more
        /// Guests, to whom a scheduling server would write.
        case guests
        /// It was not looked at.
        case unknown
    }

    /// As the server wrote it.
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

    /// The number of the last revision of an object in which there is nothing but what we write; nil for any other.
    var ownSequence: Int? {
        switch seen {
        case .plain(let sequence), .written(let sequence): sequence
        case .more, .guests, .unknown: nil
        }
    }

    /// For If-Match, which takes no weak validator (RFC 9110 section 13.1.1): the strong one that a proxy made weak.
    var condition: String { etag.hasPrefix("W/") ? String(etag.dropFirst(2)) : etag }

    /// An etag that can be sent back; nil when the text is not a valid one.
    static func etag(_ text: String?) -> String? {
        guard let text, !text.isEmpty, text.utf8.count <= 512, text.utf8.allSatisfy({ $0 > 32 && $0 != 127 }) else {
            return nil
        }
        let isQuoted = text.hasPrefix("\"") || text.hasPrefix("W/\"")
        return isQuoted ? text : "\"\(text)\""
    }
}
