// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A counter of writes that records when one last concerned each circle, to show whether an earlier read still holds.
///
/// Circles share marks, so that memory stays small however many there are: a write to one circle also makes the caches
/// of a few others stale, which costs each of them a look-up.
public final class WriteClock: Sendable {
    /// The mark that a circle shares with some others; a circle has the same mark only as long as the process runs.
    public struct Slot: Hashable, Sendable {
        let index: Int16

        public init(circle id: String) {
            index = Int16(truncatingIfNeeded: ByteString(id).hashValue & (WriteClock.slotCount - 1))
        }
    }

    private static let slotCount = 16_384

    private let latest = Atomic<UInt64>(1)
    private let everywhere = Atomic<UInt64>(1)
    private let circles = InlineArray<16_384, Atomic<UInt64>> { _ in Atomic(0) }

    public init() {}

    /// The number of the latest write that has returned; it rises with each write.
    public var now: UInt64 { latest.load(ordering: .acquiring) }

    /// Whether no write that concerns a circle came after `now` was `time`.
    public func isUnchanged(_ slot: Slot, since time: UInt64) -> Bool {
        circles[Int(slot.index)].load(ordering: .acquiring) <= time && everywhere.load(ordering: .acquiring) <= time
    }

    /// Records a write once it is committed and before it is answered.
    ///
    /// - Parameter changed: the circles that it concerns; nil when it may concern any.
    package func note(_ changed: Set<ByteString>?) {
        let time = latest.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
        guard let changed else {
            everywhere.max(time, ordering: .acquiringAndReleasing)
            return
        }
        for id in changed { circles[Int(Slot(circle: id.string).index)].max(time, ordering: .acquiringAndReleasing) }
    }
}
