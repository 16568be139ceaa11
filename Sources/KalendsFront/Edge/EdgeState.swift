// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1

/// The state of a connection between its requests and their answers: one function for each event, which returns what to
/// do. It knows nothing about the channel, and an event that the state does not allow changes nothing.
enum EdgeState: Equatable {
    /// Input that arrives is taken at once.
    case open(Answers)
    /// Input that arrives is held, behind the input that is held already.
    case holding(Answers)
    /// The connection ends after the last answer, so further requests are ignored.
    case ended(Answers)

    /// The answers that are due: ours or the router's, and never both.
    enum Answers: Equatable {
        /// How many answers from here have not left, and what becomes of the request that is being read.
        case own(unsent: Int, rest: Rest)
        case router(PassedRequests)

        /// Whether a new event has to wait for what is under way here.
        fileprivate var isBusy: Bool {
            if case .own(let unsent, let rest) = self { unsent > 0 || rest == .asked } else { false }
        }
    }

    enum Rest {
        /// No request is being read.
        case whole
        /// Everything waits for the database to report what other servers have ended; then the request is looked up.
        case asked
        /// It is answered here, so the rest of it is ignored.
        case ignored
        /// The router answered before it had the rest.
        case passed
    }

    /// What to do with something that arrives or is released.
    enum Step {
        case take
        /// Take it as the last of the connection; a header or an error that comes to this is refused.
        case takeLast
        case hold
        case ignore
    }

    /// How many answers from here may be due before reading stops.
    static let limit = 64

    init() { self = .open(.own(unsent: 0, rest: .whole)) }

    // MARK: Something arrives

    mutating func partCame() -> Step {
        switch self {
        case .open(.own(_, rest: .asked)), .holding: hold()
        case .open: .take
        case .ended: .ignore
        }
    }

    mutating func errorCame() -> Step { if case .ended = self { .ignore } else { eventCame() } }

    mutating func eventCame() -> Step {
        switch self {
        case .open(let answers): answers.isBusy ? hold() : .take
        case .holding: .hold
        case .ended(let answers): answers.isBusy ? .hold : .take
        }
    }

    // MARK: Something is taken, at once or when it is released

    /// Whether a whole request may be answered before the parser has seen it.
    var takesWhole: Bool { if case .open(.own(_, rest: .whole)) = self { true } else { false } }

    /// Whether a request whose header is taken may be answered here.
    var looksUp: Bool { if case .own(_, rest: .whole)? = taking { true } else { false } }

    /// The database is asked before the request is looked up.
    mutating func asked() {
        if case .own(let unsent, rest: .whole)? = taking { answers = .own(unsent: unsent, rest: .asked) }
    }

    /// The database has reported, or cannot; returns whether to look the request up.
    mutating func confirmed() -> Bool {
        guard case .own(let unsent, rest: .asked) = answers else { return false }
        answers = .own(unsent: unsent, rest: .whole)
        return looksUp
    }

    /// A request is answered here.
    ///
    /// - Parameter isWhole: whether it has been read in full.
    mutating func found(isWhole: Bool) {
        guard case .own(let unsent, rest: .whole)? = taking else { return }
        answers = .own(unsent: unsent + 1, rest: isWhole ? .whole : .ignored)
    }

    /// A request is not answered here.
    mutating func missed(_ framing: RequestFraming) -> Step {
        switch taking {
        case .own(unsent: 0, rest: .whole)?:
            answers = .router(PassedRequests(framing))
            return .take
        case .own(_, rest: .whole)?: return hold()
        case .router?: return change { $0.began(framing) } ?? .ignore
        default: return .ignore
        }
    }

    /// A request's header is one that is refused.
    mutating func refused() -> Step {
        switch taking {
        case .own(unsent: 0, rest: .whole)?: end()
        case .own(_, rest: .whole)?: hold()
        case .router(let passed)? where passed.isWhole: hold()
        default: .ignore
        }
    }

    mutating func bodyTaken() -> Step {
        switch taking {
        case .own(_, rest: .passed)?: .take
        case .router?: change { $0.bodyCame() } ?? .ignore
        default: .ignore
        }
    }

    mutating func endTaken() -> Step {
        switch taking {
        case .own(let unsent, let rest)? where rest == .ignored || rest == .passed:
            answers = .own(unsent: unsent, rest: .whole)
            return rest == .passed ? .take : .ignore
        case .router?:
            let step = change { $0.ended() } ?? .ignore
            return step == .takeLast ? end() : step
        default: return .ignore
        }
    }

    /// Input that is not a request is taken; the reader of a body handles its early end.
    mutating func errorTaken() -> Step {
        if case .own(unsent: 0, let rest)? = taking, rest != .asked { end() } else { .take }
    }

    // MARK: Answers

    /// An answer from here leaves.
    mutating func left() {
        if case .own(let unsent, let rest) = answers, unsent > 0 { answers = .own(unsent: unsent - 1, rest: rest) }
    }

    /// The router begins an answer: sets the fields that state whether the connection stays open.
    mutating func answerBegan(_ head: inout HTTPResponseHead) { change { $0.frame(&head) } }

    /// The router has answered; returns true when the connection must end although the router does not know it.
    mutating func answered() -> Bool {
        let isWhole = change { $0.isWhole }
        let closes = change { $0.answered() } ?? false
        if let isWhole, passedCount == 0 { answers = .own(unsent: 0, rest: isWhole ? .whole : .passed) }
        return closes
    }

    /// The router will read the body; returns true when the client must be sent `100 Continue`.
    mutating func bodyWanted() -> Bool { change { $0.bodyWanted() } ?? false }

    /// The output ends, and the input with it.
    mutating func outputEnds() -> Step { if case .ended = self { .ignore } else { end() } }

    /// The number of requests that the router has not answered.
    var passedCount: Int { if case .router(let passed) = answers { passed.count } else { 0 } }

    // MARK: What is held

    /// Whether the next part of the held input may be taken.
    var releases: Bool { if case .open = self { false } else { !answers.isBusy } }

    /// The last part of the held input is being taken.
    mutating func released() { if case .holding(let answers) = self { self = .open(answers) } }

    /// Whether reading stops until something has left.
    var isFull: Bool {
        if case .holding = self { return true }
        return switch answers {
        case .own(let unsent, _): unsent >= Self.limit
        case .router(let passed): passed.isBodyHeld
        }
    }

    private mutating func hold() -> Step {
        self = .holding(answers)
        return .hold
    }

    private mutating func end() -> Step {
        self = .ended(answers)
        return .takeLast
    }

    // MARK: Parts of the state

    private var answers: Answers {
        get {
            switch self {
            case .open(let answers), .holding(let answers), .ended(let answers): answers
            }
        }
        set {
            switch self {
            case .open: self = .open(newValue)
            case .holding: self = .holding(newValue)
            case .ended: self = .ended(newValue)
            }
        }
    }

    private var taking: Answers? { if case .ended = self { nil } else { answers } }

    @discardableResult
    private mutating func change<Value>(_ change: (inout PassedRequests) -> Value) -> Value? {
        guard case .router(var passed) = answers else { return nil }
        // The state lets go of the requests, so that they are not copied.
        answers = .own(unsent: 0, rest: .whole)
        defer { answers = .router(passed) }
        return change(&passed)
    }
}
