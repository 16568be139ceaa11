// SPDX-License-Identifier: Apache-2.0

/// The reason why a calendar could not be fetched; it never reveals the address's path, or what was answered instead.
package struct OutboundFailure: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The address must not be fetched from here.
        case address
        case unreachable, untrusted, timeout, redirects, garbled
        /// The host answered with an unexpected status.
        case status(Int)
        case tooLarge(limit: Int)
    }

    package var kind: Kind
    /// One sentence for the user.
    package var message: String
    /// The number of seconds that the host asks to wait (RFC 9110 section 10.2.3).
    package var retryAfter: Int?

    package static func address(_ message: String) -> OutboundFailure {
        OutboundFailure(kind: .address, message: message)
    }

    /// The same for a name that does not exist and for one in an internal network, so that it does not reveal which.
    package static let notPublic = OutboundFailure.address("The host has no address on the public Internet.")
    package static let unreachable = OutboundFailure(kind: .unreachable, message: "The host could not be reached.")
    package static let untrusted = OutboundFailure(
        kind: .untrusted, message: "The host has no valid certificate for the address.")
    package static let timeout = OutboundFailure(kind: .timeout, message: "The calendar did not arrive in time.")
    package static let redirects = OutboundFailure(
        kind: .redirects, message: "The address leads on to others too many times.")
    package static let circle = OutboundFailure(
        kind: .redirects,
        message: "The address leads back to itself: its host may want a sign-in, or answer only browsers.")
    package static let garbled = OutboundFailure(
        kind: .garbled, message: "The host's answer could not be read as HTTP.")

    /// - Parameter name: the content coding, of at most 20 letters.
    package static func packed(_ name: String) -> OutboundFailure {
        OutboundFailure(
            kind: .garbled, message: "The host packed its calendar with \(name), which nobody asked it for.")
    }

    package static func tooLarge(limit: Int) -> OutboundFailure {
        OutboundFailure(kind: .tooLarge(limit: limit), message: "The calendar is larger than \(limit) bytes.")
    }

    package static func status(_ status: Int, retryAfter: Int?) -> OutboundFailure {
        let message =
            [401, 407].contains(status)
            ? "The host wants a sign-in (status \(status)). Kalends sends no name or password: most calendars have a secret "
                + "address that needs none."
            : "The host answered with the status \(status), and not with a calendar."
        return OutboundFailure(kind: .status(status), message: message, retryAfter: retryAfter)
    }
}
