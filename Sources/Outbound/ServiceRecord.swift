// SPDX-License-Identifier: Apache-2.0

/// Where a domain says that a service is (RFC 2782).
package struct ServiceRecord: Hashable, Sendable {
    package var priority: Int
    package var weight: Int
    package var port: Int
    /// A name of the DNS in lower case, without a dot at its end.
    package var target: String

    package init(priority: Int, weight: Int, port: Int, target: String) {
        (self.priority, self.weight, self.port, self.target) = (priority, weight, port, target)
    }
}

/// Asks the DNS for a domain's services.
package protocol ServiceResolver: Sendable {
    /// What a name such as `_caldavs._tcp.example.org` has; empty when it has none, and when nobody could say.
    func services(of name: String) async -> [ServiceRecord]

    /// The texts of a name.
    func texts(of name: String) async -> [String]
}
