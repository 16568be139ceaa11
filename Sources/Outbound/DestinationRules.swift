// SPDX-License-Identifier: Apache-2.0

/// Where users' addresses may lead; only tests change more than whether `http://` is taken.
package struct DestinationRules: Sendable {
    /// Whether `http://` is taken, which anybody on the way can read and change.
    package var allowsHTTP = false
    package var resolver: any Resolver = SystemResolver()
    package var services: any ServiceResolver = SystemServiceResolver()
    /// Which addresses may be connected to.
    package var permits: @Sendable (IPAddress) -> Bool = { $0.isGlobalUnicast }
    package var transport: any HopTransport = ClientTransport()
    /// From the first look-up to the last byte.
    package var deadline = Duration.seconds(30)

    package init() {}
}
