// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage
import StoragePostgreSQL
import StorageSQLite

/// The engines that keep a database; nothing else of the program names one.
enum Engine {
    /// Opens a file, or the database of a server by its address, that only this process uses.
    static let open: StoreOpening = opening(.one)

    /// Opens a database as one of so many servers.
    static func opening(_ servers: ServerSharing) -> StoreOpening {
        { place, mustBeKalends in
            guard DatabasePlace.isServer(place) else { return try file(place, mustBeKalends) }
            return try PostgreSQLStore(
                ConnectionTarget(place), mustBeKalends: mustBeKalends, isOnly: true, isShared: servers == .several,
                copies: file)
        }
    }

    private static let file: StoreOpening = { path, mustBeKalends in
        try SQLiteStore(path: path, mustBeKalends: mustBeKalends)
    }

    /// Looks at a file without changing it.
    ///
    /// - Parameter isWhole: whether nothing may be missing or beside it, as in a backup.
    /// - Throws: `StorageError` when it is not a database, was made by a newer version, or has more, less or something
    ///   else than this program made.
    static func check(path: String, isWhole: Bool = false) throws {
        try SchemaCheck.check(path: path, isWhole: isWhole)
    }
}
