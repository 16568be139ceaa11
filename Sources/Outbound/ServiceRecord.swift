// SPDX-License-Identifier: Apache-2.0

/// A host that a domain names for a service (RFC 2782).
package struct ServiceRecord: Hashable, Sendable {
    package var priority: Int
    package var weight: Int
    package var port: Int
    /// A DNS name in lower case, without a trailing dot.
    package var target: String

    package init(priority: Int, weight: Int, port: Int, target: String) {
        (self.priority, self.weight, self.port, self.target) = (priority, weight, port, target)
    }
}

/// Asks the DNS for a domain's services.
package protocol ServiceResolver: Sendable {
    /// Returns the records of a name such as `_caldavs._tcp.example.org`; empty when it has none, or when the look-up
    /// fails or takes too long.
    ///
    /// - Parameter asker: whoever named the domain.
    func services(of name: String, for asker: ByteString) async -> [ServiceRecord]

    /// Returns the texts of a name; empty when it has none, or when the look-up fails or takes too long.
    func texts(of name: String, for asker: ByteString) async -> [String]
}
