// SPDX-License-Identifier: Apache-2.0

/// The one door through which bytes come in, whoever brings them: what is kept of them has a bound for the whole server.
package struct Intake: Sendable {
    /// Files that are coming in, wait, or are read, in spools: uploads, imports by address, calendars that are followed.
    let files: FairPool
    /// What is kept on the heap although no request asked for it: sets of keys. Bodies of requests are counted by
    /// `MemoryBudgets`.
    let memory: FairPool

    private static let memoryBytes = 12 << 20

    package init(_ settings: ServerSettings) {
        files = FairPool(
            FairPool.Size(bytes: 4 * settings.maxImportBytes, places: 48, placesOfAPerson: 6),
            busy: "Many files are coming in at this moment; ask again soon.")
        memory = FairPool(
            FairPool.Size(bytes: Self.memoryBytes),
            busy: "Many large requests are coming in at this moment; ask again soon.")
    }
}
