// SPDX-License-Identifier: Apache-2.0

/// Where a domain says that its calendars are.
public struct CalDAVService: Hashable, Sendable {
    /// A name in lower case.
    public var host: String
    public var port: Int
    /// Where the look begins there, nil for the well-known path.
    public var path: String?

    public init(host: String, port: Int, path: String? = nil) {
        (self.host, self.port, self.path) = (host, port, path)
    }
}

/// Asks a domain for its calendar services over TLS (RFC 6764 sections 3 and 4).
public protocol CalDAVServices: Sendable {
    /// In the order in which to try them; empty when the domain names none.
    func services(of domain: String) async -> [CalDAVService]
}
