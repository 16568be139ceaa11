// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storage

/// Conversion between the engine's records and the text that is stored beside their columns.
enum SyncContent {
    /// Returns the text of a record; equal records have equal texts.
    static func text(_ record: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(record), as: UTF8.self)
    }

    /// Reads a record; throws `StorageError` if this version does not understand it.
    static func record<Record: Decodable>(_ type: Record.Type, _ text: String) throws -> Record {
        do {
            return try Record(decodingJSON: text.utf8)
        } catch {
            let whereabouts = (error as? JSONFault)?.whereabouts ?? ""
            throw StorageError.unexpectedResult("A \(type) is not as Kalends writes it\(whereabouts).")
        }
    }
}
