// SPDX-License-Identifier: Apache-2.0

internal import PhoneTexts

/// When the next sync is due. All times are milliseconds.
public struct SyncSchedule: Hashable, Sendable {
    /// The time from one sync to the next: 30 to 60 minutes, at random, so that devices do not all come at once.
    public var shortest = 30 * 60_000
    public var longest = 60 * 60_000
    /// The first wait after a failure that may pass; it doubles up to `shortest`.
    public var firstRetry = 60_000

    public init() {}

    /// How long after a sync the next one is due.
    ///
    /// - Parameters:
    ///   - failures: syncs in a row that failed, this one included.
    ///   - chance: from 0 up to 1, at random.
    public func wait(after status: SyncStatus, chance: Double) -> Int {
        let share = min(max(chance, 0), 1)
        switch status.lastError {
        case .offline, .serverError:
            let full = min(shortest, firstRetry << min(max(status.failures - 1, 0), 16))
            return full / 2 + Int(Double(full / 2) * share)
        case .permissionDenied, .invalidToken, .someFailed, nil:
            // Of these a person has to do something, or the server is left the usual time.
            return shortest + Int(Double(longest - shortest) * share)
        }
    }
}
