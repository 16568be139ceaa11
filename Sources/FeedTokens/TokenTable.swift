// SPDX-License-Identifier: Apache-2.0

internal import Storage

/// Slots of remembered tokens and an index of them by hash: open addressing, since hashes are random already.
struct TokenTable {
    struct Slot {
        let key: TokenKey
        /// The number under which the feed's accesses are counted, below 2³².
        let number: UInt32
        /// Nil when the token has ended.
        let version: FeedVersion?
        let changedAt: Int
        /// The first millisecond in which the token opens nothing.
        let endsAt: Int
        let circle: WriteClock.Slot
        /// The clock's time before the entry was read.
        let asOf: UInt64
        var shown: ShownFeed?
        /// Whether it was asked for again since the hand last passed.
        var isUsed = false

        init(_ key: TokenKey, _ found: FoundToken, asOf: UInt64) {
            self.key = key
            self.asOf = asOf
            circle = WriteClock.Slot(circle: found.circleID)
            switch found.feed {
            case .some(let live):
                number = UInt32(truncatingIfNeeded: live.number)
                version = live.version
                changedAt = live.changedAt
                endsAt = found.endsAt ?? .max
                shown = live.shown
            case nil:
                (number, version, changedAt, endsAt) = (0, nil, 0, .min)
            }
        }

        func resolution(now: Int) -> TokenResolution {
            guard let version, now < endsAt else { return .ended }
            return .live(LiveFeed(number: Int(number), version: version, changedAt: changedAt, shown: shown))
        }
    }

    private let capacity: Int
    private(set) var count = 0
    var slots: [Slot] = []
    /// Positions in `slots` plus one, 0 for an empty place; the size is a power of two, at most three quarters in use.
    private var index: [UInt32] = Array(repeating: 0, count: 16)
    private var hand = 0

    init(capacity: Int) { self.capacity = min(capacity, Int(UInt32.max) - 1) }

    func find(_ key: TokenKey) -> Int? {
        var bucket = start(key)
        while index[bucket] != 0 {
            let position = Int(index[bucket]) - 1
            if slots[position].key == key { return position }
            bucket = (bucket + 1) & (index.count - 1)
        }
        return nil
    }

    /// Inserts a slot that is not there yet; when all slots are in use, one that was not used recently is replaced.
    mutating func insert(_ slot: Slot) {
        if slots.count < capacity {
            slots.append(slot)
            count += 1
            if count * 4 > index.count * 3 { grow() } else { link(slots.count - 1) }
            return
        }
        while slots[hand].isUsed {
            slots[hand].isUsed = false
            hand = (hand + 1) % slots.count
        }
        unlink(slots[hand].key)
        slots[hand] = slot
        link(hand)
        hand = (hand + 1) % slots.count
    }

    private func start(_ key: TokenKey) -> Int { Int(truncatingIfNeeded: key.first[0]) & (index.count - 1) }

    private mutating func link(_ position: Int) {
        var bucket = start(slots[position].key)
        while index[bucket] != 0 { bucket = (bucket + 1) & (index.count - 1) }
        index[bucket] = UInt32(position + 1)
    }

    /// Removes a key from the index; the keys behind it that it displaced move up.
    private mutating func unlink(_ key: TokenKey) {
        let mask = index.count - 1
        var bucket = start(key)
        while index[bucket] != 0, slots[Int(index[bucket]) - 1].key != key { bucket = (bucket + 1) & mask }
        guard index[bucket] != 0 else { return }
        var next = (bucket + 1) & mask
        while index[next] != 0 {
            let home = start(slots[Int(index[next]) - 1].key)
            // Whether `home` is at or before the gap, wrapping around.
            if (next - home) & mask >= (next - bucket) & mask {
                index[bucket] = index[next]
                bucket = next
            }
            next = (next + 1) & mask
        }
        index[bucket] = 0
    }

    private mutating func grow() {
        index = Array(repeating: 0, count: index.count * 2)
        for position in slots.indices { link(position) }
    }
}
