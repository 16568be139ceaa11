// SPDX-License-Identifier: Apache-2.0

/// How long to wait after runs that failed.
public struct RetryPolicy: Hashable, Sendable {
    /// Seconds after the first failure.
    public var first = 30
    /// The longest wait, in seconds, whatever the server asks for beyond it.
    public var longest = 4 * 3600

    public init() {}

    /// Seconds until the next attempt; nil when only a person can help.
    ///
    /// - Parameters:
    ///   - attempts: failures in a row, 1 or more.
    ///   - share: 0 to 1, random, so that devices do not come back all at once.
    public func wait(after failure: CompanionFailure, attempts: Int, share: Double) -> Int? {
        var asked: Int?
        switch failure {
        case .unauthorized, .forbidden, .refused: return nil
        case .tooManyRequests(let seconds): asked = seconds
        case .server(_, let seconds): asked = seconds
        case .offline, .timedOut, .badAnswer, .cancelled: break
        }
        let doubled = min(longest, first << min(max(attempts, 1) - 1, 16))
        // Half of the wait is certain, so that no device comes back at once.
        let wait = Int(Double(doubled) * (0.5 + 0.5 * min(max(share, 0), 1)))
        return min(longest, max(asked ?? 0, wait))
    }
}
