// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

/// Why a calendar could not be fetched; nothing in it tells of the address's path, or of what answered in its place.
struct FetchFailure: Error, Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// The address is none that may be fetched from here.
        case address
        case unreachable, untrusted, timeout, redirects, garbled
        /// The host answered with another status than was hoped for.
        case status(Int)
        case tooLarge(limit: Int)
    }

    var kind: Kind
    /// One sentence for the user.
    var message: String
    /// How long the host asks to wait, in seconds (RFC 9110 section 10.2.3).
    var retryAfter: Int?

    var refusal: Refusal {
        let fault = Fault(
            pointer: "/url", code: kind == .address ? .addressNotAllowed : .fetchFailed, message: message)
        if case .tooLarge(let limit) = kind {
            var refusal = Refusal.tooLarge(limit: limit)
            refusal.detail = "The calendar is larger than \(limit) bytes, the most that is taken here."
            refusal.faults = [fault]
            return refusal
        }
        return .invalid([fault])
    }

    static func address(_ message: String) -> FetchFailure { FetchFailure(kind: .address, message: message) }

    /// The same for a name that does not exist and for one of an inner network: which it is, is nobody's business.
    static let notPublic = FetchFailure.address("The host has no address on the public Internet.")
    static let unreachable = FetchFailure(kind: .unreachable, message: "The host could not be reached.")
    static let untrusted = FetchFailure(
        kind: .untrusted, message: "The host did not prove by a valid certificate that it is the one of the address.")
    static let timeout = FetchFailure(kind: .timeout, message: "The calendar did not come in time.")
    static let redirects = FetchFailure(kind: .redirects, message: "The address leads on to others too many times.")
    static let garbled = FetchFailure(kind: .garbled, message: "The host's answer could not be read as HTTP.")

    static func tooLarge(limit: Int) -> FetchFailure {
        FetchFailure(kind: .tooLarge(limit: limit), message: "The calendar is larger than \(limit) bytes.")
    }

    static func status(_ status: Int, retryAfter: Int?) -> FetchFailure {
        FetchFailure(
            kind: .status(status), message: "The host answered with the status \(status), and not with a calendar.",
            retryAfter: retryAfter)
    }
}
