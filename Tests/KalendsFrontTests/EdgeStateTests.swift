// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1
import TestSupport
import Testing

@testable import KalendsCore
@testable import KalendsFront

/// A connection's state, event by event and without a channel.
@Suite("The state of a connection")
struct EdgeStateTests {
    private static func framing(
        _ fields: HTTPHeaders = [:], _ version: HTTPVersion = .http1_1
    ) throws -> RequestFraming {
        var headers = fields
        headers.add(name: "Host", value: "x")
        return try RequestFraming(HTTPRequestHead(version: version, method: .POST, uri: "/x", headers: headers))
    }

    private static let chunked: HTTPHeaders = ["Transfer-Encoding": "chunked"]

    /// A state in which answers from here have not left.
    private static func waiting(_ count: Int = 1) -> EdgeState {
        var state = EdgeState()
        for _ in 0..<count { state.found(isWhole: true) }
        return state
    }

    /// A state in which the router has a request.
    private static func routed(_ fields: HTTPHeaders = [:], isWhole: Bool = true) throws -> EdgeState {
        var state = EdgeState()
        #expect(state.missed(try framing(fields)) == .take)
        if isWhole { _ = state.endTaken() }
        return state
    }

    private static func status(_ status: HTTPResponseStatus = .ok) -> HTTPResponseHead {
        HTTPResponseHead(version: .http1_1, status: status, headers: ["Content-Length": "2"])
    }

    @Test("Polls that come whole are answered one behind the other, until there are too many")
    func whole() {
        var state = EdgeState()
        for count in 1...EdgeState.limit {
            #expect(state.takesWhole && !state.isFull)
            state.found(isWhole: true)
            #expect(state == .open(.own(unsent: count, rest: .whole)))
        }
        #expect(state.isFull)
        for _ in 0..<EdgeState.limit {
            state.left()
            #expect(!state.isFull)
        }
        #expect(state == EdgeState())
    }

    @Test("The rest of a request that is answered here reaches nobody")
    func ignoredRest() {
        var state = EdgeState()
        #expect(state.partCame() == .take)
        #expect(state.looksUp)
        state.found(isWhole: false)
        #expect(!state.takesWhole && !state.looksUp)
        #expect(state.bodyTaken() == .ignore)
        // The answer may leave before the rest has come.
        state.left()
        #expect(!state.takesWhole)
        #expect(state.endTaken() == .ignore)
        #expect(state == EdgeState())
    }

    @Test("A request that goes to the router takes its parts and all later requests along")
    func router() throws {
        var state = EdgeState()
        #expect(state.looksUp)
        #expect(try state.missed(Self.framing(Self.chunked)) == .take)
        #expect(state.partCame() == .take && state.bodyTaken() == .take && state.endTaken() == .take)
        #expect(!state.takesWhole && !state.looksUp)
        #expect(try state.missed(Self.framing()) == .take && state.endTaken() == .take)
        #expect(state.passedCount == 2)
        #expect(state.answered() == false)
        #expect(state.passedCount == 1 && !state.looksUp)
        #expect(state.answered() == false)
        #expect(state == EdgeState())
    }

    @Test("A request for the router, and all that comes behind it, waits until the answers from here have left")
    func waits() throws {
        var state = Self.waiting(2)
        #expect(try state.partCame() == .take && state.missed(Self.framing()) == .hold)
        #expect(state.partCame() == .hold && state.eventCame() == .hold && state.errorCame() == .hold)
        #expect(state.isFull && !state.takesWhole)
        state.left()
        #expect(!state.releases)
        state.left()
        #expect(state.releases)
        // The request is released, and something is held behind it.
        #expect(try state.missed(Self.framing()) == .take)
        #expect(state.partCame() == .hold && state.releases)
        state.released()
        #expect(state.endTaken() == .take && state.partCame() == .take)
        #expect(state.answered() == false && state == EdgeState())
    }

    @Test("What follows an early answer still belongs to the request that was answered")
    func early() throws {
        var state = try Self.routed(Self.chunked, isWhole: false)
        #expect(state.bodyTaken() == .take)
        var head = Self.status()
        state.answerBegan(&head)
        #expect(state.answered() == false)
        #expect(state == .open(.own(unsent: 0, rest: .passed)) && !state.takesWhole && !state.looksUp)
        #expect(state.bodyTaken() == .take && state.endTaken() == .take)
        #expect(state == EdgeState() && head == Self.status())
    }

