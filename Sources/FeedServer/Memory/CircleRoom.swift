// SPDX-License-Identifier: Apache-2.0

import Storage

extension Services {
    /// Room for all of a circle, taken before it is read and given back with the share; waits for its turn.
    ///
    /// Throws 503 when others keep it for too long.
    func room(forCircle id: String) async throws -> MemoryShare {
        let size = try await store.read { transaction in
            let items = try transaction.itemUsage(of: id)
            return CircleSize(items: items, imported: try transaction.importedEventCount(in: id))
        }
        let share = MemoryShare(memory.circles)
        try await share.hold(size.memory)
        return share
    }
}

/// How much a circle is to read.
private struct CircleSize: Sendable {
    let items: Usage
    let imported: Int

    /// About what it takes while something is made of it: each text as a row, as values and as what is made.
    var memory: Int { items.bytes * 4 + (items.count + imported) * 3072 }
}
