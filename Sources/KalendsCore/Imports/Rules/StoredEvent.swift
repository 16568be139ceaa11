// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import FoundationEssentials
import ICalBridge
import Storage

/// The stored form of an event, which is packed: equal events have equal texts.
enum StoredEvent {
    static func text(_ event: Event) -> String {
        var writer = PackWriter()
        writer.write(event)
        return writer.text
    }

    static func event(_ text: String) throws -> Event {
        var reader = PackReader(Array(text.utf8))
        return try reader.event()
    }

    /// Whether both are the same event or both are nil.
    static func isSame(_ a: String?, _ b: String?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return a.isSameText(as: b)
    }

    /// Returns a digest that identifies an event.
    static func digest(_ text: String) -> String { ContentHash(of: SHA256.hash(data: Array(text.utf8))).text }

    /// Returns the UID that feeds show if another event already has the original one: always the same for the same
    /// event of the same source.
    static func derivedUID(_ uid: String, of source: EventSource) -> String {
        ContentHash(of: SHA256.hash(data: Data("\(source.text)\u{0}\(uid)".utf8))).text + derived
    }

    /// The hash in a derived UID, with which the name of its resource begins, too; nil for another UID.
    static func hash(inDerived uid: String) -> String? {
        uid.hasSuffix(derived) ? String(uid.dropLast(derived.count)) : nil
    }

    private static let derived = "@derived"
}
