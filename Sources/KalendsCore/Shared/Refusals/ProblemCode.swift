// SPDX-License-Identifier: Apache-2.0

/// The machine-readable code of a problem document; a code keeps its meaning in all later versions.
package enum ProblemCode: String, CaseIterable, Sendable {
    // 400
    case authorizationUnknown = "authorization-unknown"
    case badRequest = "bad-request"
    case bodyBroken = "body-broken"
    case hostInvalid = "host-invalid"
    case idempotencyKeyInvalid = "idempotency-key-invalid"
    case invalidID = "invalid-id"
    case invalidJSON = "invalid-json"
    case unstorable
    case unknownParameter = "unknown-parameter"

    // 401
    case codeWrong = "code-wrong"
    case credentialMalformed = "credential-malformed"
    case credentialMissing = "credential-missing"
    case credentialUnknown = "credential-unknown"
    case passwordWrong = "password-wrong"
    case secondFactorNeeded = "second-factor-needed"
    case sessionRequired = "session-required"
    /// Only pages have sign-ins in two steps; they show it in their own words.
    case signInEnded = "sign-in-ended"
    case syncTokenInvalid = "sync-token-invalid"
    case tokenExpired = "token-expired"
    case tokenInvalid = "token-invalid"

    // 403
    case cookieOnly = "cookie-only"
    case deviceNotAllowed = "device-not-allowed"
    case deviceRequired = "device-required"
    case forbidden
    case installationRequired = "installation-required"
    case keyLimited = "key-limited"
    case originNotAllowed = "origin-not-allowed"
    case roleInsufficient = "role-insufficient"
    case scopeMissing = "scope-missing"
    case scopesExceeded = "scopes-exceeded"
    case secondFactorMissing = "second-factor-missing"
    case signInTooOld = "sign-in-too-old"
    case userNotAllowed = "user-not-allowed"
    case userRequired = "user-required"

    // 404 and 405
    case appPasswordNotFound = "app-password-not-found"
    case appointmentNotFound = "appointment-not-found"
    case changeNotFound = "change-not-found"
    case circleNotFound = "circle-not-found"
    case conflictNotFound = "conflict-not-found"
    case connectionNotFound = "connection-not-found"
    case deviceNotFound = "device-not-found"
    case eventNotFound = "event-not-found"
    case feedNotFound = "feed-not-found"
    case followUpNotFound = "follow-up-not-found"
    case importNotFound = "import-not-found"
    /// For a kind of items without its own code.
    case itemNotFound = "item-not-found"
    case keyNotFound = "key-not-found"
    case memberNotFound = "member-not-found"
    case methodNotAllowed = "method-not-allowed"
    case notFound = "not-found"
    case occurrenceNotFound = "occurrence-not-found"
    case patientNotFound = "patient-not-found"
    case pathNotFound = "path-not-found"
    case runNotFound = "run-not-found"
    case secondFactorNotFound = "second-factor-not-found"
    case sessionNotFound = "session-not-found"
    case shiftNotFound = "shift-not-found"
    case subscriptionNotFound = "subscription-not-found"
    case taskNotFound = "task-not-found"
    case userNotFound = "user-not-found"
    case visitNotFound = "visit-not-found"
    case webhookNotFound = "webhook-not-found"

    // 409, 410 and 412
    case authorizationDenied = "authorization-denied"
    case changesForgotten = "changes-forgotten"
    case conflict
    case conflictState = "conflict-state"
    case connectionInactive = "connection-inactive"
    case connectorOff = "connector-off"
    case connectionUnauthorized = "connection-unauthorized"
    case feedExpired = "feed-expired"
    case calendarShared = "calendar-shared"
    case changedSince = "changed-since"
    case feedRevoked = "feed-revoked"
    case gone
    case importState = "import-state"
    case lastOwner = "last-owner"
    case labelTaken = "label-taken"
    case limitReached = "limit-reached"
    case loginUsed = "login-used"
    case notRecurring = "not-recurring"
    case preconditionFailed = "precondition-failed"
    case providerForbidden = "provider-forbidden"
    case providerMisconfigured = "provider-misconfigured"
    case providerMismatch = "provider-mismatch"
    case providerUnavailable = "provider-unavailable"
    case requestUnderWay = "request-under-way"
    case runHeld = "run-held"
    case runState = "run-state"
    case runUnderWay = "run-under-way"
    case sealedByAnotherKey = "sealed-by-another-key"
    case secondFactorState = "second-factor-state"
    case subscriptionExists = "subscription-exists"
    case subscriptionInactive = "subscription-inactive"
    case undoState = "undo-state"
    case webhookDisabled = "webhook-disabled"

    // 413, 415, 417, 422 and 431
    case expectationFailed = "expectation-failed"
    case fileUnreadable = "file-unreadable"
    case headerTooLarge = "header-too-large"
    case idempotencyKeyReused = "idempotency-key-reused"
    case invalidFields = "invalid-fields"
    case tooLarge = "too-large"
    case unsupportedMediaType = "unsupported-media-type"

    // 429
    case tooManyRequests = "too-many-requests"
    case tooManyTries = "too-many-tries"

    // 500, 503 and 507
    case busy
    case databaseGone = "database-gone"
    case diskFailed = "disk-failed"
    case diskFull = "disk-full"
    case interrupted
    case providerFailed = "provider-failed"
    case providerUnreachable = "provider-unreachable"
    case readNotRecorded = "read-not-recorded"
    case serverFailed = "server-failed"
    case unavailable

    /// Returns the codes that a server with these kinds of items can report.
    package static func known(with kinds: ItemKinds) -> [ProblemCode] {
        allCases.filter { code in code != .itemNotFound || kinds.list.contains { $0.resource.code == code } }
    }
}
