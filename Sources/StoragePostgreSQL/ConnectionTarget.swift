// SPDX-License-Identifier: Apache-2.0

internal import CPostgres
internal import Storage

/// Where a database is, as an operator writes it: `postgres://…`, or libpq's `host=… dbname=…`.
///
/// What is not given comes from where libpq takes it: `PGHOST` and its kind, the service file, the password file.
public struct ConnectionTarget: Sendable {
    let given: String

    /// Throws `StorageError.unusable`, without a word of what was given, when libpq cannot read it.
    public init(_ text: String) throws {
        guard !text.utf8.contains(0) else { throw Self.unreadable }
        let options = unsafe PQconninfoParse(text, nil)
        guard let options = unsafe options else { throw Self.unreadable }
        unsafe PQconninfoFree(options)
        given = text
    }

    private static let unreadable = StorageError.unusable(
        "The database is not a valid connection string of PostgreSQL: postgres://USER@HOST/NAME or host=… dbname=…")

    /// Each overrides those before it.
    var parameters: [(name: String, value: String)] {
        [
            ("application_name", "kalends"), ("connect_timeout", "5"), ("keepalives", "1"), ("keepalives_idle", "10"),
            ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "20000"),
            ("dbname", given), ("client_encoding", "UTF8"), ("target_session_attrs", "read-write"),
        ]
    }
}
