// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import NIOCore

/// How fast a body arrives, judged only by recent bytes: a fast start does not earn a client more time.
///
/// Only the time during which the server waits for the client counts.
struct BodyPace {
    private let limits: ConnectionLimits
    private let times: ConnectionTimes
    private var bytes = 0
    /// How long the server has waited for the client, without the span that began at `waitingSince`.
    private var waited = TimeAmount.zero
    private var waitingSince: NIODeadline?
    private var lastByte = TimeAmount.zero
    /// The number of bytes received after each waiting time, the oldest first; one sample lies before the window.
    private var samples = CircularBuffer<(time: TimeAmount, bytes: Int)>()

    init(_ limits: ConnectionLimits) {
        self.limits = limits
        times = ConnectionTimes(limits)
        samples.append((.zero, 0))
    }

    /// The server starts reading from the connection, so any further delay is the client's.
    mutating func waits(from now: NIODeadline) { waitingSince = waitingSince ?? now }

    /// The server stops reading, so nothing can arrive.
    mutating func rests(from now: NIODeadline) {
        waited = time(at: now)
        waitingSince = nil
    }

    mutating func came(_ count: Int, at now: NIODeadline) {
        bytes += count
        lastByte = time(at: now)
    }

    /// Whether nothing arrived for too long, or too little within the window; called from time to time.
    mutating func isTooSlow(at now: NIODeadline) -> Bool {
        guard waitingSince != nil else { return false }
        let time = time(at: now)
        if time - lastByte >= times.bodyIdle { return true }
        defer { samples.append((time, bytes)) }
        let begin = time - times.bodyWindow
        guard begin >= .zero else { return false }
        while samples.count > 1, samples[samples.index(after: samples.startIndex)].time <= begin {
            samples.removeFirst()
        }
        let seconds = Double((time - samples[samples.startIndex].time).nanoseconds) / 1e9
        return Double(bytes - samples[samples.startIndex].bytes) < seconds * Double(limits.bodyRate)
    }

    private func time(at now: NIODeadline) -> TimeAmount { waitingSince.map { waited + (now - $0) } ?? waited }
}
