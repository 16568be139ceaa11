// SPDX-License-Identifier: Apache-2.0

/// What a fetch may do; tests alone change more than whether `http://` is taken.
struct FetchRules: Sendable {
    /// Whether `http://` is taken, which anybody on the way can read and change.
    var allowsHTTP = false
    var resolver: any Resolver = SystemResolver()
    /// Which addresses may be connected to.
    var permits: @Sendable (IPAddress) -> Bool = { $0.isGlobalUnicast }
    var transport: any HopTransport = ClientTransport()
    /// From the first look-up to the last byte.
    var deadline = Duration.seconds(30)
}
