// SPDX-License-Identifier: Apache-2.0

/// The wait after runs that failed.
public struct RetryPolicy: Hashable, Sendable {
    /// Seconds after the first failure.
    public var first = 30
    /// The longest wait, in seconds, even if the server requests more.
    public var longest = 4 * 3600

    public init() {}

    /// Returns the seconds until the next attempt; nil when only a person can help.
    ///
    /// - Parameters:
    ///   - attempts: the number of failures in a row, at least 1.
    ///   - share: a random number from 0 to 1, so that devices do not all return at the same time.
    public func wait(after failure: CompanionFailure, attempts: Int, share: Double) -> Int? {
        var asked: Int?
        switch failure {
        case .unauthorized, .forbidden, .refused: return nil
        case .tooManyRequests(let seconds): asked = seconds
        case .server(_, let seconds): asked = seconds
        case .offline, .timedOut, .badAnswer, .cancelled: break
        }
        let doubled = min(longest, first << min(max(attempts, 1) - 1, 16))
        // Half of the wait is fixed, so that no device returns immediately.
        let wait = Int(Double(doubled) * (0.5 + 0.5 * min(max(share, 0), 1)))
        return min(longest, max(asked ?? 0, wait))
    }
}
