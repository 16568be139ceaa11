// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import Foundation
import Storage
import TestSupport
import Testing

@testable import KalendsCore
@testable import ServerTestSupport

/// How many measurements of each kind are made; the suite runs when `KALENDS_TIMING` gives a number, as `make
/// test-timing` does.
private let wanted = ProcessInfo.processInfo.environment["KALENDS_TIMING"].flatMap(Int.init)

/// A guess that differs from the secret only in its last bit is compared with one that differs everywhere, and an
/// unknown user with a known one.
@Suite("The time of an answer reveals nothing about a guess", .serialized, .enabled(if: wanted != nil))
struct TimingTests {
    /// The value up to which the authors of the test see no evidence of a difference.
    private static let bar = 4.5
    private static let batch = 20_000
    /// How many secrets there are of a kind.
    private static let stored = 1000

    /// Measures batch by batch until there are enough of both kinds.
    ///
    /// - Parameters:
    ///   - prepare: an input of a kind, 0 or 1; not measured.
    ///   - measure: nanoseconds that the work took for each input, in their order.
    private static func check<Input: Sendable>(
        _ name: String, _ prepare: (Int, inout SplitMix) throws -> Input,
        _ measure: ([Input]) async throws -> [Double]
    ) async throws {
        var numbers = SplitMix(seed: 20_260_302)
        var test = TimingTest()
        while test.counts.min() ?? 0 < wanted ?? 0 {
            let kinds = (0..<batch).map { _ in Int.random(in: 0...1, using: &numbers) }
            let inputs = try kinds.map { try prepare($0, &numbers) }
            let times = try await measure(inputs)
            test.add(zip(kinds, times).map { (kind: $0, time: $1) })
        }
        let means = test.means.map { String(Int($0)) }.joined(separator: " and ")
        print("timing: \(name): |t| \((test.greatest * 100).rounded() / 100), \(test.counts) measurements, \(means) ns")
        #expect(test.greatest < bar, "\(name): \(test.greatest)")
    }

    private static func time<Result>(_ work: () throws -> Result) rethrows -> Double {
        let start = TimingTest.now()
        _ = try work()
        return TimingTest.now() - start
    }

    /// A secret that nobody has: kind 0 begins with 28 of the 32 bytes of one that somebody has.
    ///
    /// What differs is drawn again each time, so that neither kind comes back to what the machine's caches know. How a text is
    /// read is not measured: nothing is looked up for it.
    private static func guess(
        _ secrets: [Secret], _ kind: Int, _ numbers: inout SplitMix
    ) throws -> Secret {
        let known = secrets[Int.random(in: 0..<secrets.count, using: &numbers)]
        let text = known.reveal()
        var bytes = try #require(Base64URL.decode(Array(text.utf8.suffix(43))))
        for index in kind == 0 ? 28..<32 : 0..<32 { bytes[index] = .random(in: .min ... .max, using: &numbers) }
        return try #require(Secret(known.kind, text: text.dropLast(43) + Base64URL.encode(bytes)))
    }

    @Test("Feed tokens, in memory and in the database")
    func tokens() async throws {
        try await TestServer.run { server in
            try await server.makeCircle()
            let (services, now) = (server.services, server.clock.now)
            let tokens = try await services.store.write { transaction in
                try (0..<Self.stored).map { number in
                    try services.ledger.create(
                        .init(circleID: "c", userID: "ann", label: "\(number)", config: "{}", expiresAt: nil),
                        in: transaction, now: now
                    ).1
                }
            }
            for token in tokens { _ = try await services.ledger.resolve(token, now: now) }
            try await Self.check("feed tokens, in memory") {
                try Self.guess(tokens, $0, &$1)
            } _: { guesses in
                guesses.map { guess in Self.time { services.ledger.remembered(guess.key, now: now) } }
            }
            try await Self.check("feed tokens, in the database") {
                try Self.guess(tokens, $0, &$1)
            } _: { guesses in
                try await services.store.read { transaction in
                    try guesses.map { guess in try Self.time { try transaction.feedToken(hash: guess.hash) } }
                }
            }
        }
    }

