// SPDX-License-Identifier: Apache-2.0

internal import Storage

/// The files of an open database, to detect when somebody deletes or replaces one of them.
struct OpenedFiles: Sendable {
    enum State {
        case inPlace
        /// No file is in its place.
        case deleted
        /// Another file is in its place.
        case replaced
    }

    let path: String
    private let database: FileIdentity?
    /// SQLite's log, which contains the latest changes until they are in the database; it exists as long as the
    /// database is open.
    private let log: FileIdentity?

    init(database path: String) {
        self.path = path
        database = FileIdentity(path: path)
        log = FileIdentity(path: path + "-wal")
    }

    var state: State {
        let states = [Self.state(path, database), Self.state(path + "-wal", log)]
        return states.first { $0 == .replaced } ?? states.first { $0 == .deleted } ?? .inPlace
    }

    private static func state(_ path: String, _ known: FileIdentity?) -> State {
        guard let known else { return .inPlace }
        guard let found = FileIdentity(path: path) else { return .deleted }
        return found == known ? .inPlace : .replaced
    }
}
