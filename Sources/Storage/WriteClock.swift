// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Counts writes, and knows when one last concerned each circle: whether what was read before still holds.
///
/// Circles share marks, so that memory stays small however many there are: a write to one circle makes what is
/// remembered of a few others stale too, which costs them a look-up each.
public final class WriteClock: Sendable {
    /// The circles that share a mark; a circle keeps it only as long as the process runs.
    public struct Mark: Hashable, Sendable {
        let index: Int16

        public init(circle id: String) {
            index = Int16(truncatingIfNeeded: ByteString(id).hashValue & (WriteClock.marks - 1))
        }
    }

    private static let marks = 16_384

    private let latest = Atomic<UInt64>(1)
    private let everywhere = Atomic<UInt64>(1)
    private let circles = InlineArray<16_384, Atomic<UInt64>> { _ in Atomic(0) }

    public init() {}

    /// The number of the latest write that has returned; higher with each.
    public var now: UInt64 { latest.load(ordering: .acquiring) }

    /// Whether nothing that concerns a circle was written after `now` was `time`.
    public func isUnchanged(_ mark: Mark, since time: UInt64) -> Bool {
        circles[Int(mark.index)].load(ordering: .acquiring) <= time && everywhere.load(ordering: .acquiring) <= time
    }

    /// Notes a write once it is committed and before it is answered.
    ///
    /// - Parameter changed: the circles it concerns; nil when it may be any.
    package func note(_ changed: Set<ByteString>?) {
        let time = latest.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
        guard let changed else {
            everywhere.max(time, ordering: .acquiringAndReleasing)
            return
        }
        for id in changed { circles[Int(Mark(circle: id.string).index)].max(time, ordering: .acquiringAndReleasing) }
    }
}
