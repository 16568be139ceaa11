// SPDX-License-Identifier: Apache-2.0

/// Opens a database with its engine, or creates it, and brings its schema up to date; throws `StorageError`.
///
/// - Parameters:
///   - path: the database's file.
///   - mustBeKalends: whether an empty file is refused.
public typealias StoreOpening =
    @Sendable (_ path: String, _ mustBeKalends: Bool) throws -> any Store & StoreMaintenance

/// What an operator does with a database as a whole, whatever engine keeps it.
///
/// A use case never needs it: it reads and writes through `Store`.
///
/// Like `Store`, it throws only `StorageError`, or `CancellationError` when the caller was cancelled.
public protocol StoreMaintenance: Sendable {
    /// Whether the database is still where it was opened; what is committed elsewhere would be lost.
    var isInPlace: Bool { get }

    /// Whether the database answered when it was last asked.
    var isReachable: Bool { get }

    /// How long transactions hold the writer.
    var writes: WriteGauge { get }

    /// The engine's version, as the engine reports it.
    func engineVersion() async throws -> String

    /// Bytes that the database takes on the disk.
    func size() async throws -> Int

    /// Writes a whole and consistent copy to a new file, while others read and write.
    ///
    /// The copy belongs to no journal of accesses.
    func backup(to path: String) async throws

    /// The engine's own check of everything that is stored: `ok`, or what is damaged.
    func integrityCheck() async throws -> String

    /// Throws `StorageError` unless the schema is ours and nothing else.
    func checkSchema() async throws

    /// The first rows that this program could not have written; `StoredFault.limit` at most.
    func valueFaults() async throws -> [StoredFault]

    /// Removes what the engine gathered for its planner, which somebody else may have written.
    func forgetStatistics() async throws

    /// Checks whether another process changed the database, which makes stale what is remembered.
    func lookForForeignChange() async throws
}

extension StoreMaintenance {
    public var isReachable: Bool { true }
}
