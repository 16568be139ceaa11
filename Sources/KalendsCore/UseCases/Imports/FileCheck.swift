// SPDX-License-Identifier: Apache-2.0

package import Base

/// A look at a calendar file: what is wrong where, and what calendar apps make of it; nothing of it is stored.
package struct FileCheck: Sendable {
    package let services: Services

    package init(services: Services) { self.services = services }

    /// Looks at a file in a reading process; throws 429 when too much comes in, 422 for a file beyond its limits.
    ///
    /// - Parameters:
    ///   - sender: whom the bytes are counted to.
    ///   - receive: gives the file once it may come; what it keeps is counted to the holding.
    /// - Returns: what `kalends check --json` writes of it, and its size in bytes.
    package func result(
        from sender: Sender, receive: (FairPool.Holding) async throws -> ImportUpload
    ) async throws -> (found: JSONValue, bytes: Int) {
        let admission = try services.intake.files.enter(sender)
        let upload = try await receive(admission)
        let found = try await services.importReader.check(upload)
        withExtendedLifetime(admission) {}
        return (found, upload.spool.count)
    }
}
