// SPDX-License-Identifier: Apache-2.0

/// The hosts that get an account's password: the one that the person named, and those that discovery may lead to.
struct DAVRealm: Hashable, Sendable {
    /// Origins that were named by the person or found by discovery before.
    private(set) var known: [DAVAddress]

    init(_ first: DAVAddress) { known = [first] }

    mutating func add(_ address: DAVAddress) {
        if allows(address), !known.contains(where: { $0.origin == address.origin }) { known.append(address) }
    }

    /// Whether requests with the password may go there.
    ///
    /// The same origin; from http to https on the same host; by https to a host below the one that was named, whose
    /// owner is the same; and from iCloud's entrance to its partitions.
    func allows(_ address: DAVAddress) -> Bool {
        known.contains { known in
            if known.origin == address.origin { return true }
            guard address.isSecure else { return false }
            if known.host == address.host { return !known.isSecure && address.port == 443 }
            guard address.port == known.port || address.port == 443 else { return false }
            return Self.isBelow(address.host, known.host)
                || known.host == Self.iCloud && Self.isPartition(address.host)
                || Self.isPartition(known.host) && (address.host == Self.iCloud || Self.isPartition(address.host))
        }
    }

    /// Whether a host is the domain itself, or one below it.
    static func belongs(_ host: String, to domain: String) -> Bool { host == domain || isBelow(host, domain) }

    /// Whether one is a domain within the other. A name without a dot, and an address, have none within.
    private static func isBelow(_ host: String, _ domain: String) -> Bool {
        domain.utf8.contains(46) && IPAddress(domain) == nil && host.hasSuffix(".\(domain)")
    }

    private static let iCloud = "caldav.icloud.com"

    /// `p42-caldav.icloud.com`.
    private static func isPartition(_ host: String) -> Bool {
        let suffix = "-caldav.icloud.com"
        guard host.hasPrefix("p"), host.hasSuffix(suffix) else { return false }
        let digits = host.utf8.dropFirst().dropLast(suffix.utf8.count)
        return (1...4).contains(digits.count) && digits.allSatisfy { $0 >= 48 && $0 <= 57 }
    }

    /// Whether a server is iCloud's, which takes one request at a time.
    static func isICloud(_ address: DAVAddress) -> Bool { address.host == iCloud || isPartition(address.host) }
}
