// SPDX-License-Identifier: Apache-2.0

import Storage

/// The place of a file's events, which are read a block at a time.
enum ImportEvents: Sendable {
    case spooled(Spool, [Range<Int>])
    /// Stored with the preview of an import.
    case stored(importID: String, blocks: Int)

    var blocks: Int {
        switch self {
        case .spooled(_, let ranges): ranges.count
        case .stored(_, let blocks): blocks
        }
    }

    /// Reads a packed block; this must not happen within a transaction, which others would have to wait for.
    func packed(_ block: Int, _ store: any Store) async throws -> [UInt8] {
        switch self {
        case .spooled(let spool, let ranges): try spool.read(ranges[block])
        case .stored(let id, _):
            Array(try await store.read { try $0.importSource(ofImport: id, block: block) }.utf8)
        }
    }
}
