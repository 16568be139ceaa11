// SPDX-License-Identifier: Apache-2.0

/// Pieces of work that wait for a thread. Callers take turns: whoever has much to do waits after each piece for one piece
/// of everybody else who waits.
package struct TurnLine: Sendable {
    package typealias Piece = @Sendable () -> Void

    /// The callers that wait, the next one first, and the work of each in order of arrival.
    private var callers: [ByteString] = []
    private var waiting: [ByteString: [Piece]] = [:]
    private var running: [ByteString: (count: Int, most: Int)] = [:]

    package init() {}

    /// - Parameter most: how many pieces of the caller may be under way when this one begins, with itself.
    package mutating func add(_ piece: @escaping Piece, for caller: ByteString, most: Int = .max) {
        running[caller, default: (0, most)].most = most
        if waiting[caller] == nil { callers.append(caller) }
        waiting[caller, default: []].append(piece)
    }

    /// Whether a caller may begin a piece that has not waited; it is under way then, and `ended` follows.
    package mutating func begins(_ caller: ByteString, most: Int) -> Bool {
        guard running[caller].map({ $0.count < most }) ?? (most > 0) else { return false }
        running[caller] = ((running[caller]?.count ?? 0) + 1, most)
        return true
    }

    /// Removes and returns the next piece, whose caller goes to the end of the line; nil if nobody waits who has not as
    /// many under way as one may have. `ended` follows each.
    package mutating func next() -> (caller: ByteString, piece: Piece)? {
        let place = callers.firstIndex { caller in running[caller].map { $0.count < $0.most } ?? true }
        guard let caller = place.map({ callers.remove(at: $0) }), var own = waiting.removeValue(forKey: caller),
            !own.isEmpty
        else { return nil }
        let piece = own.removeFirst()
        if !own.isEmpty {
            waiting[caller] = own
            callers.append(caller)
        }
        running[caller]?.count += 1
        return (caller, piece)
    }

    /// A caller's piece is done.
    package mutating func ended(_ caller: ByteString) {
        running[caller]?.count -= 1
        if running[caller]?.count == 0, waiting[caller] == nil { running[caller] = nil }
    }

    /// The number of pieces that wait for a thread.
    package var count: Int { waiting.values.reduce(0) { $0 + $1.count } }
}
