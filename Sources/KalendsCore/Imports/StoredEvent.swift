// SPDX-License-Identifier: Apache-2.0

import Base
import Crypto
import FeedTokens
import FoundationEssentials
import ICalBridge
import Storage

/// The stored form of an event: packed, or JSON if an earlier version stored it.
enum StoredEvent {
    static func text(_ event: Event) -> String {
        var writer = PackWriter()
        writer.write(event)
        return writer.text
    }

    static func event(_ text: String) throws -> Event {
        guard !isJSON(text) else { return try Event(decodingJSON: text.utf8) }
        var reader = PackReader(Array(text.utf8))
        return try reader.event()
    }

    /// Whether both are the same event or both are nil, whichever version stored them.
    static func isSame(_ a: String?, _ b: String?) throws -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        if a.isSameText(as: b) { return true }
        guard isJSON(a) || isJSON(b) else { return false }
        return try event(a) == event(b)
    }

    /// Returns a digest that identifies an event, whichever version stored it.
    static func digest(_ text: String) throws -> String {
        let packed = isJSON(text) ? Self.text(try event(text)) : text
        return ContentHash(of: SHA256.hash(data: Array(packed.utf8))).text
    }

    /// Returns the UID that feeds show if another event already has the original one: always the same for the same
    /// event of the same source.
    static func derivedUID(_ uid: String, of source: EventSource) -> String {
        ContentHash(of: SHA256.hash(data: Data("\(source.text)\u{0}\(uid)".utf8))).text + "@derived"
    }

    private static func isJSON(_ text: String) -> Bool { text.utf8.first == UInt8(ascii: "{") }
}
