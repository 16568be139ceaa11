// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Stores the engine's state. A save either completes or changes nothing.
public protocol StateStore: Sendable {
    /// Returns the state; nil when none was stored yet.
    func load() async throws -> EngineState?
    func save(_ state: EngineState) async throws
    /// Deletes the state; then the calendar itself is the only calendar data on the device.
    func clear() async throws
}

/// A file that only its owner can read, and that is always replaced as a whole.
public actor FileStateStore: StateStore {
    /// The maximum number of bytes that are read; a longer file was not written by this program.
    private static let longest = 256 << 20

    private let file: PrivateFile<EngineState>

    public init(_ file: URL) { self.file = PrivateFile(file, longest: Self.longest) }

    public func load() throws -> EngineState? { try file.read() }
    public func save(_ state: EngineState) throws { try file.write(state) }
    public func clear() throws { try file.remove() }
}

/// State in memory, which is lost when the program ends.
public actor MemoryStateStore: StateStore {
    private var state: EngineState?

    public init() {}

    public func load() -> EngineState? { state }
    public func save(_ state: EngineState) { self.state = state }
    public func clear() { state = nil }
}
