// SPDX-License-Identifier: Apache-2.0

internal import PhoneTexts

/// Computes when the next sync is due; all times are in milliseconds.
public struct SyncSchedule: Hashable, Sendable {
    /// The time between two syncs: a random 30 to 60 minutes, so that devices do not all connect at the same time.
    public var shortest = 30 * 60_000
    public var longest = 60 * 60_000
    /// The first wait after a temporary failure; it doubles up to `shortest`.
    public var firstRetry = 60_000

    public init() {}

    /// Returns how long after a sync the next one is due.
    ///
    /// - Parameters:
    ///   - failures: the number of failed syncs in a row, including this one.
    ///   - chance: a random number from 0 up to 1.
    public func wait(after status: SyncStatus, chance: Double) -> Int {
        let share = min(max(chance, 0), 1)
        switch status.lastError {
        case .offline, .serverError:
            let full = min(shortest, firstRetry << min(max(status.failures - 1, 0), 16))
            return full / 2 + Int(Double(full / 2) * share)
        case .permissionDenied, .invalidToken, .someFailed, nil:
            // These failures need a person, or the next sync can wait for the usual time.
            return shortest + Int(Double(longest - shortest) * share)
        }
    }
}
