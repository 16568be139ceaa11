// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StoragePostgreSQL
import StorageSQLite
import StoreConformance

/// The server that `Scripts/postgresql.sh` runs the tests beside; each folder has a database of its own there.
enum PostgreSQLServer {
    /// Its address, nil where there is none.
    static let address = TestedPostgreSQL.address

    static let engine = StoreEngine(
        "PostgreSQL",
        open: { try TestedPostgreSQL.open($0.appending(path: "kalends").path, isOnly: false) },
        openCopy: { try SQLiteStore(path: $0, mustBeKalends: true) })
}
