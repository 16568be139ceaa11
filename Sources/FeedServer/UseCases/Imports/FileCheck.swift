// SPDX-License-Identifier: Apache-2.0

import Base

/// A look at a calendar file: what is wrong where, and what calendar apps make of it; nothing of it is stored.
struct FileCheck: Sendable {
    let services: Services

    /// Looks at a file in a reading process; throws 429 when too much comes in, 422 for a file beyond its limits.
    ///
    /// - Parameters:
    ///   - sender: whom the bytes are counted to.
    ///   - receive: gives the file once it may come; what it keeps is counted to the holding.
    /// - Returns: what `kalends check --json` writes of it, and its size in bytes.
    func result(
        from sender: Sender, receive: (FairPool.Holding) async throws -> ImportUpload
    ) async throws -> (found: JSONValue, bytes: Int) {
        let admission = try services.intake.files.enter(sender)
        let upload = try await receive(admission)
        let found = try await services.importReader.check(upload)
        withExtendedLifetime(admission) {}
        return (found, upload.spool.count)
    }
}
