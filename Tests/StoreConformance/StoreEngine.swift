// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import Storage
public import Testing

/// An engine as the suite sees it; a target with an engine only has to provide this.
public struct StoreEngine: Sendable, CustomTestStringConvertible {
    public let name: String
    /// Opens the database that belongs to a folder, and makes an empty one the first time. Two may be open at once, as
    /// those of two servers are.
    let open: @Sendable (_ folder: URL) throws -> any Store & StoreMaintenance
    /// Opens a file that `backup` wrote.
    let openCopy: @Sendable (_ path: String) throws -> any Store & StoreMaintenance

    public var testDescription: String { name }

    public init(
        _ name: String, open: @escaping @Sendable (_ folder: URL) throws -> any Store & StoreMaintenance,
        openCopy: @escaping @Sendable (_ path: String) throws -> any Store & StoreMaintenance
    ) {
        (self.name, self.open, self.openCopy) = (name, open, openCopy)
    }

    /// The same engine with every transaction run twice, of which only the second run counts.
    public var repeating: StoreEngine {
        StoreEngine(
            name + ", each body run twice", open: { RepeatingStore(try open($0)) },
            openCopy: { RepeatingStore(try openCopy($0)) })
    }
}

/// A database in its own folder.
struct StoreHome: Sendable {
    let engine: StoreEngine
    let folder: URL
    let store: any Store & StoreMaintenance

    /// Another server's view of the same database.
    func opened() throws -> any Store & StoreMaintenance { try engine.open(folder) }
}

/// One claim that holds for every engine.
public struct StoreCheck: Sendable, CustomTestStringConvertible {
    public let claim: String
    private let body: @Sendable (StoreHome) async throws -> Void

    public var testDescription: String { claim }

    init(_ claim: String, _ body: @escaping @Sendable (StoreHome) async throws -> Void) {
        (self.claim, self.body) = (claim, body)
    }

    /// Checks the claim for an engine, in a database that is removed afterwards.
    public func run(on engine: StoreEngine) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kalends-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try engine.open(folder)
        do {
            try await body(StoreHome(engine: engine, folder: folder, store: store))
        } catch {
            try? store.close()
            throw error
        }
        try? store.close()
    }
}

/// The checks that every engine has to pass.
public enum StoreConformance {
    public static let checks: [StoreCheck] =
        transactions + values + ordering + concurrency + numbering + durability + clock + maintenance
}
