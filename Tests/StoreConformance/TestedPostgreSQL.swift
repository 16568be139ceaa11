// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import Storage
public import StoragePostgreSQL
internal import StorageSQLite
internal import Synchronization

/// A PostgreSQL for tests, whose databases nobody else uses.
///
/// `Scripts/postgresql.sh` sets `KALENDS_TEST_POSTGRESQL` to its address in libpq's form, with the name of an existing
/// database.
public enum TestedPostgreSQL {
    /// The server's address; nil when there is no server.
    public static let address = ProcessInfo.processInfo.environment["KALENDS_TEST_POSTGRESQL"]

    /// The databases of this process, by the paths that stand for them in tests.
    private static let names = Mutex<[String: String]>([:])

    /// A database with the schema, of which the others are copies; otherwise the error of creating it.
    private static let template: Result<String, any Error> = Result {
        guard let address else { throw StorageError.unusable("There is no PostgreSQL for tests.") }
        let name = freshName()
        try ServerDatabases.make(name, like: nil, at: ConnectionTarget(address))
        let target = try ConnectionTarget("\(address) dbname=\(name)")
        try PostgreSQLStore(target, isOnly: true) { path, mustBeKalends in
            try SQLiteStore(path: path, mustBeKalends: mustBeKalends)
        }.close()
        return name
    }

    /// Removes the databases whose folders were removed when their test ended.
    private static func removeGone(_ names: inout [String: String]) throws {
        for (path, name) in names {
            let folder = URL(filePath: path).deletingLastPathComponent().path
            guard let address, !FileManager.default.fileExists(atPath: folder) else { continue }
            try ServerDatabases.remove(name, at: ConnectionTarget(address))
            names[path] = nil
        }
    }

    private static func freshName() -> String { "t" + UUID().uuidString.replacing("-", with: "").lowercased() }

    /// Opens the database that stands for a path, and creates it with the schema when it is first opened.
    public static func open(
        _ path: String, mustBeKalends: Bool = false, isOnly: Bool
    ) throws -> any Store & StoreMaintenance {
        try PostgreSQLStore(target(path), mustBeKalends: mustBeKalends, isOnly: isOnly) { path, mustBeKalends in
            try SQLiteStore(path: path, mustBeKalends: mustBeKalends)
        }
    }

    /// Opens the database as one of several servers that share it.
    public static func share(_ path: String) throws -> any Store & StoreMaintenance & SharedStore {
        try PostgreSQLStore(target(path), isOnly: true, isShared: true) { path, mustBeKalends in
            try SQLiteStore(path: path, mustBeKalends: mustBeKalends)
        }
    }

    /// Opens the database as a server of another version would, whose program knows another history of the schema.
    package static func share(
        _ path: String, as history: SchemaHistory
    ) throws -> any Store & StoreMaintenance & SharedStore {
        try PostgreSQLStore(target(path), isOnly: true, isShared: true, history: history) { path, mustBeKalends in
            try SQLiteStore(path: path, mustBeKalends: mustBeKalends)
        }
    }

    /// Returns the address of the database that stands for a path.
    public static func target(_ path: String) throws -> ConnectionTarget {
        try ConnectionTarget(try place(path))
    }

    /// The address of the database that stands for a path, in libpq's words.
    public static func place(_ path: String) throws -> String {
        guard let address else { throw StorageError.unusable("There is no PostgreSQL for tests.") }
        let name = try names.withLock { names in
            if let known = names[path] { return known }
            try removeGone(&names)
            let name = freshName()
            try ServerDatabases.make(name, like: try template.get(), at: ConnectionTarget(address))
            names[path] = name
            return name
        }
        // The later word counts.
        return "\(address) dbname=\(name)"
    }
}