    @Test("Nothing is read until the body is wanted, and 100 is sent once, to a client that waits for it")
    func expectation() throws {
        let expecting: HTTPHeaders = ["Content-Length": "5", "Expect": "100-continue"]
        var state = try Self.routed(expecting, isWhole: false)
        #expect(state.isFull)
        #expect(state.bodyWanted() == true && !state.isFull)
        #expect(state.bodyWanted() == false)
        #expect(state.bodyTaken() == .take && state.endTaken() == .take)
        var head = Self.status()
        state.answerBegan(&head)
        #expect(head == Self.status() && state.answered() == false && state == EdgeState())

        // It did not wait.
        state = try Self.routed(expecting, isWhole: false)
        #expect(state.bodyTaken() == .take && state.bodyWanted() == false)
        // A request without an expectation.
        state = try Self.routed(["Content-Length": "5"], isWhole: false)
        #expect(state.isFull && state.bodyWanted() == false && !state.isFull)
    }

    @Test("An answer in place of 100 ends the connection, since nobody knows what comes next")
    func noContinue() throws {
        var state = try Self.routed(["Content-Length": "5", "Expect": "100-continue"], isWhole: false)
        var head = Self.status(.payloadTooLarge)
        state.answerBegan(&head)
        #expect(head.headers["connection"] == ["close"])
        #expect(state.answered() == true)
        #expect(state.outputEnds() == .takeLast)
        #expect(state.partCame() == .ignore)
    }

    @Test("Nothing behind a request that ends the connection is heard")
    func closing() throws {
        for (fields, version) in [(["Connection": "close"], HTTPVersion.http1_1), ([:], .http1_0)] {
            var state = try Self.routed()
            #expect(try state.missed(Self.framing(HTTPHeaders(fields.map { ($0.key, $0.value) }), version)) == .take)
            #expect(state.endTaken() == .takeLast)
            #expect(state.partCame() == .ignore && state.errorCame() == .ignore && state.passedCount == 2)
            #expect(state.eventCame() == .take)
            #expect(state.answered() == false && state.passedCount == 1)
            var head = Self.status()
            state.answerBegan(&head)
            // The router ends the connection itself.
            #expect(head.headers["connection"] == ["close"] && state.answered() == false)
            #expect(state == .ended(.own(unsent: 0, rest: .whole)))
        }
    }

    @Test("A refusal is the last answer and comes behind all others")
    func refusals() throws {
        var state = EdgeState()
        #expect(state.refused() == .takeLast)
        #expect(state.partCame() == .ignore && state.outputEnds() == .ignore)

        state = Self.waiting()
        #expect(state.refused() == .hold && state.partCame() == .hold && !state.releases)
        state.left()
        #expect(state.releases && state.refused() == .takeLast)

        state = try Self.routed()
        #expect(state.refused() == .hold && state.partCame() == .hold)
        #expect(state.answered() == false && state.releases)
        state.released()
        #expect(state.refused() == .takeLast && state.partCame() == .ignore)
    }

    @Test("Input that is not a request is refused behind all answers, unless the router has a request")
    func errors() throws {
        var state = EdgeState()
        #expect(state.errorCame() == .take && state.errorTaken() == .takeLast)
        #expect(state.errorCame() == .ignore && state.partCame() == .ignore)

        state = Self.waiting()
        #expect(state.errorCame() == .hold && state.partCame() == .hold)
        state.left()
        #expect(state.releases)
        state.released()
        #expect(state.errorTaken() == .takeLast)

        // The reader of the body handles its early end.
        state = try Self.routed(Self.chunked, isWhole: false)
        let before = state
        #expect(state.errorCame() == .take && state.errorTaken() == .take && state == before)
    }

    @Test("The client's half-close and the server's stop keep their place between the requests")
    func events() throws {
        var state = EdgeState()
        #expect(state.eventCame() == .take && state == EdgeState())
        state = try Self.routed()
        #expect(state.eventCame() == .take)
        state = Self.waiting()
        #expect(state.eventCame() == .hold && state.partCame() == .hold && state.eventCame() == .hold)
        state.left()
        #expect(state.releases)
        state.released()
        #expect(state == EdgeState())
    }

    @Test("After the end of the output no request is heard, and what is due is still answered")
    func outputEnds() throws {
        var state = Self.waiting(2)
        #expect(state.eventCame() == .hold)
        #expect(state.outputEnds() == .takeLast && state.outputEnds() == .ignore)
        #expect(state.partCame() == .ignore && state.errorCame() == .ignore && state.eventCame() == .hold)
        state.left()
        #expect(!state.releases)
        state.left()
        #expect(state.releases && state.eventCame() == .take && !state.isFull)

        state = try Self.routed()
        #expect(state.outputEnds() == .takeLast && state.passedCount == 1 && state.eventCame() == .take)
        #expect(state.answered() == false && state.passedCount == 0)
    }

