// SPDX-License-Identifier: Apache-2.0

public import PhoneTexts

extension CompanionFailure {
    /// The problem to show to the person; nil when only the time ran out.
    public var problem: SyncProblem? {
        switch self {
        case .offline: .offline
        case .unauthorized: .invalidToken
        case .timedOut, .forbidden, .tooManyRequests, .server, .refused, .badAnswer: .serverError
        case .cancelled: nil
        }
    }

    /// Whether the same request may succeed a little later.
    public var isPassing: Bool {
        switch self {
        case .offline, .timedOut, .tooManyRequests, .server: true
        case .unauthorized, .forbidden, .refused, .badAnswer, .cancelled: false
        }
    }

    /// The seconds for which the server asks not to be called.
    public var retryAfter: Int? {
        switch self {
        case .tooManyRequests(let seconds), .server(_, let seconds): seconds
        default: nil
        }
    }
}

extension CompanionFailure: CustomStringConvertible {
    /// A sentence for a log or a terminal; it contains no part of a token, an event or a response.
    public var description: String {
        switch self {
        case .offline: "The server cannot be reached."
        case .timedOut: "The server did not answer in time."
        case .unauthorized: SyncProblem.invalidToken.text
        case .forbidden: "The token does not give access to this."
        case .tooManyRequests: "The server asks for fewer requests."
        case .server(let status, _): "The server failed with \(status)."
        case .refused(let status, let code): "The server refused with \(status) (\(code))."
        case .badAnswer: "The server's answer is not one of Kalends, or too large."
        case .cancelled: "The time for the work ran out."
        }
    }
}
