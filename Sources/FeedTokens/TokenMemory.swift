// SPDX-License-Identifier: Apache-2.0

internal import Storage
internal import Synchronization

/// Tokens that were looked up, with what their feeds showed, in a bounded number of bytes.
///
/// A token takes one slot of fixed size. When all slots are in use, one that was not asked for since the last time
/// around is reused. An entry that was stored after its circle's last write is as good as a look-up; all others are
/// looked up again.
public final class TokenMemory: Sendable {
    /// The size of one token's entry, in bytes.
    public static let bytesPerToken = MemoryLayout<TokenTable.Slot>.stride + 8

    private let shards: [Locked<TokenTable>]
    private let clock: WriteClock

    /// - Parameter limit: the size in bytes; a token takes about 180.
    init(clock: WriteClock, limit: Int = 256 << 20) {
        self.clock = clock
        let each = max(1, limit / Self.bytesPerToken / 64)
        shards = (0..<64).map { _ in Locked(TokenTable(capacity: each)) }
    }

    /// The number of remembered tokens.
    public var count: Int { shards.reduce(0) { $0 + $1.withLock { $0.count } } }

    func find(_ key: TokenKey, now: Int) -> TokenResolution? {
        shard(key).withLock { shard -> TokenTable.Slot? in
            guard let index = shard.find(key) else { return nil }
            let slot = shard.slots[index]
            guard clock.isUnchanged(slot.circle, since: slot.asOf) else { return nil }
            if !slot.isUsed { shard.slots[index].isUsed = true }
            return slot
        }?.resolution(now: now)
    }

    /// Remembers what was read after the clock showed `time`, and returns what the token opens.
    func remember(_ key: TokenKey, _ found: FoundToken, asOf time: UInt64, now: Int) -> TokenResolution {
        var slot = TokenTable.Slot(key, found, asOf: time)
        shard(key).withLock { shard in
            guard let index = shard.find(key) else { return shard.insert(slot) }
            let old = shard.slots[index]
            // Remembered facts about its bytes are valid while the version stays the same.
            if slot.number == old.number, slot.version == old.version { slot.shown = old.shown }
            guard old.asOf <= time else { return }
            slot.isUsed = true
            shard.slots[index] = slot
        }
        return slot.resolution(now: now)
    }

    /// What a feed showed last, if that is remembered for this version.
    func shown(_ key: TokenKey, of feed: LiveFeed) -> ShownFeed? {
        shard(key).withLock { shard in
            guard let index = shard.find(key), Int(shard.slots[index].number) == feed.number,
                shard.slots[index].version == feed.version
            else { return nil }
            return shard.slots[index].shown
        }
    }

    /// Remembers what a feed of that version shows, if the remembered version is still the same.
    func remember(_ key: TokenKey, _ shown: ShownFeed, of version: FeedVersion) {
        shard(key).withLock { shard in
            guard let index = shard.find(key), shard.slots[index].version == version else { return }
            shard.slots[index].shown = shown
        }
    }

    private func shard(_ key: TokenKey) -> Locked<TokenTable> { shards[Int(truncatingIfNeeded: key.second[1] & 63)] }
}

/// A lock in a class, so that locks can be stored in an array.
final class Locked<Value>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: sending Value) { mutex = Mutex(value) }

    func withLock<Result>(_ body: (inout sending Value) -> sending Result) -> sending Result { mutex.withLock(body) }
}

/// SHA-256 of a token's bits.
///
/// Stored as two halves, because the compiler (6.2, optimized) gives an asynchronous function that keeps a value
/// aligned to 32 bytes a frame that is too short for it: the last words of the frame then overwrite what follows it.
public struct TokenKey: Hashable, Sendable {
    let first: SIMD2<UInt64>
    let second: SIMD2<UInt64>
}
