// SPDX-License-Identifier: Apache-2.0

import Base
import FeedTokens
import Foundation
import HTTPTypes
import NIOCore
import Storage
import StorageSQLite
import Synchronization
import Testing

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

@Suite("The brake on guesses, after a restart")
struct SignInBrakeTests {
    /// Runs a brake on its own database; a second brake on that database simulates a restart.
    private static func run(_ body: (SQLiteStore) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "brake-\(UUID().uuidString)").path
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let store = try SQLiteStore(path: path)
        try await body(store)
        try store.close()
    }

    /// Returns how many seconds the next guess has to wait.
    private static func wait(_ brake: SignInThrottle, _ user: String, _ network: String, _ now: Int) async throws -> Int
    {
        do {
            try await brake.begin(user, from: network, now: now)
            return 0
        } catch let refusal as Refusal {
            return refusal.retryAfter ?? -1
        }
    }

    @Test("Guesses from elsewhere keep nobody out at home, also after a restart")
    func home() async throws {
        try await Self.run { store in
            let now = 1_000_000_000
            let before = try await SignInThrottle(store)
            try await before.begin("ann", from: "home", now: now)
            try await before.succeed("ann", from: "home", now: now)
            let after = try await SignInThrottle(store)
            for guess in 0..<5 { #expect(try await Self.wait(after, "ann", "elsewhere\(guess)", now) == 0) }
            #expect(try await Self.wait(after, "ann", "elsewhere", now) == 30)
            #expect(try await Self.wait(after, "ann", "home", now) == 0)
        }
    }

    @Test("Users and networks that have to wait still have to after a restart, and those that got in do not")
    func waits() async throws {
        try await Self.run { store in
            let now = 1_000_000_000
            let before = try await SignInThrottle(store)
            for _ in 0..<5 { #expect(try await Self.wait(before, "ann", "a", now) == 0) }
            for guess in 0..<15 { #expect(try await Self.wait(before, "user\(guess)", "a", now) == 0) }
            for _ in 0..<5 { #expect(try await Self.wait(before, "ben", "b", now) == 0) }
            try await before.succeed("ben", from: "b", now: now)
            var after = try await SignInThrottle(store)
            #expect(try await Self.wait(after, "ann", "z", now) == 30)
            #expect(try await Self.wait(after, "someone", "a", now) == 30)
            #expect(try await Self.wait(after, "ben", "y", now) == 0)
            // And it goes on to grow.
            #expect(try await Self.wait(after, "ann", "z", now + 30_000) == 0)
            after = try await SignInThrottle(store)
            #expect(try await Self.wait(after, "ann", "y", now + 30_000) == 60)
            try await after.forget("ann", now: now + 30_000)
            after = try await SignInThrottle(store)
            #expect(try await Self.wait(after, "ann", "y", now + 30_000) == 0)
        }
    }

    @Test(
        "A forgotten phone with an old token keeps nobody out of its network, and guessed tokens keep out tokens only")
    func forgottenPhone() async throws {
        try await Self.run { store in
            let brake = try await SignInThrottle(store)
            var now = 1_000_000_000
            for _ in 0..<200 {
                try await brake.refuse(companion: "Bearer the old one", from: "home", now: now)
                now += 50 * 60_000
            }
            try await brake.checkCompanion(from: "home", now: now)
            #expect(try await Self.wait(brake, "ann", "home", now) == 0)

            for guess in 0..<5 { try await brake.refuse(companion: "Bearer \(guess)", from: "home", now: now) }
            await #expect(throws: Refusal.self) { try await brake.checkCompanion(from: "home", now: now) }
            await #expect(throws: Refusal.self) {
                try await brake.refuse(companion: "Bearer another", from: "home", now: now)
            }
            try await brake.checkCompanion(from: "elsewhere", now: now)
            for guess in 0..<19 { #expect(try await Self.wait(brake, "user\(guess)", "home", now) == 0) }
        }
    }

    @Test("A try that is taken back counts as nothing, and leaves every failure before it, also after a restart")
    func withdrawn() async throws {
        try await Self.run { store in
            let now = 1_000_000_000
            var brake = try await SignInThrottle(store)
            func halfway(_ now: Int) async throws {
                #expect(try await Self.wait(brake, "ann", "a", now) == 0)
                try await brake.withdraw("ann", from: "a", now: now)
            }
            for _ in 0..<30 { try await halfway(now) }
            for _ in 0..<4 { #expect(try await Self.wait(brake, "ann", "a", now) == 0) }
            for _ in 0..<30 { try await halfway(now) }
            #expect(try await Self.wait(brake, "ann", "a", now) == 0)
            #expect(try await Self.wait(brake, "ann", "a", now) == 30)
            brake = try await SignInThrottle(store)
            #expect(try await Self.wait(brake, "ann", "a", now) == 30)
            for _ in 0..<3 { try await halfway(now + 30_000) }
            brake = try await SignInThrottle(store)
            #expect(try await Self.wait(brake, "ann", "a", now + 30_000) == 0)
            #expect(try await Self.wait(brake, "ann", "a", now + 30_000) == 60)
        }
    }

    @Test("Its rows have a bound, by user and in all")
    func rows() async throws {
        try await Self.run { store in
            try await store.record { transaction in
                for number in 0..<20 { try transaction.putSignInHome("n\(number)", of: "ann", now: number) }
                #expect(try transaction.signInHomes(of: "ann") == (12..<20).map { "n\($0)" })
                for number in 0..<(SignInFailures.maximum + 50) {
                    try transaction.putSignInFailures(
                        SignInFailures(name: "u\(number)", count: 5, lastAt: number, untilAt: number))
                }
                try transaction.pruneSignInFailures(before: 10)
                let left = try transaction.latestSignInFailures()
                #expect(left.count == SignInFailures.maximum && left.first?.name == "u50")
                // Nobody signs in without a password.
                try transaction.pruneSignInHomes()
                #expect(try transaction.signInHomes(of: "ann").isEmpty)
            }
        }
    }

    @Test("A server that was restarted still lets the user in from home while others guess")
    func server() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "brake-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var settings = ServerSettings()
        settings.database = folder.appending(path: "k.sqlite").path
        settings.passwordCost = 4
        let proxy = try #require(AddressRange("127.0.0.0/8"))
        settings.trustedProxies = [proxy]
        let chosen = settings
        @Sendable func signIn(_ server: TestServer, _ password: String, _ address: String) async throws -> Int {
            try await server.raw(
                .post, "/v1/sessions",
                headers: [.contentType: "application/json", .xForwardedFor: address],
                body: ByteBuffer(string: "{\"userId\":\"ann\",\"password\":\"\(password)\"}")
            ).status
        }
        try await TestServer.run(live: true, settings: chosen) { server in
            try await server.call(.put, "/v1/users/ann/password", ["password": "correct horse"]).expect(201)
            #expect(try await signIn(server, "correct horse", "192.0.2.1") == 201)
        }
        try await TestServer.run(live: true, settings: chosen) { server in
            for network in 0..<5 {
                let status = try await signIn(server, "wrong", "203.0.\(network).1")
                #expect(status == 401)
            }
            #expect(try await signIn(server, "wrong", "203.0.9.1") == 429)
            #expect(try await signIn(server, "correct horse", "192.0.2.9") == 201)
        }
    }

    @Test("Whoever signs in once does not wait for another network that tries as often as it may")
    func turns() async throws {
        try await Self.run { store in
            let brake = try await SignInThrottle(store)
            let passwords = Passwords(cost: 11, brake: brake)
            let tried = Mutex((all: 0, refused: 0))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<40 {
                    group.addTask { @Sendable in
                        do {
                            _ = try await passwords.isRight(Concealed("guess"), stored: nil, from: "greedy")
                        } catch let refusal as Refusal {
                            #expect(refusal.kind == .unavailable && refusal.retryAfter == 5)
                            tried.withLock { $0.refused += 1 }
                        }
                        tried.withLock { $0.all += 1 }
                    }
                }
                while tried.withLock({ $0.refused == 0 }) { try await Task.sleep(for: .milliseconds(1)) }
                #expect(try await !passwords.isRight(Concealed("guess"), stored: nil, from: "home"))
                // Two were under way, and one after the other two began.
                let done = tried.withLock { $0.all - $0.refused }
                #expect(done < Passwords.longestOfNetwork)
                try await group.waitForAll()
            }
            #expect(tried.withLock { $0.refused } >= 40 - 2 * Passwords.longestOfNetwork)
        }
    }

    @Test("However many networks fill the line for passwords, the next one finds a place")
    func line() async throws {
        try await Self.run { store in
            let passwords = Passwords(cost: 9, brake: try await SignInThrottle(store))
            let refused = Mutex<[Int: Int]>([:])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for network in 0..<5 {
                    for _ in 0..<Passwords.longestOfNetwork {
                        group.addTask { @Sendable in
                            do {
                                _ = try await passwords.isRight(Concealed("guess"), stored: nil, from: "n\(network)")
                            } catch is Refusal {
                                refused.withLock { $0[network, default: 0] += 1 }
                            }
                        }
                    }
                }
                #expect(try await !passwords.isRight(Concealed("guess"), stored: nil, from: "home"))
                try await group.waitForAll()
            }
            // Each had some.
            #expect(refused.withLock { $0.values.allSatisfy { $0 < Passwords.longestOfNetwork } })
        }
    }
}
