// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Where the engine's memory is kept. A save is whole or did not happen.
public protocol StateStore: Sendable {
    /// Nil when nothing was kept yet.
    func load() async throws -> EngineState?
    func save(_ state: EngineState) async throws
    /// Forgets everything: after it nothing of a calendar is on the device but the calendar itself.
    func clear() async throws
}

/// A file that only its owner reads, replaced as a whole.
public actor FileStateStore: StateStore {
    private let file: URL

    public init(_ file: URL) { self.file = file }

    public func load() throws -> EngineState? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try JSONDecoder().decode(EngineState.self, from: Data(contentsOf: file))
    }

    public func save(_ state: EngineState) throws {
        let data = try JSONEncoder().encode(state)
        let folder = file.deletingLastPathComponent()
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let other = folder.appendingPathComponent(".\(file.lastPathComponent).\(UUID().uuidString)")
        guard
            FileManager.default.createFile(atPath: other.path, contents: data, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
        do {
            _ = try FileManager.default.replaceItemAt(file, withItemAt: other)
        } catch {
            try? FileManager.default.removeItem(at: other)
            throw error
        }
    }

    public func clear() throws {
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        try FileManager.default.removeItem(at: file)
    }
}

/// Memory that ends with the program.
public actor MemoryStateStore: StateStore {
    private var state: EngineState?

    public init() {}

    public func load() -> EngineState? { state }
    public func save(_ state: EngineState) { self.state = state }
    public func clear() { state = nil }
}
