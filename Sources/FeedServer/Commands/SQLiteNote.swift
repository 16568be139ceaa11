// SPDX-License-Identifier: Apache-2.0

/// A note about the system's version of SQLite.
enum SQLiteNote {
    /// In earlier versions, two connections that write or checkpoint at the same moment may damage a database with a
    /// log.
    private static let mended = [3, 51, 3]
    /// The first version with such a log.
    private static let first = [3, 7, 0]

    /// - Parameter version: the version as the engine reports it.
    static func text(_ version: String) -> String {
        let parts = version.pieces(separatedBy: ".").compactMap { Int($0) }
        guard parts.count >= 3, !parts.lexicographicallyPrecedes(first), parts.lexicographicallyPrecedes(mended) else {
            return version
        }
        return """
            \(version) has the bug that damages a log when two programs write or checkpoint it at once (fixed in \
            3.51.3): Kalends writes through one connection and does not trigger it; let no other program open the \
            database for writing
            """
    }
}
