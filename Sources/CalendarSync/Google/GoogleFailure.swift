// SPDX-License-Identifier: Apache-2.0

/// One answer of the API, separate or from a batch.
struct GoogleAnswer: Sendable {
    var status: Int
    /// The body; nil when there is none, or when it is not JSON.
    var json: JSONValue?
    var retryAfter: Int?
    /// The holder of the body's memory, and the body's length in bytes.
    var room: (any Sendable)?
    var length = 0

    init(status: Int, json: JSONValue?, retryAfter: Int? = nil) {
        self.status = status
        self.json = json
        self.retryAfter = retryAfter
    }

    init(_ answer: ProviderAnswer) {
        self.init(
            status: answer.status, json: answer.body.isEmpty ? nil : try? JSONValue(parsing: answer.body),
            retryAfter: RetryAfter.seconds(answer))
        (room, length) = (answer.room, answer.body.count)
    }

    /// The reason that Google gives for an error.
    var reason: String {
        let error = json?["error"]
        return error?["errors"]?.array?.first?["reason"]?.string ?? error?["status"]?.string ?? error?.string ?? ""
    }

    private var domain: String { json?["error"]?["errors"]?.array?.first?["domain"]?.string ?? "" }

    /// Whether a channel's address was refused, which Google reports with the status of an expired token.
    private var isAboutPush: Bool { domain == "push" || reason.hasPrefix("push.") }

    /// Whether another access token may help.
    var needsToken: Bool { status == 401 && !isAboutPush }

    /// Whether the same request may succeed in a few seconds.
    var isWorthRepeating: Bool {
        switch failure.kind {
        case .throttled(let wait), .unavailable(let wait): (wait ?? 0) <= 30
        default: status == 409 && reason == "conflict"
        }
    }

    /// The failure that an unsuccessful answer means. Google's texts are not kept.
    var failure: ProviderFailure {
        let reason = self.reason
        func failure(_ kind: ProviderFailure.Kind, _ message: String) -> ProviderFailure {
            ProviderFailure(kind, message, code: reason)
        }
        switch (status, reason) {
        case (401, _) where isAboutPush:
            return failure(.refused, "Google does not accept the address for notifications.")
        case (401, _): return failure(.unauthorized, "The account has to be connected again.")
        case (403, "quotaExceeded"), (403, "dailyLimitExceeded"), (429, "quotaExceeded"), (429, "dailyLimitExceeded"):
            return failure(.quotaExceeded, "Google's limit for this account is used up for some hours.")
        case (403, "rateLimitExceeded"), (403, "userRateLimitExceeded"), (403, "RESOURCE_EXHAUSTED"), (429, _):
            return failure(.throttled(retryAfter: retryAfter), "Google asks us to wait.")
        case (403, "accessNotConfigured"), (403, "SERVICE_DISABLED"):
            return failure(.misconfigured, "The Google Calendar API is not enabled for this application.")
        case (403, "forbidden"), (403, "insufficientPermissions"), (403, "requiredAccessLevel"),
            (403, "PERMISSION_DENIED"), (403, "ACCESS_TOKEN_SCOPE_INSUFFICIENT"):
            return failure(.forbidden, "The account may not do this, or the permission for it was not given.")
        case (404, _): return failure(.calendarMissing, "Google has no such calendar for this account.")
        case (410, _): return failure(.cursorExpired, "The place in Google's list of changes has expired.")
        case (409, "conflict"): return failure(.unavailable(retryAfter: nil), "Google was changing the same calendar.")
        case (500...599, _): return failure(.unavailable(retryAfter: retryAfter), "Google's service is failing.")
        default: return failure(.refused, "Google refused the request.")
        }
    }
}
