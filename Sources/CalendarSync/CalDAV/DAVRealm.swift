// SPDX-License-Identifier: Apache-2.0

/// The hosts that get an account's password: the one that the person named, and those to which discovery may lead.
struct DAVRealm: Hashable, Sendable {
    /// Origins that the person named, or that discovery found before.
    private(set) var known: [DAVAddress]

    init(_ first: DAVAddress) { known = [first] }

    mutating func add(_ address: DAVAddress) {
        if allows(address), !known.contains(where: { $0.origin == address.origin }) { known.append(address) }
    }

    /// Reports whether requests with the password may go to an address.
    ///
    /// Allowed are the same origin; https instead of http on the same host; https to a host below the named one, which
    /// has the same owner; and iCloud's partitions from its entrance.
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

    /// Reports whether a host is the domain itself, or below it.
    static func belongs(_ host: String, to domain: String) -> Bool { host == domain || isBelow(host, domain) }

    /// Reports whether a host is below a domain. Nothing is below a name without a dot, or below an IP address.
    private static func isBelow(_ host: String, _ domain: String) -> Bool {
        domain.utf8.contains(46) && IPAddress(domain) == nil && host.hasSuffix(".\(domain)")
    }

    private static let iCloud = "caldav.icloud.com"

    /// Reports whether a host is named like `p42-caldav.icloud.com`.
    private static func isPartition(_ host: String) -> Bool {
        let suffix = "-caldav.icloud.com"
        guard host.hasPrefix("p"), host.hasSuffix(suffix) else { return false }
        let digits = host.utf8.dropFirst().dropLast(suffix.utf8.count)
        return (1...4).contains(digits.count) && digits.allSatisfy { $0 >= 48 && $0 <= 57 }
    }

    /// Reports whether a server is iCloud's, which accepts only one request at a time.
    static func isICloud(_ address: DAVAddress) -> Bool { address.host == iCloud || isPartition(address.host) }
}
