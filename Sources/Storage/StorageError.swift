// SPDX-License-Identifier: Apache-2.0

/// Why the database cannot be used; every case has one sentence for the operator.
public enum StorageError: Error, Hashable, CustomStringConvertible {
    /// The database cannot be opened or a setting it needs does not hold.
    case unusable(String)
    /// Another process holds `<database>.lock`.
    case locked(String)
    /// Another process has opened the same file by another path.
    case lockedElsewhere(String)
    /// Another process has the database of a server.
    case inUse
    /// The database's server cannot be reached, or does not serve; nothing was kept, and it may be back in a moment.
    case unreachable(String)
    /// The server was lost at the end of a change, and whether it was kept could not be found out.
    case outcomeUnknown
    /// The database's server refused a statement, with its SQLSTATE; nothing was kept.
    case refused(state: String)
    /// The database's file was deleted or replaced while it was open; nothing was changed.
    case fileGone(String)
    /// The database was made by a newer version.
    case newerSchema(found: Int, known: Int)
    /// There is no room for what should be written; none of it was kept.
    case diskFull
    /// The system could not read or write, with the engine's number for it; nothing was kept.
    case diskFailed(engineCode: Int)
    /// A statement would have broken a rule of the schema, such as a key; in the engine's words, without any value.
    case contradiction(String)
    /// Others read and wrote the same at the same time, more often than an engine tries again; nothing was kept.
    case contended
    /// Another server does by now what this one had begun; nothing was kept.
    case leaseLost
    /// The engine failed for its own reasons, with its number for it; nothing was kept.
    case engineFailed(engineCode: Int)
    /// A file that was asked for cannot be written; nothing is left of it.
    case notWritten(path: String, reason: String)
    /// A text holds a NUL, which no text in the database may.
    case unstorable
    /// A statement and the schema do not fit: a fault of the program.
    case unexpectedResult(String)

    /// Whether another process has the database.
    public var isLocked: Bool {
        switch self {
        case .locked, .lockedElsewhere, .inUse: true
        default: false
        }
    }

    public var description: String {
        switch self {
        case .unusable(let reason): reason
        case .locked(let path): "Another process uses this database: it holds \(path)."
        case .lockedElsewhere(let path):
            "Another process uses this database: \(path) is a second name of a file that it has opened by another."
        case .inUse: "Another process uses this database."
        case .unreachable(let reason): "The database cannot be reached: \(reason)."
        case .outcomeUnknown:
            "The database was lost at the end of a change, and whether it was kept could not be found out."
        case .refused(let state): "The database refused a statement (SQLSTATE \(state))."
        case .fileGone(let path): "The database \(path) was deleted or replaced while it was in use."
        case .newerSchema(let found, let known):
            "The database has schema version \(found), this program knows up to \(known): use the newer program."
        case .diskFull: "The disk is full: the database cannot be written."
        case .diskFailed(let code): "The disk failed under the database (the engine's code is \(code))."
        case .contradiction(let reason): "A statement does not fit the schema: \(reason)."
        case .contended: "Others changed the same in the database at the same time, again and again."
        case .leaseLost: "Another server has taken this work over."
        case .engineFailed(let code): "The database's engine failed (its code is \(code))."
        case .notWritten(let path, let reason): "\(path) cannot be written: \(reason)."
        case .unstorable: "A text with a NUL cannot be stored or looked up."
        case .unexpectedResult(let reason): reason
        }
    }
}
