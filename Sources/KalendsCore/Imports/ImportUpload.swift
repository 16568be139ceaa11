// SPDX-License-Identifier: Apache-2.0

/// A file that came in: its bytes in a spool, never all of them in this process.
package struct ImportUpload: Sendable {
    package let spool: Spool
    /// As its Content-Type names it.
    package var charset: String?
    /// Whether there are bytes that are not UTF-8.
    package var isForeign = false
    /// Whom the file is counted to, for as long as it is here; nil for one that is counted to nobody.
    let admission: FairPool.Holding?

    package init(_ admission: FairPool.Holding?) throws {
        spool = try Spool()
        self.admission = admission
    }

    /// Keeps bytes that are there already.
    init(_ bytes: [UInt8], _ admission: FairPool.Holding? = nil) throws {
        try self.init(admission)
        try spool.append(bytes)
        var check = UTF8Check()
        check.feed(bytes[...])
        isForeign = !check.finish()
    }
}
