// SPDX-License-Identifier: Apache-2.0

package import Base

/// Checks a calendar file: reports its faults and how calendar apps read it. Nothing is stored.
package struct FileCheck: Sendable {
    package let services: Services

    package init(services: Services) { self.services = services }

    /// Checks a file in a reading process; throws 429 when too much is being received, 422 for a file beyond its
    /// limits.
    ///
    /// - Parameters:
    ///   - sender: the sender whose quota the bytes count against.
    ///   - receive: receives the file once it is admitted; the memory that it keeps counts against the holding.
    /// - Returns: the result in the form of `kalends check --json`, and the file's size in bytes.
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
