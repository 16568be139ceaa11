// SPDX-License-Identifier: Apache-2.0

internal import Storage
internal import Synchronization

/// The circles to which this server writes, each with the writes that wait for the one before them; their callers take
/// turns.
///
/// They wait here, so that only one of them takes a session, and the others of the circle leave the rest to other circles.
final class CircleQueue: Sendable {
    private let waiting = Mutex<[ByteString: TurnLine]>([:])

    /// How many wait for a circle.
    func count(waitingFor circle: ByteString) -> Int { waiting.withLock { $0[circle]?.count ?? 0 } }

    /// Waits until no other write of this server concerns a circle; `leave` ends that.
    func enter(_ circle: ByteString) async {
        let caller = DatabaseCaller.current?.name ?? ""
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                guard waiting[circle] == nil else {
                    waiting[circle]?.add({ continuation.resume() }, for: caller)
                    return false
                }
                waiting[circle] = TurnLine()
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func leave(_ circle: ByteString) {
        let next = waiting.withLock { waiting -> TurnLine.Piece? in
            guard let next = waiting[circle]?.next() else {
                waiting[circle] = nil
                return nil
            }
            waiting[circle]?.ended(next.caller)
            return next.piece
        }
        next?()
    }
}
