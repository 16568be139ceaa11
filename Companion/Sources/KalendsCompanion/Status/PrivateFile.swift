// SPDX-License-Identifier: Apache-2.0

public import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A JSON file that only its owner can read (mode 0600), and that is always replaced as a whole.
public struct PrivateFile<Value: Codable & Sendable>: Sendable {
    public let url: URL
    private let longest: Int

    /// - Parameter longest: the most bytes that are read; a longer file was not written by this program.
    public init(_ url: URL, longest: Int = 1 << 20) {
        self.url = url
        self.longest = longest
    }

    /// Returns the file's value; nil when the file does not exist.
    ///
    /// - Throws: when the file cannot be read or was not written by this program.
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
        // The file is created with its mode and gets its name only when it is complete.
        let draft = folder.appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
        guard manager.createFile(atPath: draft.path, contents: data, attributes: [.posixPermissions: 0o600]) else {
            throw CocoaError(.fileWriteUnknown)
        }
        // Foundation has no call that replaces a file whether or not it exists.
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
