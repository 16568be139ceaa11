// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Allows one sync at a time on this machine: `run` and `sync` take turns.
enum RunLock {
    /// Runs work while this process holds the lock.
    ///
    /// - Throws: `ToolFailure` when another sync takes longer than `patience`.
    static func hold<Value: Sendable>(
        _ file: URL, patience: Duration = .seconds(120), _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let descriptor = unsafe open(file.path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw ToolFailure.failed("\(file.path) cannot be opened.") }
        // The lock ends with the descriptor, even if the program is killed.
        defer { close(descriptor) }
        let end = ContinuousClock.now + patience
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard ContinuousClock.now < end else { throw ToolFailure.failed("Another sync is still under way.") }
            try await Task.sleep(for: .milliseconds(100))
        }
        return try await body()
    }
}
