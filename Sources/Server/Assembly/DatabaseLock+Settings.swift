// SPDX-License-Identifier: Apache-2.0

package import KalendsCore
import Storage

extension DatabaseLock {
    /// Takes the lock of the settings' database on this machine; throws `StorageError.locked` at once when another
    /// process has it.
    ///
    /// For a database server, the engine's own lock decides which machine uses the database; this lock reserves the
    /// local files for one process.
    package convenience init(_ settings: ServerSettings, creates: Bool) throws {
        if settings.server == nil {
            try self.init(database: settings.database, creates: creates)
        } else {
            try self.init(path: settings.lockFile)
        }
    }
}
