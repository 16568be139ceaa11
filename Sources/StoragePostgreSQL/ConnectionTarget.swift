// SPDX-License-Identifier: Apache-2.0

internal import CPostgres
internal import Storage

/// Where a database is, as an operator writes it: `postgres://…`, or libpq's `host=… dbname=…`.
///
/// What is not given comes from where libpq takes it: `PGHOST` and its kind, the service file, the password file.
public struct ConnectionTarget: Sendable {
    let given: String

    /// Throws `StorageError.unusable`, without repeating any of what was given, when it cannot be an address.
    public init(_ text: String) throws {
        guard !text.utf8.contains(0), let options = Self.options(text) else { throw Self.unreadable }
        // A password with an `@` or a `:` that is not written as `%40` and `%3A` would be read as a host or a port,
        // which an error may name.
        let host = options["host"] ?? ""
        let port = options["port"] ?? ""
        guard !host.utf8.contains(UInt8(ascii: "@")), port.utf8.allSatisfy({ "0123456789,".utf8.contains($0) }) else {
            throw Self.unreadable
        }
        given = text
    }

    /// What was given by the names of libpq's options; nil when it cannot be read.
    private static func options(_ text: String) -> [String: String]? {
        guard let options = unsafe PQconninfoParse(text, nil) else { return nil }
        // libpq's own list, which ends with an entry without a name.
        defer { unsafe PQconninfoFree(options) }
        var found: [String: String] = [:]
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                found[unsafe String(cString: keyword)] = unsafe String(cString: value)
            }
            unsafe option += 1
        }
        return found
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
