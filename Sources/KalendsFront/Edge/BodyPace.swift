// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import NIOCore

/// How fast a body comes in, judged by what came lately and never by what came before: nobody earns time by haste.
///
/// Only the time counts in which the server waits for the client.
struct BodyPace {
    private let limits: ConnectionLimits
    private let times: ConnectionTimes
    private var bytes = 0
    /// For how long the client was waited for, without the span that began at `waitingSince`.
    private var waited = TimeAmount.zero
    private var waitingSince: NIODeadline?
    private var lastByte = TimeAmount.zero
    /// How many bytes there were after how long, the oldest first; one of them lies before the window.
    private var samples = CircularBuffer<(time: TimeAmount, bytes: Int)>()

    init(_ limits: ConnectionLimits) {
        self.limits = limits
        times = ConnectionTimes(limits)
        samples.append((.zero, 0))
    }

    /// The server reads from the connection, so that what does not come is the client's delay.
    mutating func waits(from now: NIODeadline) { waitingSince = waitingSince ?? now }

    /// The server does not read, so that nothing can come.
    mutating func rests(from now: NIODeadline) {
        waited = time(at: now)
        waitingSince = nil
    }

    mutating func came(_ count: Int, at now: NIODeadline) {
        bytes += count
        lastByte = time(at: now)
    }

    /// Whether nothing came for too long, or too little within the window; looked at now and then.
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
