// SPDX-License-Identifier: Apache-2.0

/// The reason why the database cannot be used; every case has one sentence for the operator.
public enum StorageError: Error, Hashable, CustomStringConvertible {
    /// The database cannot be opened, or a required setting does not take effect.
    case unusable(String)
    /// Another process holds `<database>.lock`.
    case locked(String)
    /// Another process has opened the same file under another path.
    case lockedElsewhere(String)
    /// Another process uses the database on the server.
    case inUse
    /// The database's server cannot be reached or does not serve. Nothing was stored, and it may be back in a moment.
    case unreachable(String)
    /// The connection was lost at the end of a change, and whether the change was stored could not be found out.
    case outcomeUnknown
    /// The database's server refused a statement, with its SQLSTATE; nothing was stored.
    case refused(state: String)
    /// The database's file was deleted or replaced while it was open; nothing was changed.
    case fileGone(String)
    /// The database was made by a newer version of the program.
    case newerSchema(found: Int, known: Int)
    /// A copy into the database was interrupted, and has to be continued before anything else.
    case unfinishedCopy
    /// There is no room for a write; none of it was stored.
    case diskFull
    /// The system could not read or write, with the engine's error code; nothing was stored.
    case diskFailed(engineCode: Int)
    /// A statement would have broken a rule of the schema, such as a key; the text is the engine's, without any value.
    case contradiction(String)
    /// Others read and wrote the same data at the same time, more often than an engine tries again; nothing was stored.
    case contended
    /// Another server has taken over what this one had begun; nothing was stored.
    case leaseLost
    /// The engine failed for another reason, with its error code; nothing was stored.
    case engineFailed(engineCode: Int)
    /// A requested file cannot be written; nothing is left of it.
    case notWritten(path: String, reason: String)
    /// A text contains a NUL, which no text in the database may.
    case unstorable
    /// A statement does not fit the schema: a bug in the program.
    case unexpectedResult(String)

    /// Whether another process uses the database.
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
            "Another process uses this database: \(path) is another name of a file that it has open."
        case .inUse: "Another process uses this database."
        case .unreachable(let reason): "The database cannot be reached: \(reason)."
        case .outcomeUnknown:
            "The database was lost at the end of a change, and whether it was kept could not be found out."
        case .refused(let state): "The database refused a statement (SQLSTATE \(state))."
        case .fileGone(let path): "The database \(path) was deleted or replaced while it was in use."
        case .newerSchema(let found, let known):
            "The database has schema version \(found), this program knows up to \(known): use the newer program."
        case .unfinishedCopy:
            "A move into this database was interrupted: run the same kalends move again to continue it."
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
