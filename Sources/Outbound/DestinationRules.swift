// SPDX-License-Identifier: Apache-2.0

/// The rules for addresses that users enter; only tests change more than whether `http://` is allowed.
package struct DestinationRules: Sendable {
    /// Whether `http://` is allowed, which anyone on the way can read and change.
    package var allowsHTTP = false
    package var resolver: any Resolver = SystemResolver()
    package var services: any ServiceResolver = SystemServiceResolver()
    /// Decides which addresses may be connected to.
    package var permits: @Sendable (IPAddress) -> Bool = { $0.isGlobalUnicast }
    package var transport: any RequestTransport = ClientTransport()
    /// The time from the first look-up to the last byte.
    package var deadline = Duration.seconds(30)

    package init() {}
}
