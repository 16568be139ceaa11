// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Glibc

/// The free and total space of a disk.
package struct DiskRoom {
    /// The bytes that the process's user can still write.
    package let free: Int
    package let total: Int

    init(free: Int, total: Int) { (self.free, self.total) = (free, total) }

    /// Returns nil if the system does not report it.
    package init?(ofFolderOf file: String) {
        var state = statvfs()
        // The string is only read, and only the one structure is written.
        guard unsafe statvfs(URL(filePath: file).deletingLastPathComponent().path, &state) == 0 else { return nil }
        let block = Int(clamping: state.f_frsize)
        free = Int(clamping: state.f_bavail).multipliedReportingOverflow(by: block).partialValue
        total = Int(clamping: state.f_blocks).multipliedReportingOverflow(by: block).partialValue
    }
}