    @Test("Service keys and sessions")
    func keysAndSessions() async throws {
        try await TestServer.run { server in
            let (services, now) = (server.services, server.clock.now)
            let keys = (0..<Self.stored).map { _ in Secret.make(.serviceKey) }
            let sessions = (0..<Self.stored).map { _ in Secret.make(.session) }
            try await services.store.write { transaction in
                for key in keys {
                    try transaction.insertServiceKey(
                        id: FeedLedger.makeID(), name: "k", hash: key.hash, hint: key.hint, now: now)
                }
                for (number, secret) in sessions.enumerated() {
                    try transaction.insertSession(
                        Session(id: FeedLedger.makeID(), userID: "user\(number % 50)", client: "other", now: now),
                        hash: secret.hash, maximum: 100)
                }
            }
            try await Self.check("service keys") {
                try Self.guess(keys, $0, &$1)
            } _: { guesses in
                try await services.store.read { transaction in
                    try guesses.map { guess in try Self.time { try transaction.serviceKey(hash: guess.hash) } }
                }
            }
            try await Self.check("sessions") {
                try Self.guess(sessions, $0, &$1)
            } _: { guesses in
                try await services.store.read { transaction in
                    try guesses.map { guess in try Self.time { try transaction.session(hash: guess.hash, now: now) } }
                }
            }
        }
    }

    /// Kind 0 begins with 16 of the 20 characters of a password that somebody has.
    @Test("App passwords")
    func appPasswords() async throws {
        try await TestServer.run { server in
            let (services, now) = (server.services, server.clock.now)
            let secrets = try await services.store.write { transaction in
                try (0..<Self.stored).map { number in
                    try services.ledger.mint(
                        AppPassword(
                            id: FeedLedger.makeID(), userID: "user\(number % 50)", label: "\(number)", mayWrite: true,
                            circleIDs: nil, reachesOwn: true, expiresAt: nil, now: now), in: transaction
                    ).secret.reveal()
                }
            }
            for text in secrets {
                guard case .live = try await services.ledger.resolve(try #require(AppSecret(text: text)), now: now)
                else {
                    Issue.record("A password that somebody has is unknown.")
                    return
                }
            }
            try await Self.check("app passwords") { kind, numbers in
                let known = secrets[Int.random(in: 0..<secrets.count, using: &numbers)]
                let other = AppSecret.make().reveal()
                // Three groups of five characters with their hyphens, and one character more.
                let same = kind == 0 ? 19 : 0
                return try #require(AppSecret(text: String(known.prefix(same) + other.dropFirst(same))))
            } _: { guesses in
                var times: [Double] = []
                for guess in guesses {
                    let start = TimingTest.now()
                    _ = try await services.ledger.resolve(guess, now: now)
                    times.append(TimingTest.now() - start)
                }
                return times
            }
        }
    }

    /// With the least work that there is: what the work itself takes is the same for all, and would hide the rest.
    @Test("Passwords that are nearly right, and users who have none")
    func passwords() async throws {
        try await TestServer.run { server in
            let right = "correct horse battery staple"
            let stored = try PasswordHash(Concealed(right), cost: 1).stored
            let hash = try #require(PasswordHash(stored: stored))
            func guess(_ kind: Int, _ numbers: inout SplitMix) -> Concealed {
                if kind == 0 { return Concealed(String(right.dropLast()) + "f") }
                return Concealed(
                    String(decoding: right.utf8.map { _ in UInt8.random(in: 97...122, using: &numbers) }, as: UTF8.self)
                )
            }
            try await Self.check("passwords") {
                guess($0, &$1)
            } _: { guesses in
                guesses.map { guess in Self.time { hash.matches(guess) } }
            }
            let passwords = Passwords(cost: 1, brake: server.services.passwords.brake)
            try await Self.check("users with and without a password") { kind, numbers in
                (guess(1, &numbers), kind == 0 ? stored : nil)
            } _: { tries in
                var times: [Double] = []
                for (guess, stored) in tries {
                    let start = TimingTest.now()
                    _ = try await passwords.isRight(guess, stored: stored, from: "n")
                    times.append(TimingTest.now() - start)
                }
                return times
            }
        }
    }

    @Test("An existing difference is found")
    func control() async throws {
        var numbers = SplitMix(seed: 7)
        var test = TimingTest()
        for _ in 0..<5 {
            test.add(
                (0..<Self.batch).map { _ in
                    let kind = Int.random(in: 0...1, using: &numbers)
                    // As a comparison that ends at the first difference: two parts in a thousand of noise's width.
                    return (kind: kind, time: Double.random(in: 1000...1100, using: &numbers) + (kind == 0 ? 3 : 0))
                })
        }
        #expect(test.greatest > Self.bar)
    }
}
