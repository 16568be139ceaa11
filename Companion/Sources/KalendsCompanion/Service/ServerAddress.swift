// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The address of a Kalends server: `https://host[:port][/path]`.
///
/// Plain `http://` is allowed only for this machine, because each request carries the token.
public struct ServerAddress: Hashable, Sendable, Codable {
    public let url: URL

    /// Reads an address that a person typed; without a scheme it is `https`.
    ///
    /// - Throws: `Fault` with the reason why the text is not a server's address.
    public init(_ typed: String) throws(Fault) {
        let trimmed = typed.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !trimmed.isEmpty, trimmed.utf8.count <= Self.longest else { throw .notAnAddress }
        let text = trimmed.contains("://") ? trimmed : "https://\(trimmed)"
        guard var parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else { throw .notAnAddress }
        guard parts.user == nil, parts.password == nil else { throw .hasUser }
        guard parts.query == nil, parts.fragment == nil else { throw .hasQuery }
        switch parts.scheme?.lowercased() {
        case "https": parts.scheme = "https"
        case "http":
            guard Self.isThisMachine(host) else { throw .notEncrypted }
            parts.scheme = "http"
        default: throw .notAnAddress
        }
        while parts.path.hasSuffix("/") { parts.path.removeLast() }
        guard let url = parts.url else { throw .notAnAddress }
        self.url = url
    }

    /// Returns the address of a route; `path` begins with a slash. The path and the query are encoded here.
    func route(_ path: String, query: [(String, String)] = []) -> URL? {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: false) else { return nil }
        parts.path += path
        if !query.isEmpty { parts.queryItems = query.map { URLQueryItem(name: $0, value: $1) } }
        return parts.url
    }

    public init(from decoder: any Decoder) throws {
        try self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(url.absoluteString)
    }

    /// Why a text is not the address of a server.
    public enum Fault: Error, Hashable, CustomStringConvertible {
        case notAnAddress, notEncrypted, hasUser, hasQuery

        public var description: String {
            switch self {
            case .notAnAddress: "This is not the address of a server, such as https://calendar.example.org."
            case .notEncrypted: "Only a server on this machine may be asked without encryption: use https."
            case .hasUser: "The address holds a name or a password: take it out, and log in."
            case .hasQuery: "The address of a server ends with its path, without a question mark or a hash."
            }
        }
    }

    private static let longest = 2_048

    private static func isThisMachine(_ host: String) -> Bool {
        host.lowercased() == "localhost" || IPAddress(host)?.isLoopback ?? false
    }
}
