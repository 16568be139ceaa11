// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension DatabaseLock {
    /// Takes the lock of the settings' database on this machine; throws `StorageError.locked` at once when another process
    /// has it.
    ///
    /// The engine's own lock decides which of all machines has a server's database; this one keeps the local files to
    /// one process.
    convenience init(_ settings: ServerSettings, creates: Bool) throws {
        if settings.server == nil {
            try self.init(database: settings.database, creates: creates)
        } else {
            try self.init(path: settings.lockFile)
        }
    }
}
