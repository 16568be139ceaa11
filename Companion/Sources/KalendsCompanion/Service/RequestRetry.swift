// SPDX-License-Identifier: Apache-2.0

/// How often a request is repeated within one run, and the wait before each repetition.
///
/// Waits double and are spread at random over their upper half, so that phones that failed at the same time do not
/// return at the same time.
public struct RequestRetry: Hashable, Sendable {
    /// The total number of requests; at least one.
    public var attempts: Int
    /// The first wait.
    public var first: Duration
    /// The longest wait that the client itself chooses.
    public var longest: Duration
    /// The longest wait that a server may ask for; a longer one ends the attempts.
    public var mostAsked: Duration

    public init(
        attempts: Int = 3, first: Duration = .seconds(1), longest: Duration = .seconds(60),
        mostAsked: Duration = .seconds(20)
    ) {
        self.attempts = max(1, attempts)
        self.first = first
        self.longest = longest
        self.mostAsked = mostAsked
    }

    public static let once = RequestRetry(attempts: 1)

    /// Returns the wait after a failed attempt; nil when there is no further attempt.
    ///
    /// - Parameters:
    ///   - attempt: the number of the attempt, from 1.
    ///   - chance: a random number from 0 up to 1.
    public func wait(after attempt: Int, _ failure: CompanionFailure, chance: Double) -> Duration? {
        guard attempt < attempts, failure.isPassing else { return nil }
        if let seconds = failure.retryAfter {
            let asked = Duration.seconds(max(0, seconds))
            return asked <= mostAsked ? asked : nil
        }
        // A larger shift would only overflow.
        let full = min(longest, first * (1 << min(attempt - 1, 20)))
        return full * (0.5 + 0.5 * min(max(chance, 0), 1))
    }
}
