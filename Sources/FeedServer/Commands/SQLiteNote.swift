// SPDX-License-Identifier: Apache-2.0

/// What is to be known of the SQLite that the system has.
enum SQLiteNote {
    /// Before it, two connections that write or checkpoint at the same moment may damage a database with a log.
    private static let mended = [3, 51, 3]
    /// The first that has such a log.
    private static let first = [3, 7, 0]

    /// - Parameter version: as the engine reports it.
    static func text(_ version: String) -> String {
        let parts = version.pieces(separatedBy: ".").compactMap { Int($0) }
        guard parts.count >= 3, !parts.lexicographicallyPrecedes(first), parts.lexicographicallyPrecedes(mended) else {
            return version
        }
        return """
            \(version) has the fault that damages a log which two programs write or checkpoint at once (mended in 3.51.3): \
            Kalends writes by one connection and does not meet it; let no other program open the database for writing
            """
    }
}
