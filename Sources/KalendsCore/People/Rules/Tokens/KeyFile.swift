// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// A source of public keys for users' tokens.
protocol KeySource: Sendable {
    /// Returns the keys that may have signed this token.
    ///
    /// - Parameter now: milliseconds since 1970.
    func keys(for token: SignedToken, now: Int) async -> [VerifyingKey]
}

/// Public keys in a file, which is read again after it has changed; if it cannot be read, the keys stay as they were.
actor KeyFile: KeySource {
    /// The file attributes that show whether a file has changed since it was read.
    private struct Stamp: Equatable {
        var modifiedAt: Date?
        var size: UInt64?
        var inode: UInt64?
    }

    private let path: String
    private let leastBits: Int
    private var keys: KeySet
    private var stamp: Stamp?

    /// Throws `ServerSettings.Invalid` if the file contains no usable key.
    ///
    /// - Parameter leastBits: the shortest modulus of an RSA key.
    init(_ path: String, leastBits: Int) async throws {
        (self.path, self.leastBits) = (path, leastBits)
        stamp = Self.stamp(of: path)
        let bytes: [UInt8]
        do {
            bytes = try Self.bytes(path)
        } catch {
            throw ServerSettings.Invalid(faults: ["jwtJwksFile names a file that cannot be used: \(publicText(error))"])
        }
        guard let keys = await KeySet(bytes, leastBits: leastBits), !keys.isEmpty else {
            throw ServerSettings.Invalid(faults: [
                "jwtJwksFile must be a JSON Web Key Set with a public key for RS256 or PS256 (\(leastBits) bits or more), or ES256."
            ])
        }
        self.keys = keys
    }

    func keys(for token: SignedToken, now: Int) async -> [VerifyingKey] {
        let found = Self.stamp(of: path)
        if let found, found != stamp {
            stamp = found
            if let new = await read(path) { keys = new }
        }
        return keys.keys(for: token)
    }

    private func read(_ path: String) async -> KeySet? {
        guard let bytes = try? Self.bytes(path) else { return nil }
        return await KeySet(bytes, leastBits: leastBits)
    }

    private static func bytes(_ path: String) throws -> [UInt8] {
        try InputFile(path, limit: KeyAddress.limit).whole()
    }

    private static func stamp(of path: String) -> Stamp? {
        guard let found = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        return Stamp(
            modifiedAt: found[.modificationDate] as? Date, size: found[.size] as? UInt64,
            inode: found[.systemFileNumber] as? UInt64)
    }
}
