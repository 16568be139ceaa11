// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// The requests of a connection that were passed to the router, in order: the first is being answered, and the body of
/// the last may still be arriving.
struct PassedRequests: Equatable {
    private struct Passed: Equatable {
        var framing: RequestFraming
        var hasBodyBegun = false
        var isWhole = false
        var isContinued = false
        var closes: Bool

        /// Whether the client expects `100 Continue`, has not received it, and has not begun to send its body.
        var isWaiting: Bool { framing.expects && !isContinued && !hasBodyBegun && !isWhole }
    }

    private var queue = CircularBuffer<Passed>()
    /// Whether reading from the connection is stopped until the body is wanted; until then the system buffers it.
    private(set) var isBodyHeld = false

    init(_ framing: RequestFraming) { _ = began(framing) }

    var count: Int { queue.count }
    /// Whether the last request has been received in full.
    var isWhole: Bool { queue.last?.isWhole ?? true }

    mutating func began(_ framing: RequestFraming) -> EdgeState.Step {
        guard isWhole else { return .ignore }
        queue.append(Passed(framing: framing, closes: framing.closes))
        isBodyHeld = framing.hasBody
        return .take
    }

    mutating func bodyCame() -> EdgeState.Step {
        guard !isWhole else { return .ignore }
        queue[last].hasBodyBegun = true
        return .take
    }

    /// The last request has been received in full.
    mutating func ended() -> EdgeState.Step {
        guard !isWhole else { return .ignore }
        isBodyHeld = false
        queue[last].isWhole = true
        return queue[last].closes ? .takeLast : .take
    }

    /// The body of the request that is being answered will be read; returns true when the client must be sent `100
    /// Continue`.
    mutating func bodyWanted() -> Bool {
        guard let current = queue.first, !current.isWhole else { return false }
        isBodyHeld = false
        guard current.isWaiting else { return false }
        queue[queue.startIndex].isContinued = true
        return true
    }

    /// Sets the fields in an answer's head that state whether the connection stays open.
    mutating func frame(_ head: inout HTTPResponseHead) {
        guard let current = queue.first else { return }
        var closes = current.closes
        // A client that was not asked for its body may send it or not, so what comes next is ambiguous.
        if current.isWaiting { closes = true }
        if current.framing.isOld, head.status.mayHaveResponseBody, !head.headers.contains(name: "content-length") {
            // Without chunks the end of the connection marks the end of the body.
            closes = true
            head.version = .http1_0
        }
        if closes {
            head.headers.replaceOrAdd(name: "Connection", value: "close")
        } else if current.framing.isOld {
            head.headers.replaceOrAdd(name: "Connection", value: "keep-alive")
        }
        queue[queue.startIndex].closes = closes
    }

    /// The first request is answered; returns true when the connection must end although the router does not know it.
    mutating func answered() -> Bool {
        guard let done = queue.popFirst() else { return false }
        return done.closes && !done.framing.closes
    }

    private var last: CircularBuffer<Passed>.Index { queue.index(before: queue.endIndex) }
}
