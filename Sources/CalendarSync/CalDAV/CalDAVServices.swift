// SPDX-License-Identifier: Apache-2.0

/// A calendar service that a domain names.
public struct CalDAVService: Hashable, Sendable {
    /// The host's name, in lower case.
    public var host: String
    public var port: Int
    /// The path at which discovery begins; nil for the well-known path.
    public var path: String?

    public init(host: String, port: Int, path: String? = nil) {
        (self.host, self.port, self.path) = (host, port, path)
    }
}

/// Looks up the calendar services that a domain offers over TLS (RFC 6764 sections 3 and 4).
public protocol CalDAVServices: Sendable {
    /// Returns the services in the order in which to try them; empty when the domain names none.
    func services(of domain: String) async -> [CalDAVService]
}
