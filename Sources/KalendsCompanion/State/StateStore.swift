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
    /// The most bytes that are read; a longer file is not one of ours.
    private static let longest = 256 << 20

    private let file: PrivateFile<EngineState>

    public init(_ file: URL) { self.file = PrivateFile(file, longest: Self.longest) }

    public func load() throws -> EngineState? { try file.read() }
    public func save(_ state: EngineState) throws { try file.write(state) }
    public func clear() throws { try file.remove() }
}

/// Memory that ends with the program.
public actor MemoryStateStore: StateStore {
    private var state: EngineState?

    public init() {}

    public func load() -> EngineState? { state }
    public func save(_ state: EngineState) { self.state = state }
    public func clear() { state = nil }
}
