// SPDX-License-Identifier: Apache-2.0

import Crypto
import FeedTokens
import Storage
import Synchronization

/// A request with a key, which takes effect once however often it is sent, and is always answered the same
/// (draft-ietf-httpapi-idempotency-key-header-07).
///
/// An act stores what it makes and the answer to it in one transaction, so a server that is killed leaves both or
/// neither. Answers are named by the request's caller, operation and key, and a live name is stored only once: of two
/// transactions for the same request the later one fails as a whole, whichever servers run them and however long one of
/// them was paused. `RunningRequests` and a lease only keep the second from beginning, so that it is refused at once.
package final class OnceRequest: Sendable {
    /// How long an answer is kept, in milliseconds: a day.
    static let lifetime = 86_400_000
    /// How many answers are kept for a person, and for a host application.
    private static let (mostOfPerson, mostOfHost) = (1_000, 100_000)

    let name: String
    private let caller: String
    fileprivate let most: Int
    private let key: SealingKey
    private let fingerprint: @Sendable () -> String
    private let given = Mutex<GivenAnswer?>(nil)

    /// - Parameters:
    ///   - caller: nil for somebody who is signing in, whose answers are named by their body, so that nobody learns from
    ///     a key whether a password is another one.
    ///   - network: the network that an unknown caller's answers are counted for.
    ///   - fingerprint: a hash of the request; it is asked for when the body has been read.
    package init(
        key: String, operation: String, caller: Caller?, network: String, _ services: Services,
        fingerprint: @escaping @Sendable () -> String
    ) {
        let known = caller?.actor.text
        // A body has a password, which nobody who has the database may guess from its hash.
        let asked = known ?? "anyone \(services.sealingKey.name(for: "kept-answers \(fingerprint())"))"
        name = Self.hash("\(asked)\n\(operation)\n\(key)")
        // A key's answers are counted together, whoever it acts for.
        let payer = known.map { $0.pieces(separatedBy: " ").last.map(String.init) ?? $0 } ?? "network \(network)"
        self.caller = Self.hash(payer)
        most = payer.hasPrefix("key:") || payer.isSameText(as: "operator") ? Self.mostOfHost : Self.mostOfPerson
        self.key = services.sealingKey
        self.fingerprint = fingerprint
    }

    /// The name under which the answers to requests of a user, or of a device, are counted.
    static func counted(of caller: AuditActor) -> String { hash(caller.text) }

    /// The purpose for which an answer with this name is sealed.
    package static func purpose(_ name: String) -> String { "kept-answers/\(name)" }

    /// The answer that an act has kept; nil while none has.
    package var kept: GivenAnswer? { given.withLock { $0 } }

    /// Does work whose act keeps the answer that `answer` makes from the result.
    package func answering<Made, Value: Sendable>(
        _ answer: @escaping @Sendable (Made) throws -> GivenAnswer, _ work: () async throws -> Value
    ) async throws -> Value {
        let act = OnceAct(request: self) { try ($0 as? Made).map(answer) }
        return try await OnceAct.$current.withValue(act, operation: work)
    }

    /// Keeps the answer to work that has ended, unless its act has kept it.
    package func keep(_ answer: GivenAnswer, _ services: Services) async throws {
        let now = services.now()
        let row = try row(answer, now: now)
        let isBegun = kept?.importID != nil
        try await services.store.record { transaction in
            if isBegun { try transaction.replace(row) } else { _ = try transaction.keep(row, now: now) }
        }
    }

    /// Forgets the answer, so that the request can be sent again: what it says was begun no longer exists.
    package func forget(_ services: Services) async throws {
        let name = name
        try await services.store.record { try $0.forgetKeptAnswer(name) }
    }

    fileprivate func row(_ answer: GivenAnswer, now: Int) throws -> KeptAnswer {
        let text = try GivenAnswer.Kept(fingerprint: fingerprint(), answer: answer).text()
        return KeptAnswer(
            name, of: caller, sealed: try key.seal(text, for: Self.purpose(name)), until: now + Self.lifetime)
    }

    fileprivate func note(_ answer: GivenAnswer) { given.withLock { $0 = answer } }

    /// Whether the caller has as many answers as are kept.
    fileprivate func isLimited(in transaction: any ReadTransaction, now: Int) throws -> Bool {
        try transaction.hasKeptAnswers(most, of: caller, now: now)
    }

    /// Opens an answer that was kept under this name.
    fileprivate func open(_ row: KeptAnswer) throws -> GivenAnswer.Kept {
        guard let text = try? key.open(row.sealed, for: Self.purpose(name)),
            let found = try? GivenAnswer.Kept(stored: text)
        else {
            throw Refusal.conflict(
                "The answer to this key was sealed with a key other than the server's.", code: .sealedByAnotherKey)
        }
        return found
    }

    private static func hash(_ text: String) -> String { Hexadecimal.text(SHA256.hash(data: Array(text.utf8))) }
}

