// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StorageSQLite
import TestSupport
import Testing

@testable import KalendsCore

@Suite("Hashes of passwords", .ownThread)
struct PasswordHashTests {
    @Test("Scrypt gives what RFC 7914 section 12 says")
    func standard() throws {
        let derived = try PasswordHash.derive(
            Concealed("pleaseletmein"), Array("SodiumChloride".utf8), 14, 8, 1, length: 64)
        let expected: [UInt8] = [
            0x70, 0x23, 0xbd, 0xcb, 0x3a, 0xfd, 0x73, 0x48, 0x46, 0x1c, 0x06, 0xcd, 0x81, 0xfd, 0x38, 0xeb,
            0xfd, 0xa8, 0xfb, 0xba, 0x90, 0x4f, 0x8e, 0x3e, 0xa9, 0xb5, 0x43, 0xf6, 0x54, 0x5d, 0xa1, 0xf2,
            0xd5, 0x43, 0x29, 0x55, 0x61, 0x3f, 0x0f, 0xcf, 0x62, 0xd4, 0x97, 0x05, 0x24, 0x2a, 0x9a, 0xf9,
            0xe6, 0x1e, 0x85, 0xdc, 0x0d, 0x65, 0x1e, 0x40, 0xdf, 0xcf, 0x01, 0x7b, 0x45, 0x57, 0x58, 0x87,
        ]
        #expect(derived == expected)
    }

    /// The hashes were made with Python's `hashlib.scrypt`; the salt is the bytes 0 to 15.
    @Test(
        "A hash made by another program with its own parameters is read",
        arguments: [
            "scrypt$15$8$1$AAECAwQFBgcICQoLDA0ODw$Zvop7yYAoLiY5GBmlkL5u8xvioY8td_FCXDDzWtURyo",
            "scrypt$10$4$2$AAECAwQFBgcICQoLDA0ODw$4rf2olJAMbNWPa9GPFE-qk3EYMfp_2NgLdmM5u37x0Y",
        ])
    func foreign(stored: String) throws {
        let hash = try #require(PasswordHash(stored: stored))
        #expect(hash.matches(Concealed("Zwölf Boxkämpfer")))
        #expect(!hash.matches(Concealed("Zwölf Boxkampfer")) && !hash.matches(Concealed("")))
        #expect(hash.stored == stored)
    }

    @Test("Of thousands of wrong passwords none is right")
    func wrong() throws {
        let hash = try PasswordHash(Concealed("the right one"), cost: 1)
        for number in 0..<5000 { #expect(!hash.matches(Concealed("a wrong one \(number)"))) }
        #expect(hash.matches(Concealed("the right one")))
    }

    @Test("Each hash has a salt of its own and the parameters that new ones have")
    func salted() throws {
        let hashes = try (0..<3).map { _ in try PasswordHash(Concealed("one and the same"), cost: 10).stored }
        #expect(Set(hashes).count == 3)
        #expect(hashes.allSatisfy { $0.hasPrefix("scrypt$10$8$3$") && $0.split(separator: "$")[4].utf8.count == 22 })
        #expect(ServerSettings().passwordCost == 15)
    }

    @Test(
        "An invalid hash, or one that would take all memory, is refused",
        arguments: [
            "", "scrypt", "scrypt$15$8$1$AAAA$AAAA", "bcrypt$15$8$1$AAECAw$Zvop7yYAoLiY5GBmlkL5u8xvioY8td_FCXDDzWtURyo",
            "scrypt$40$8$1$AAECAw$Zvop7yYAoLiY5GBmlkL5u8xvioY8td_FCXDDzWtURyo",
            "scrypt$15$8$-1$AAECAw$Zvop7yYAoLiY5GBmlkL5u8xvioY8td_FCXDDzWtURyo",
            "scrypt$15$8$1$$Zvop7yYAoLiY5GBmlkL5u8xvioY8td_FCXDDzWtURyo",
        ])
    func crooked(stored: String) {
        #expect(PasswordHash(stored: stored) == nil)
    }

    @Test("A password shows itself to nobody who prints it")
    func concealed() {
        let password = Concealed("correct horse")
        var dumped = ""
        dump([password: [password]], to: &dumped)
        for text in ["\(password)", String(reflecting: password), "\([password])", dumped] {
            #expect(!text.contains("horse"))
        }
    }

    @Test("Waits grow with each guess, end after a quarter of an hour, and are kept by user and by network")
    func brake() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "brake-\(UUID().uuidString)").path
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let brake = try await SignInThrottle(try SQLiteStore(path: path))
        /// Returns how many seconds the next guess has to wait.
        func wait(_ user: String, _ network: String, _ now: Int) async -> Int {
            do {
                try await brake.begin(user, from: network, now: now)
                return 0
            } catch let refusal as Refusal {
                return refusal.retryAfter ?? -1
            } catch {
                return -1
            }
        }
        var now = 1_000_000
        for _ in 0..<5 { #expect(await wait("ann", "a", now) == 0) }
        for seconds in [30, 60, 120, 240, 480, 900, 900] {
            #expect(await wait("ann", "b", now) == seconds)
            #expect(await wait("ann", "b", now + seconds * 1000 - 1) == 1)
            now += seconds * 1000
            #expect(await wait("ann", "c", now) == 0)
        }
        // Another user of the same network is free, until the network has guessed too often as well.
        for guess in 0..<15 { #expect(await wait("user\(guess)", "a", now) == 0) }
        #expect(await wait("someone", "a", now) == 30)
        #expect(await wait("someone", "d", now) == 0)
        // An hour without a guess, and all is forgotten.
        now += 3_600_000
        for _ in 0..<5 { #expect(await wait("ann", "a", now) == 0) }
        #expect(await wait("ann", "a", now) == 30)
        try await brake.succeed("ann", from: "a", now: now)
        #expect(await wait("ann", "a", now) == 0)
        // Where she signed in she is free of what others try elsewhere, and counted all the same.
        for guess in 0..<5 { #expect(await wait("ann", "elsewhere\(guess)", now) == 0) }
        #expect(await wait("ann", "elsewhere", now) == 30)
        for _ in 0..<4 { #expect(await wait("ann", "a", now) == 0) }
        #expect(await wait("ann", "a", now) == 30)
        try await brake.forget("ann", now: now)
        #expect(await wait("ann", "a", now) == 0)
        #expect(await wait("ann", "elsewhere", now) == 0)
    }
}
