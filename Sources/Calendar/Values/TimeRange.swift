// SPDX-License-Identifier: Apache-2.0

/// The time from one instant up to another, which is not included.
public struct TimeRange: Hashable, Sendable, Codable {
    public var from: Instant
    public var to: Instant

    public init(from: Instant, to: Instant) { (self.from, self.to) = (from, to) }

    public init(seconds: Range<Int>) {
        self.init(from: Instant(seconds: seconds.lowerBound), to: Instant(seconds: seconds.upperBound))
    }

    /// In seconds since 1970; the end must not be before the start.
    public var seconds: Range<Int> { from.seconds..<to.seconds }

    /// The range with some seconds before and after it.
    public func widened(by seconds: Int) -> TimeRange {
        TimeRange(from: from.adding(seconds: -seconds), to: to.adding(seconds: seconds))
    }

    /// Whether something between these times is at least partly in the range; if it takes no time, its start decides.
    public func overlaps(_ start: Instant, until end: Instant) -> Bool { start < to && (end > from || start >= from) }

    public func overlaps(_ other: TimeRange) -> Bool { overlaps(other.from, until: other.to) }

    package func contains(_ instant: Instant) -> Bool { from <= instant && instant < to }
    package func contains(_ other: TimeRange) -> Bool { from <= other.from && other.to <= to }
}
