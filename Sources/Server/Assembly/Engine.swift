// SPDX-License-Identifier: Apache-2.0

package import KalendsCore
package import Storage
import StoragePostgreSQL
import StorageSQLite

/// The storage engines; no other part of the program names one.
package enum Engine {
    /// Opens a file, or a database server's database by its address, for use by this process only.
    package static let open: StoreOpening = opening(.one)

    /// Opens a database as one of several servers.
    package static func opening(_ servers: ServerSharing) -> StoreOpening {
        { place, mustBeKalends in
            guard DatabasePlace.isServer(place) else { return try file(place, mustBeKalends) }
            return try PostgreSQLStore(
                ConnectionTarget(place), mustBeKalends: mustBeKalends, isOnly: true, isShared: servers == .several,
                copies: file)
        }
    }

    /// Opens the target of a move, which may have been interrupted before.
    package static func openTarget(_ place: String) throws -> any StoreMaintenance & Store {
        guard DatabasePlace.isServer(place) else { return try SQLiteStore(path: place, continuesCopy: true) }
        return try PostgreSQLStore(ConnectionTarget(place), isOnly: true, continuesCopy: true, copies: file)
    }

    private static let file: StoreOpening = { path, mustBeKalends in
        try SQLiteStore(path: path, mustBeKalends: mustBeKalends)
    }

    /// Checks a file without changing it.
    ///
    /// - Parameter isWhole: whether the file must be complete and have no companion files, like a backup.
    /// - Throws: `StorageError` when the file is not a database, was made by a newer version, or has a schema other
    ///   than the one that this program made.
    package static func check(path: String, isWhole: Bool = false) throws {
        try SchemaCheck.check(path: path, isWhole: isWhole)
    }
}
