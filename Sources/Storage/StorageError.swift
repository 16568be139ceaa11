// SPDX-License-Identifier: Apache-2.0

/// Why the database cannot be used; every case has one sentence for the operator.
public enum StorageError: Error, Hashable, CustomStringConvertible {
    /// The database cannot be opened or a setting it needs does not hold.
    case unusable(String)
    /// Another process holds `<database>.lock`.
    case locked(String)
    /// The database was made by a newer version.
    case newerSchema(found: Int, known: Int)
    /// A statement and the schema do not fit: a fault of the program.
    case unexpectedResult(String)

    public var description: String {
        switch self {
        case .unusable(let reason): reason
        case .locked(let path): "Another process uses this database: it holds \(path)."
        case .newerSchema(let found, let known):
            "The database has schema version \(found), this program knows up to \(known): use the newer program."
        case .unexpectedResult(let reason): reason
        }
    }
}