/// The answer that an act has to keep together with what it makes.
struct OnceAct: Sendable {
    @TaskLocal static var current: OnceAct?

    let request: OnceRequest
    /// Makes the answer of an act's value; nil for the value of another act.
    let answer: @Sendable (Any) throws -> GivenAnswer?

    /// Keeps the answer in the transaction of the act that made a value; returns nil for another act.
    func keep(_ value: Any, in transaction: any WriteTransaction, now: Int) throws -> GivenAnswer? {
        guard let answer = try answer(value) else { return nil }
        guard try transaction.keep(try request.row(answer, now: now), now: now) else {
            throw Refusal.requestUnderWay
        }
        return answer
    }

    /// Notes an answer once it is committed.
    func note(_ answer: GivenAnswer) { request.note(answer) }
}

/// The requests with a key that are under way on this server.
package final class RunningRequests: Sendable {
    private let names = Mutex<Set<ByteString>>([])

    func enter(_ name: String) -> Bool { names.withLock { $0.insert(ByteString(name)).inserted } }

    func leave(_ name: String) { _ = names.withLock { $0.remove(ByteString(name)) } }
}

extension Services {
    /// Does the work of a request unless it was done; throws 409 while it is under way.
    ///
    /// - Parameter again: answers a request that was done, from its answer and the hash of the request that got it.
    package func once<Answer: Sendable>(
        _ request: OnceRequest,
        again: @escaping @Sendable (GivenAnswer, _ fingerprint: String) async throws -> Answer,
        work: @escaping @Sendable () async throws -> Answer
    ) async throws -> Answer {
        guard runningRequests.enter(request.name) else { throw Refusal.requestUnderWay }
        defer { runningRequests.leave(request.name) }
        let held = try await leases.take("request \(request.name)")
        if leases.isShared, held == nil { throw Refusal.requestUnderWay }
        // Tasks that the work leaves to others continue after the lease, so their writes do not depend on it.
        return try await leases.keeping(held, isChecked: false) {
            let now = self.now()
            let (row, isLimited) = try await self.store.read { transaction in
                let row = try transaction.keptAnswer(request.name, now: now)
                return (row, try row == nil && request.isLimited(in: transaction, now: now))
            }
            if let row {
                let kept = try request.open(row)
                return try await again(kept.answer, kept.fingerprint)
            }
            guard !isLimited else { throw Refusal.tooManyKeys(request.most) }
            return try await work()
        }
    }
}

extension Refusal {
    /// 409 for a request whose first one has no answer yet.
    package static let requestUnderWay = Refusal(
        .conflict, code: .requestUnderWay,
        detail: "A request with this Idempotency-Key is under way. Send it again in a moment.", retryAfter: 1)

    fileprivate static func tooManyKeys(_ most: Int) -> Refusal {
        Refusal(
            .tooMany,
            detail: "The answers to \(most) requests with an Idempotency-Key are kept for you, which is the maximum. "
                + "Each is kept for a day.", retryAfter: 600)
    }
}
