// SPDX-License-Identifier: Apache-2.0

/// Why the server did not respond or did not do what was requested. No case contains any data of an event.
public enum CompanionFailure: Error, Hashable, Sendable {
    /// There is no network, or the server cannot be reached.
    case offline
    /// No response came in time.
    case timedOut
    /// 401: the token is not valid, or no longer valid.
    case unauthorized
    /// 403: the token is valid but does not allow this.
    case forbidden
    /// 429, with the seconds to wait if the server gave them.
    case tooManyRequests(retryAfter: Int?)
    /// 5xx, with the seconds to wait if the server gave them.
    case server(status: Int, retryAfter: Int?)
    /// Another 4xx: the request is wrong, and repeating it does not help. `code` is the problem document's.
    case refused(status: Int, code: String)
    /// The response is not what the API describes.
    case badAnswer
    /// The time for the work ran out.
    case cancelled
}
