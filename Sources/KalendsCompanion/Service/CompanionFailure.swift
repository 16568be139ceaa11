// SPDX-License-Identifier: Apache-2.0

/// Why the server did not answer, or did not do what it was asked. No case holds anything of an event.
public enum CompanionFailure: Error, Hashable, Sendable {
    /// There is no network, or no way to the server.
    case offline
    /// No answer came in time.
    case timedOut
    /// 401: the token is not valid, or not any more.
    case unauthorized
    /// 403: the token is valid and does not open this.
    case forbidden
    /// 429, and seconds to wait if the server named them.
    case tooManyRequests(retryAfter: Int?)
    /// 5xx, and seconds to wait if the server named them.
    case server(status: Int, retryAfter: Int?)
    /// Another 4xx: the request is wrong and stays wrong. `code` is the problem document's.
    case refused(status: Int, code: String)
    /// The answer is not what the contract says.
    case badAnswer
    /// The time for the work ran out.
    case cancelled
}
