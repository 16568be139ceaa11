// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// The requests of a connection that went on to the router, in their order: the first is the one that is being answered,
/// and of the last the body may still be coming in.
struct PassedRequests {
    private struct Passed {
        var manner: RequestManner
        var hasBodyBegun = false
        var isWhole = false
        var isContinued = false
        var closes: Bool

        /// Whether the client was neither told to send its body nor did so by itself.
        var isWaiting: Bool { manner.expects && !isContinued && !hasBodyBegun && !isWhole }
    }

    private var queue = CircularBuffer<Passed>()
    /// Whether nothing more is read from the connection until somebody wants the body: until then the system keeps it.
    private(set) var isBodyHeld = false

    var isEmpty: Bool { queue.isEmpty }

    mutating func began(_ manner: RequestManner) {
        queue.append(Passed(manner: manner, closes: manner.closes))
        isBodyHeld = manner.hasBody
    }

    mutating func bodyCame() { if !queue.isEmpty { queue[last].hasBodyBegun = true } }

    /// The last request is there to its end; true when nothing that follows it is heard.
    mutating func ended() -> Bool {
        isBodyHeld = false
        guard !queue.isEmpty else { return false }
        queue[last].isWhole = true
        return queue[last].closes
    }

    /// The body of the request that is being answered will be read; true when the client has to be told so.
    mutating func bodyWanted() -> Bool {
        guard let current = queue.first, !current.isWhole else { return false }
        isBodyHeld = false
        guard current.isWaiting else { return false }
        queue[queue.startIndex].isContinued = true
        return true
    }

    /// Says in the head of an answer what becomes of the connection.
    mutating func frame(_ head: inout HTTPResponseHead) {
        guard let current = queue.first else { return }
        var closes = current.closes
        // Whoever was not told to send the body may send it or not: what comes next could be either.
        if current.isWaiting { closes = true }
        if current.manner.isOld, head.status.mayHaveResponseBody, !head.headers.contains(name: "content-length") {
            // Without chunks the body ends where the connection ends.
            closes = true
            head.version = .http1_0
        }
        if closes {
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        } else if current.manner.isOld {
            head.headers.replaceOrAdd(name: "Connection", value: "keep-alive")
        }
        queue[queue.startIndex].closes = closes
    }

    /// The first request is answered; true when the connection has to end although the router does not know it.
    mutating func answered() -> Bool {
        guard let done = queue.popFirst() else { return false }
        if queue.isEmpty { isBodyHeld = false }
        return done.closes && !done.manner.closes
    }

    private var last: CircularBuffer<Passed>.Index { queue.index(before: queue.endIndex) }
}
