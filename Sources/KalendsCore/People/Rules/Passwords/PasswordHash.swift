// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import FoundationEssentials

/// A password as it is stored: a Scrypt hash (RFC 7914) with its parameters and salt, `scrypt$15$8$3$salt$hash`.
struct PasswordHash: Sendable {
    /// The binary logarithm of N; with r = 8, N = 2^15 takes 32 MiB.
    let cost: Int
    private let blockSize: Int
    private let parallelism: Int
    private let salt: [UInt8]
    private let hash: [UInt8]

    private static let length = 32
    private static let saltLength = 16
    /// The parameter p of new hashes. By OWASP's table, N = 2^15 with p = 3 is as much work for a guesser as N = 2^17
    /// with p = 1, and needs a quarter of the memory here; one hash takes about a third of a second.
    static let newParallelism = 3

    /// Hashes a password with a new salt; this is slow on purpose, and must not run on an event loop.
    init(_ password: Concealed, cost: Int, parallelism: Int = newParallelism) throws {
        self.cost = cost
        (blockSize, self.parallelism) = (8, parallelism)
        salt = .random(Self.saltLength)
        hash = try Self.derive(password, salt, cost, blockSize, parallelism)
    }

    /// Reads a stored hash; returns nil for any other text, and for unreasonable parameters.
    init?(stored text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "scrypt", let cost = Int(parts[1]), let blockSize = Int(parts[2]),
            let parallelism = Int(parts[3]), (1...20).contains(cost), (1...32).contains(blockSize),
            (1...16).contains(parallelism), let salt = Base64URL.decode(Array(parts[4].utf8)), !salt.isEmpty,
            let hash = Base64URL.decode(Array(parts[5].utf8)), hash.count == Self.length
        else { return nil }
        (self.cost, self.blockSize, self.parallelism, self.salt, self.hash) = (cost, blockSize, parallelism, salt, hash)
    }

    /// Whether the hash took less work than new ones must take.
    func isWeaker(than cost: Int) -> Bool { self.cost < cost || parallelism < Self.newParallelism }

    var stored: String {
        "scrypt$\(cost)$\(blockSize)$\(parallelism)$\(Base64URL.encode(salt))$\(Base64URL.encode(hash))"
    }

    /// Returns random bytes in the stored form of a new hash, which no password gives.
    ///
    /// They look like any user's hash, so that they take as long to read.
    static func dummyHash(cost: Int) -> String {
        let (salt, hash) = (Base64URL.encode([UInt8].random(saltLength)), Base64URL.encode([UInt8].random(length)))
        return "scrypt$\(cost)$8$\(newParallelism)$\(salt)$\(hash)"
    }

    /// Whether the password matches; this is as slow as making a hash, and the comparison takes the same time wherever
    /// the two differ.
    func matches(_ password: Concealed) -> Bool {
        guard let other = try? Self.derive(password, salt, cost, blockSize, parallelism) else { return false }
        return other.isSameSecret(as: hash)
    }

    static func derive(
        _ password: Concealed, _ salt: [UInt8], _ cost: Int, _ blockSize: Int, _ parallelism: Int, length: Int = length
    ) throws -> [UInt8] {
        // The library does not accept an empty password.
        let bytes = password.bytes.isEmpty ? [0] : password.bytes
        let key = try KDF.Scrypt.deriveKey(
            from: bytes, salt: salt, outputByteCount: length, rounds: 1 << cost, blockSize: blockSize,
            parallelism: parallelism)
        // The buffer is only read during the call.
        return unsafe key.withUnsafeBytes { unsafe Array($0) }
    }
}
