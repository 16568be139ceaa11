// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Room of a fixed size for incoming bytes, shared so that nobody can take all of it.
///
/// A caller or a network may take more only while it holds less than half of what is free. The first gets a third of
/// the room, each later one a third of what is left, and there is always something for the next, without anybody being
/// evicted (the dynamic thresholds of Choudhury and Hahne).
package final class FairPool: Sendable {
    struct Size: Sendable {
        var bytes: Int
        var slots = Int.max
        /// The maximum number of places that one person may have at a time.
        var slotsPerPerson = Int.max
    }

    private struct Usage {
        var slots = 0
        var bytes = 0

        var isNothing: Bool { slots == 0 && bytes == 0 }
    }

    private struct State {
        var all = Usage()
        var callers: [ByteString: Usage] = [:]
        var networks: [ByteString: Usage] = [:]
    }

    let size: Size
    private let state = Mutex(State())
    /// The sentence for a sender who finds no room.
    private let busy: String
    /// The purpose of a place, in a sentence for a person who has too many.
    private let purpose: String

    /// - Parameter purpose: the plural of what a place is for.
    init(_ size: Size, busy: String, of purpose: String = "files") {
        (self.size, self.busy, self.purpose) = (size, busy, purpose)
    }

    /// Room that is held; it is given back when the last reference to it ends.
    package final class Holding: Sendable {
        private struct State {
            var sender: Sender
            var bytes = 0
        }

        private let pool: FairPool
        private let state: Mutex<State>

        fileprivate init(_ pool: FairPool, _ sender: Sender) {
            self.pool = pool
            state = Mutex(State(sender: sender))
        }

        deinit {
            let held = state.withLock { $0 }
            pool.change(held.sender, slots: -1, bytes: -held.bytes)
        }

        var sender: Sender { state.withLock(\.sender) }

        /// Counts what is held for another sender, once that sender is known and before more bytes arrive.
        func belongs(to sender: Sender) {
            state.withLock { held in
                guard held.sender != sender else { return }
                pool.change(held.sender, slots: -1, bytes: -held.bytes)
                pool.change(sender, slots: 1, bytes: held.bytes)
                held.sender = sender
            }
        }

        /// Takes more room; throws 503 if there is none, or if the sender already has as much as anybody may have now.
        package func grow(by count: Int) throws(Refusal) {
            try pool.grow(sender, by: count)
            state.withLock { $0.bytes += count }
        }

        /// Gives back a part of the room.
        func shrink(by count: Int) {
            state.withLock { held in
                pool.change(held.sender, slots: 0, bytes: -count)
                held.bytes -= count
            }
        }

        /// Like `grow`, for bytes that are never refused.
        func growAlways(by count: Int) {
            pool.change(sender, slots: 0, bytes: count)
            state.withLock { $0.bytes += count }
        }
    }

    /// Takes a place; throws 429 if a person has too many places, 503 if there are too few for everybody.
    func enter(_ sender: Sender) throws(Refusal) -> Holding {
        let reason: Refusal? = state.withLock { state in
            let (mine, ours) = (state.callers[sender.caller]?.slots ?? 0, state.networks[sender.network]?.slots ?? 0)
            if sender.isPerson, mine >= size.slotsPerPerson { return .tooManyUnderWay(size.slotsPerPerson, purpose) }
            guard 2 * max(mine, ours) < size.slots - state.all.slots else { return refusal }
            Self.change(&state, sender, 1, 0)
            return nil
        }
        if let reason { throw reason }
        return Holding(self, sender)
    }

    /// Takes a place without ever refusing: for work that must go on, is small, and is limited by other means.
    func enterAlways(_ sender: Sender) -> Holding {
        change(sender, slots: 1, bytes: 0)
        return Holding(self, sender)
    }

    /// The number of places taken, and the number of bytes held.
    var slots: Int { state.withLock(\.all.slots) }
    var bytes: Int { state.withLock(\.all.bytes) }

    /// The number of bytes that a caller holds.
    func bytes(of sender: Sender) -> Int { state.withLock { $0.callers[sender.caller]?.bytes ?? 0 } }

    private func grow(_ sender: Sender, by count: Int) throws(Refusal) {
        let hasRoom = state.withLock { state in
            let mine = state.callers[sender.caller]?.bytes ?? 0
            let ours = state.networks[sender.network]?.bytes ?? 0
            guard 2 * (max(mine, ours) + count) <= size.bytes - state.all.bytes - count else { return false }
            Self.change(&state, sender, 0, count)
            return true
        }
        if !hasRoom { throw refusal }
    }

    fileprivate func change(_ sender: Sender, slots: Int, bytes: Int) {
        state.withLock { Self.change(&$0, sender, slots, bytes) }
    }

    private static func change(_ state: inout State, _ sender: Sender, _ slots: Int, _ bytes: Int) {
        func add(_ held: inout Usage) { (held.slots, held.bytes) = (held.slots + slots, held.bytes + bytes) }
        add(&state.all)
        add(&state.callers[sender.caller, default: Usage()])
        add(&state.networks[sender.network, default: Usage()])
        if state.callers[sender.caller]?.isNothing == true { state.callers[sender.caller] = nil }
        if state.networks[sender.network]?.isNothing == true { state.networks[sender.network] = nil }
    }

    private var refusal: Refusal {
        Refusal(.unavailable, code: .busy, detail: busy, retryAfter: 5)
    }
}

extension Refusal {
    fileprivate static func tooManyUnderWay(_ most: Int, _ purpose: String) -> Refusal {
        Refusal(
            .tooMany, detail: "You have \(most) \(purpose) under way; ask again when one is done.",
            retryAfter: 5)
    }
}
