// SPDX-License-Identifier: Apache-2.0

import Storage

/// The events of a file, which are kept outside of this process's memory and read a block at a time.
struct ImportEvents: Sendable {
    enum Place: Sendable {
        /// Each block by the place of its first event.
        case spooled(Spool, [Int: Range<Int>])
        /// Stored with the preview of an import.
        case stored(importID: String)
    }

    let place: Place
    let count: Int

    /// Reads the packed block that begins with an event; this must not happen within a transaction, which others would have
    /// to wait for.
    func packed(from first: Int, _ store: any Store) async throws -> [UInt8] {
        switch place {
        case .spooled(let spool, let ranges):
            guard let range = ranges[first] else {
                throw StorageError.unexpectedResult("What was read of a file has no block here.")
            }
            return try spool.read(range)
        case .stored(let id):
            return Array(try await store.read { try $0.importSource(ofImport: id, block: first) }.utf8)
        }
    }
}
