// SPDX-License-Identifier: Apache-2.0

/// A received file, whose bytes are in a spool and never all in this process's memory.
package struct ImportUpload: Sendable {
    package let spool: Spool
    /// The charset that its Content-Type names.
    package var charset: String?
    /// Whether the bytes are not valid UTF-8.
    package var isForeign = false
    /// The holding that counts the file for its sender as long as it is here; nil if it is not counted.
    let admission: FairPool.Holding?

    package init(_ admission: FairPool.Holding?) throws {
        spool = try Spool()
        self.admission = admission
    }

    /// Creates a file from bytes in memory.
    init(_ bytes: [UInt8], _ admission: FairPool.Holding? = nil) throws {
        try self.init(admission)
        try spool.append(bytes)
        var check = UTF8Check()
        check.feed(bytes[...])
        isForeign = !check.finish()
    }
}
