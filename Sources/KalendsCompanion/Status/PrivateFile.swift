// SPDX-License-Identifier: Apache-2.0

public import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A file of JSON that only its owner reads (mode 0600), replaced as a whole.
public struct PrivateFile<Value: Codable & Sendable>: Sendable {
    public let url: URL
    private let longest: Int

    /// - Parameter longest: the most bytes; a longer file is not one of ours.
    public init(_ url: URL, longest: Int = 1 << 20) {
        self.url = url
        self.longest = longest
    }

    /// What the file holds; nil when there is none.
    ///
    /// - Throws: when it cannot be read or is not what this program wrote.
    public func read() throws -> Value? {
        let size: Int?
        do {
            size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            return nil
        }
        guard let size, size <= longest else { throw CocoaError(.fileReadCorruptFile) }
        return try Value(decodingJSON: Data(contentsOf: url))
    }

    public func write(_ value: Value) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        let data = try encoder.encode(value)
        let folder = url.deletingLastPathComponent()
        let manager = FileManager.default
        try manager.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        // The file has its mode from its first byte on, and comes to its name whole.
        let draft = folder.appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
        guard manager.createFile(atPath: draft.path, contents: data, attributes: [.posixPermissions: 0o600]) else {
            throw CocoaError(.fileWriteUnknown)
        }
        // Foundation has no call that puts a file in another's place, whether or not there is one.
        guard unsafe rename(draft.path, url.path) == 0 else {
            let error = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            try? manager.removeItem(at: draft)
            throw error
        }
    }

    public func remove() throws {
        if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
    }
}
