// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storage
import StoragePostgreSQL
import StorageSQLite
import StoreConformance

/// The server that `Scripts/postgresql.sh` starts for the tests; each folder has its own database there.
enum PostgreSQLServer {
    /// Its address; nil when there is no such server.
    static let address = TestedPostgreSQL.address

    static let engine = StoreEngine(
        "PostgreSQL",
        open: { try TestedPostgreSQL.open($0.appending(path: "kalends").path, isOnly: false) },
        openCopy: { try SQLiteStore(path: $0, mustBeKalends: true) })
}
