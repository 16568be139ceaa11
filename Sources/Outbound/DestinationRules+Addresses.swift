// SPDX-License-Identifier: Apache-2.0

extension DestinationRules {
    /// Returns the addresses of a host, all of which may be connected to; throws `OutboundFailure` when even one may
    /// not, and when the look-up takes too long.
    ///
    /// - Parameter asker: whoever named the host.
    package func addresses(of host: InternetHost, for asker: ByteString) async throws -> [IPAddress] {
        let found: [IPAddress] =
            switch host {
            case .address(let address): [address]
            case .name(let name): try await resolver.addresses(of: name, for: asker)
            }
        guard !found.isEmpty, found.allSatisfy(permits) else { throw OutboundFailure.notPublic }
        return found
    }
}
