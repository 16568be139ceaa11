// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The circles to which this server writes, each with the writes that wait for the one before them.
///
/// They wait here, so that only one of them takes a session, and the others of the circle leave the rest to other circles.
final class CircleQueue: Sendable {
    private let waiting = Mutex<[ByteString: [CheckedContinuation<Void, Never>]]>([:])

    /// Waits until no other write of this server concerns a circle; `leave` ends that.
    func enter(_ circle: ByteString) async {
        await withCheckedContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                guard waiting[circle] == nil else {
                    waiting[circle]?.append(continuation)
                    return false
                }
                waiting[circle] = []
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func leave(_ circle: ByteString) {
        let next = waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            guard waiting[circle]?.isEmpty == false else {
                waiting[circle] = nil
                return nil
            }
            return waiting[circle]?.removeFirst()
        }
        next?.resume()
    }
}
