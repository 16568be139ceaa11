// SPDX-License-Identifier: Apache-2.0

/// Runs work with a time limit; returns nil when the work took longer and was cancelled.
public func within<Value: Sendable>(
    _ time: Duration, _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await Task.sleep(for: time)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}
