// SPDX-License-Identifier: Apache-2.0

/// Where a database is, as an operator writes it: the path of a file, or the address of a PostgreSQL database.
package enum DatabasePlace {
    private static let schemes = ["postgres://", "postgresql://"]
    private static let keywords = ["host", "hostaddr", "dbname", "service", "user", "port"]

    /// Whether a text is the address of a database on a server: a URI, or libpq's `host=… dbname=…`.
    package static func isServer(_ text: String) -> Bool {
        schemes.contains { text.hasPrefix($0) }
            || keywords.contains { text.hasPrefix($0 + "=") || text.contains(" " + $0 + "=") }
    }

    /// The place as people are shown it: a path unchanged, or an address's host, port, user and database without a
    /// password.
    ///
    /// Parts that cannot be read as an address are left out.
    package static func shown(_ text: String) -> String {
        guard isServer(text) else { return text }
        if let scheme = schemes.first(where: { text.hasPrefix($0) }) { return uri(text.dropFirst(scheme.count)) }
        let found = pairs(text)
        let user = found["user"].map { $0 + "@" } ?? ""
        let port = found["port"].map { ":" + $0 } ?? ""
        // A database's name may itself be a whole address (libpq, section 34.1.1) that contains a password.
        let name = found["dbname"].flatMap { $0.contains("=") || $0.contains("://") ? nil : $0 } ?? ""
        return "postgres://\(user)\(found["host"] ?? found["hostaddr"] ?? "")\(port)/\(name)"
    }

    /// Shows `USER:PASSWORD@HOSTS/NAME?PARAMETERS` without the password and the parameters.
    private static func uri(_ text: Substring) -> String {
        // A password that is not encoded as required may hold any character, here or among the parameters. Before the
        // last @, only the user's name is shown; after it, nothing where that may be a parameter.
        func endsHosts(_ character: Character) -> Bool { "?#".contains(character) }
        guard let at = text.lastIndex(of: "@") else { return "postgres://\(text.prefix { !endsHosts($0) })" }
        let user = text[..<at].prefix { !":/?#@".contains($0) }
        let isAmbiguous = text[..<at].contains(where: endsHosts)
        let hosts = isAmbiguous ? "" : text[text.index(after: at)...].prefix { !endsHosts($0) }
        return "postgres://\(user)@\(hosts)"
    }

    /// Reads libpq's other form: `name=value` or `name='value'`, with `\` before a quote or another `\`.
    private static func pairs(_ text: String) -> [ByteString: String] {
        var (found, rest) = ([ByteString: String](), Substring(text))
        while true {
            rest = rest.drop { $0.isWhitespace }
            guard let equals = rest.firstIndex(of: "=") else { return found }
            let name = rest[..<equals].filter { !$0.isWhitespace }
            rest = rest[rest.index(after: equals)...].drop { $0.isWhitespace }
            let isQuoted = rest.first?.is("'") == true
            if isQuoted { rest = rest.dropFirst() }
            var value = ""
            while let next = rest.popFirst() {
                if next.is("\\") {
                    if let escaped = rest.popFirst() { value.append(escaped) }
                } else if isQuoted ? next.is("'") : next.isWhitespace {
                    break
                } else {
                    value.append(next)
                }
            }
            found[ByteString(name)] = value
        }
    }
}
