// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ICalBridge

/// An event as the database keeps it: packed, or as JSON when an earlier version stored it.
enum StoredEvent {
    static func text(_ event: Event) -> String {
        var writer = PackWriter()
        writer.write(event)
        return writer.text
    }

    static func event(_ text: String) throws -> Event {
        guard !isJSON(text) else { return try JSONDecoder().decode(Event.self, from: Data(text.utf8)) }
        var reader = PackReader(Array(text.utf8))
        return try reader.event()
    }

    /// Whether both are the same event or both none, whichever version stored them.
    static func isSame(_ a: String?, _ b: String?) throws -> Bool {
        guard a != b else { return true }
        guard let a, let b, isJSON(a) || isJSON(b) else { return false }
        return try event(a) == event(b)
    }

    private static func isJSON(_ text: String) -> Bool { text.utf8.first == UInt8(ascii: "{") }
}
