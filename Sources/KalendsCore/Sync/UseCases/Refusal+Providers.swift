// SPDX-License-Identifier: Apache-2.0

import CalendarSync

extension Refusal {
    /// 409 for a connection whose account is unknown or no longer accepts its credentials.
    static let connectionUnauthorized = Refusal.conflict(
        "This connection has no working account: connect one first.", code: .connectionUnauthorized)

    /// Translates a provider's failure for the person who waits for the response.
    init(_ failure: ProviderFailure) {
        switch failure.kind {
        case .unauthorized: self = .conflict(failure.message, code: .connectionUnauthorized)
        case .misconfigured: self = .conflict(failure.message, code: .providerMisconfigured)
        case .forbidden, .calendarMissing: self = .conflict(failure.message, code: .providerForbidden)
        case .throttled(let seconds), .unavailable(let seconds):
            self = Refusal(.unavailable, code: .providerUnreachable, detail: failure.message, retryAfter: seconds ?? 30)
        case .busy(let seconds):
            self = Refusal(.unavailable, code: .busy, detail: failure.message, retryAfter: seconds)
        case .quotaExceeded:
            self = Refusal(.unavailable, code: .providerUnreachable, detail: failure.message, retryAfter: 3600)
        case .unanswered, .unreachable:
            self = Refusal(.unavailable, code: .providerUnreachable, detail: failure.message, retryAfter: 30)
        case .cursorExpired, .malformed, .refused, .needsNewGeneration, .needsSingleEvents:
            self = Refusal(.unavailable, code: .providerFailed, detail: failure.message)
        }
    }
}
