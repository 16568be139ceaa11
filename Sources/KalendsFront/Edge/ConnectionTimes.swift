// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import NIOCore

/// The times of `ConnectionLimits` in an event loop's unit.
struct ConnectionTimes: Sendable {
    let tick: TimeAmount
    let firstByte: TimeAmount
    let header: TimeAmount
    let idle: TimeAmount
    let bodyIdle: TimeAmount
    let bodyWindow: TimeAmount
    let write: TimeAmount
    let stopping: TimeAmount

    init(_ limits: ConnectionLimits) {
        tick = TimeAmount(limits.tick)
        firstByte = TimeAmount(limits.firstByte)
        header = TimeAmount(limits.header)
        idle = TimeAmount(limits.idle)
        bodyIdle = TimeAmount(limits.bodyIdle)
        bodyWindow = TimeAmount(limits.bodyWindow)
        write = TimeAmount(limits.write)
        stopping = TimeAmount(limits.stopping)
    }
}
