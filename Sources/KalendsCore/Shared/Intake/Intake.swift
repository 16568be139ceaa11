// SPDX-License-Identifier: Apache-2.0

/// The one place where all incoming bytes are counted, whoever sends them: the server as a whole keeps only a limited number.
package struct Intake: Sendable {
    /// Spooled files that are arriving, waiting or being read: uploads, imports by address, and followed calendars.
    let files: FairPool
    /// Spooled bodies of requests that are arriving, or waiting until there is memory for the values made from them.
    let bodies: FairPool
    /// Bytes on the heap that belong to no request: key sets.
    let memory: FairPool

    /// Enough for eight bodies of the largest size from one network.
    private static let bodyBytes = 384 << 20
    private static let memoryBytes = 12 << 20

    package init(_ settings: ServerSettings) {
        files = FairPool(
            FairPool.Size(bytes: 4 * settings.maxImportBytes, slots: 48, slotsPerPerson: 6),
            busy: "Many files are coming in at this moment; ask again soon.")
        bodies = FairPool(
            FairPool.Size(bytes: Self.bodyBytes, slots: 256, slotsPerPerson: 12),
            busy: "Many large requests are coming in at this moment; ask again soon.")
        memory = FairPool(
            FairPool.Size(bytes: Self.memoryBytes),
            busy: "Many large requests are coming in at this moment; ask again soon.")
    }
}
