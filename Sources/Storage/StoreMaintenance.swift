// SPDX-License-Identifier: Apache-2.0

/// Opens a database with its engine, or creates it, and brings its schema up to date; throws `StorageError`.
///
/// - Parameters:
///   - path: the database's file.
///   - mustBeKalends: whether an empty file is refused.
public typealias StoreOpening =
    @Sendable (_ path: String, _ mustBeKalends: Bool) throws -> any Store & StoreMaintenance

/// The operator's actions on a database as a whole, for every engine.
///
/// A use case never needs it: it reads and writes through `Store`.
///
/// Like `Store`, it throws only `StorageError`, or `CancellationError` when the caller was cancelled.
public protocol StoreMaintenance: Sendable {
    /// Whether the database is still where it was opened; otherwise anything committed would be lost.
    var isInPlace: Bool { get }

    /// Whether the database answered its last query.
    var isReachable: Bool { get }

    /// How long transactions hold the only writer.
    var writes: WriteGauge { get }

    /// Rolls the open write transaction back if it has held the writer for longer than this, so that a server can stop;
    /// its caller gets a `StorageError`.
    func giveUpWrite(after limit: Duration)

    /// The engine's version, as the engine reports it.
    func engineVersion() async throws -> String

    /// Returns the bytes that the database takes on the disk.
    func size() async throws -> Int

    /// Writes a complete and consistent copy to a new file, while others read and write.
    ///
    /// The copy belongs to no journal of accesses.
    func backup(to path: String) async throws

    /// Runs the engine's own check of all stored data; returns `ok` or a list of the damage.
    func integrityCheck() async throws -> String

    /// Throws `StorageError` unless the schema is exactly ours.
    func checkSchema() async throws

    /// Returns the first rows that this program could not have written, at most `StoredFault.limit`.
    func valueFaults() async throws -> [StoredFault]

    /// Removes the statistics of the engine's planner, which somebody else may have written.
    func forgetStatistics() async throws

    /// Rewrites what is stored where that takes a moment, so that nothing that was removed is left in unused space;
    /// returns false where the engine or the database's size leaves that to the operator.
    func overwriteRemoved() async throws -> Bool

    /// Checks whether another process changed the database, which makes the caches stale.
    func lookForForeignChange() async throws
}

extension StoreMaintenance {
    public var isReachable: Bool { true }

    public func overwriteRemoved() async throws -> Bool { false }

    public func giveUpWrite(after limit: Duration) { _ = writes.giveUp(after: limit) }
}