    @Test("While the database is asked everything waits, and answers from before leave")
    func asking() throws {
        var state = Self.waiting()
        state.asked()
        #expect(!state.takesWhole && !state.looksUp && !state.isFull && !state.releases)
        #expect(state.partCame() == .hold && state.eventCame() == .hold && state.errorCame() == .hold)
        state.left()
        #expect(!state.releases && state.isFull)
        #expect(state.confirmed() == true)
        #expect(state.releases && state.looksUp)
        state.found(isWhole: false)
        #expect(state == .holding(.own(unsent: 1, rest: .ignored)) && !state.releases)
        state.left()
        #expect(state.releases)
        state.released()
        #expect(state.endTaken() == .ignore && state == EdgeState())

        // Nothing came in the meantime.
        state.asked()
        #expect(state.confirmed() == true && state == EdgeState())
        state.asked()
        #expect(try state.confirmed() == true && state.missed(Self.framing()) == .take && state.partCame() == .take)

        // Answers are still to leave when it turns out to be for the router.
        state = Self.waiting()
        state.asked()
        #expect(try state.confirmed() == true && state.missed(Self.framing()) == .hold && state.partCame() == .hold)
    }

    @Test("A request for which the database was asked is forgotten with the end of the output")
    func askedAtEnd() {
        var state = EdgeState()
        state.asked()
        #expect(state.eventCame() == .hold && state.outputEnds() == .takeLast)
        #expect(state.eventCame() == .hold && !state.releases)
        #expect(state.confirmed() == false && state.releases && !state.looksUp)
    }

    // MARK: Events that a state does not allow

    private enum Event: CaseIterable {
        case asked, confirmed, found, foundWhole, missed, refused, body, end, left, began, answered, wanted, released

        /// Returns whether the event claims to have done something.
        func happen(to state: inout EdgeState, _ framing: RequestFraming) -> Bool {
            switch self {
            case .asked: state.asked()
            case .confirmed: return state.confirmed()
            case .found: state.found(isWhole: false)
            case .foundWhole: state.found(isWhole: true)
            case .missed: return state.missed(framing) != .ignore
            case .refused: return state.refused() != .ignore
            case .body: return state.bodyTaken() != .ignore
            case .end: return state.endTaken() != .ignore
            case .left: state.left()
            case .began:
                let before = EdgeStateTests.status()
                var head = before
                state.answerBegan(&head)
                return head != before
            case .answered: return state.answered()
            case .wanted: return state.bodyWanted()
            case .released: state.released()
            }
            return false
        }
    }

    private static func check(_ state: EdgeState, allows allowed: Set<Event>) throws {
        for event in Event.allCases where !allowed.contains(event) {
            var after = state
            let claims = event.happen(to: &after, try framing())
            #expect(!claims && after == state, "\(event) in \(state) leads to \(after)")
        }
        for event in allowed {
            var after = state
            let claims = event.happen(to: &after, try framing())
            #expect(claims || after != state, "\(event) in \(state) changes nothing")
        }
    }

    @Test("An event out of order changes nothing")
    func outOfOrder() throws {
        let heads: Set<Event> = [.asked, .found, .foundWhole, .missed, .refused]
        try Self.check(EdgeState(), allows: heads)
        try Self.check(Self.waiting(), allows: heads.union([.left]))

        var state = Self.waiting()
        state.asked()
        try Self.check(state, allows: [.confirmed, .left])
        _ = state.partCame()
        try Self.check(state, allows: [.confirmed, .left, .released])

        state = EdgeState()
        state.found(isWhole: false)
        // The end is ignored too, and ends that state.
        var ended = state
        #expect(ended.endTaken() == .ignore && ended == Self.waiting())
        try Self.check(state, allows: [.left, .end])

        let expecting: HTTPHeaders = ["Content-Length": "5", "Expect": "100-continue"]
        state = try Self.routed(expecting, isWhole: false)
        try Self.check(state, allows: [.body, .end, .began, .answered, .wanted])
        _ = state.endTaken()
        try Self.check(state, allows: [.missed, .refused, .answered])

        state = try Self.routed(Self.chunked, isWhole: false)
        _ = state.answered()
        try Self.check(state, allows: [.body, .end])

        state = try Self.routed(Self.chunked, isWhole: false)
        _ = state.outputEnds()
        try Self.check(state, allows: [.answered, .wanted])
        state = Self.waiting()
        _ = state.outputEnds()
        try Self.check(state, allows: [.left])
        state.left()
        try Self.check(state, allows: [])
    }
}
