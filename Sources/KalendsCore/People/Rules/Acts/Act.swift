// SPDX-License-Identifier: Apache-2.0

import Storage

/// Reads the stored data and changes it by acts.
protocol Acting: Sendable {
    var acts: Acts { get }
}

extension Acting {
    var store: any Store { acts.store }
    var now: Clock { acts.now }
}

/// A change in progress within one transaction: its target, the caller who makes it, and its time.
struct Act<Target> {
    let target: Target
    let caller: Caller
    let transaction: any WriteTransaction
    /// Milliseconds since 1970.
    let now: Int
}

/// The only way in which callers change what is stored.
///
/// An act checks the caller's right in the transaction that makes the change, names the circles that the change
/// concerns, writes the audit trail, and keeps the answer to a request with a key, so that none of these is stored
/// without the others. The store's own methods raise versions and revisions and note the changes that webhooks report;
/// items go through `ScheduleWriter`, which raises the circle's version once for all of them.
struct Acts: Sendable {
    let store: any Store
    /// The turns in which pages and whole circles are read.
    let pages: MemoryBudget
    /// How often a person makes changes that the audit trail notes, which is kept forever.
    let pace: RateLimit
    let now: Clock

    /// One person's changes at once, and the milliseconds until one more.
    static func makePace() -> RateLimit { RateLimit(burst: 500, span: paceSpan) }
    private static let paceSpan = 1_000

    /// Reads of a circle in which the caller has a right; throws 404 or 403 without the right.
    func read<Value: Sendable>(
        in circle: String, for caller: Caller, _ body: @escaping @Sendable (AuthorizedCircle) throws -> Value
    ) async throws -> Value {
        try await store.read { try body(try Rights.authorized(circle, for: caller.identity, in: $0)) }
    }

    /// Reads what is the calling user's own; throws 403 for the installation, which names no user.
    func readOwn<Value: Sendable>(
        for caller: Caller, _ body: @escaping @Sendable (AuthorizedUser) throws -> Value
    ) async throws -> Value {
        let user = try Rights.user(caller.identity)
        return try await store.read { try body(try Rights.own(of: user, for: caller.identity, in: $0)) }
    }

    /// Reads a page of a list whose elements may be large, taking turns with other callers.
    ///
    /// Whoever has the turn waits for nobody, and everything else that is waited for comes before. Throws 503 if others
    /// keep the turn for too long.
    func readPage<Value: Sendable>(
        for caller: Caller, _ body: @escaping @Sendable (any ReadTransaction) throws -> Value
    ) async throws -> Value {
        let turn = MemoryShare(pages, network: ByteString(caller.payer))
        try await turn.hold(MemoryBudgets.mostPageBytes)
        defer { withExtendedLifetime(turn) {} }
        return try await store.read(body)
    }

    /// Changes something; all of it is stored durably when this returns, and none of it when it throws.
    ///
    /// - Parameters:
    ///   - turn: what no other act may change in the meantime.
    ///   - body: may run more than once, so it must have no effects outside the transaction.
    func act<Target, Value: Sendable>(
        on target: ActTarget<Target>, in turn: WriteTurn = .alone, for caller: Caller,
        _ body: @escaping @Sendable (Act<Target>) throws -> ActResult<Value>
    ) async throws -> Value {
        let now = now()
        if let person = caller.person {
            let wait = pace.wait(person, now: now)
            guard wait == 0 else { throw Refusal.tooManyChanges(wait: wait) }
        }
        let (once, mute) = (OnceAct.current, PushMute.current)
        let work: @Sendable (any WriteTransaction) throws -> (Value, isNoted: Bool, GivenAnswer?) = { transaction in
            transaction.isMade(by: caller.author)
            let opened = try target.open(transaction, caller)
            let muted = try mute?.begin(in: transaction)
            let done = try body(Act(target: opened.target, caller: caller, transaction: transaction, now: now))
            if let mute, let muted { try mute.end(muted, in: transaction) }
            for note in done.notes {
                try AuditTrail.note(
                    note.action, note.subject, circle: opened.circle, detail: note.detail, by: caller.actor,
                    in: transaction, now: now)
            }
            let answer = try once?.keep(done.value, in: transaction, now: now)
            return (done.value, !done.notes.isEmpty, answer)
        }
        let (value, isNoted, answer) =
            // The registrations that an act mutes belong to several people, perhaps in another circle.
            target.touchesCircles
            ? try await store.write(mute == nil ? turn : .alone, work) : try await store.record(work)
        if let answer { once?.note(answer) }
        if isNoted, let person = caller.person { pace.charge(person, Self.paceSpan, now: now) }
        return value
    }
}

extension Acts {
    /// Changes a feed, or what opens it, while other circles change.
    ///
    /// - Parameter body: reads and writes only what is the feed's circle's. It may run more than once, so it must have no
    ///   effects outside the transaction.
    func act<Value: Sendable>(
        onFeed id: String, for caller: Caller, _ body: @escaping @Sendable (Act<Feed>) throws -> ActResult<Value>
    ) async throws -> Value {
        // A feed's circle never changes.
        let circle = store.isShared ? try await store.read { try $0.circle(ofFeed: id) } : nil
        return try await act(on: .feed(id), in: circle.map { .circle($0) } ?? .alone, for: caller, body)
    }
}

extension Caller {
    /// The user who acts by themselves; nil for the operator and for host applications, whoever they act for.
    fileprivate var person: ByteString? {
        guard !actor.text.contains(" via "), let user = userID else { return nil }
        return ByteString(user)
    }
}

extension Refusal {
    fileprivate static func tooManyChanges(wait: Int) -> Refusal {
        Refusal(
            .tooMany, detail: "You change things too often. Wait a moment before the next change.",
            retryAfter: (wait + 999) / 1000)
    }
}

extension Act<Circle> {
    var circle: Circle { target }
}

extension Act<Feed> {
    var feed: Feed { target }
}
