// SPDX-License-Identifier: Apache-2.0

internal import CPostgres
internal import Storage

/// The place of a database, as an operator writes it: `postgres://…`, or libpq's `host=… dbname=…`.
///
/// Missing parts come from libpq's own sources: `PGHOST` and similar variables, the service file, the password file.
public struct ConnectionTarget: Sendable {
    let given: String
    /// The lists of libpq's words that have an entry for each of several hosts; empty for one host.
    private let lists: [(name: String, entries: [String])]

    /// Reads an address; throws `StorageError.unusable`, without repeating any of the text, when it cannot be one.
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
        let hosts = Self.entries(options["host"] ?? options["hostaddr"])
        lists =
            hosts.count < 2
            ? []
            : ["host", "hostaddr", "port"].map { ($0, Self.entries(options[$0])) }.filter {
                $0.entries.count == hosts.count
            }
    }

    private static func entries(_ list: String?) -> [String] {
        list?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
    }

    /// Reads the options by libpq's names; nil when the text cannot be read.
    private static func options(_ text: String) -> [String: String]? {
        guard let options = unsafe PQconninfoParse(text, nil) else { return nil }
        // The list is libpq's own and ends with an entry without a name.
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

    /// Returns the parameters of a connection; each overrides those before it.
    ///
    /// - Parameter skipped: how many of several hosts are tried after the others.
    func parameters(skipping skipped: Int = 0) -> [(name: String, value: String)] {
        let others = lists.map { list in
            let first = skipped % list.entries.count
            return (list.name, (list.entries[first...] + list.entries[..<first]).joined(separator: ","))
        }
        return [
            ("application_name", "kalends"), ("connect_timeout", "5"), ("keepalives", "1"), ("keepalives_idle", "10"),
            ("keepalives_interval", "5"), ("keepalives_count", "3"), ("tcp_user_timeout", "20000"),
            ("dbname", given), ("client_encoding", "UTF8"), ("target_session_attrs", "read-write"),
        ] + others
    }
}
