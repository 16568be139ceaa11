// SPDX-License-Identifier: Apache-2.0

import KalendsCore

extension Refusal.Resource {
    /// The resource that a part of a path names, which the preceding collection determines.
    ///
    /// - Parameter path: the route's path, as it was registered.
    init?(named name: String, in path: String) {
        let parts = path.split(separator: "/")
        guard let index = parts.firstIndex(of: "{\(name)}"), index > 0 else { return nil }
        guard let known = Self.byCollection[String(parts[index - 1])] else { return nil }
        self = known
    }

    /// Items are missing here: their routes know their kind.
    private static let byCollection: [ByteString: Refusal.Resource] = [
        "activity": .change, "app-passwords": .appPassword, "circles": .circle, "conflicts": .conflict,
        "connections": .connection, "devices": .device,
        "events": .event, "feeds": .feed, "imports": .import, "keys": .key, "members": .member,
        "occurrences": .occurrence, "patients": .patient, "runs": .run, "sessions": .session,
        "subscriptions": .subscription, "users": .user, "visits": .visit, "webhooks": .webhook,
    ]
}

extension Refusal {
    /// 404 for a path that is not a route.
    static let noSuchPath = Refusal(
        .missing, code: .pathNotFound,
        detail: "No resource has this path; GET /openapi.json lists all resources.")

    /// 401 for a request without any credential (then without an error code, RFC 6750 section 3.1).
    static let unauthenticated = Refusal(
        .unauthenticated, code: .credentialMissing,
        detail: "This needs a credential: send Authorization: Bearer with a service key, a user token or a session.")

    /// 401 for a header field that has no credential of a known form.
    static let malformedCredential = unknown(
        .credentialMalformed,
        "The credential has an unknown form: Authorization must be Bearer with a service key, a user token or a "
            + "session, or Device with a device's token.")
    static let expiredKey = unknown(
        .credentialUnknown, "The service key has expired: on a strict server a key lasts 90 days.")
    static let unknownKey = unknown(.credentialUnknown, "The service key is unknown or revoked.")
    static let unknownSession = unknown(.credentialUnknown, "The session is unknown or has ended.")
    static let unknownDevice = unknown(.credentialUnknown, "The device's token is unknown or was revoked.")

    /// 401 for a caller without a session on a route that needs one.
    static let sessionNeeded = unknown(.sessionRequired, "This needs a signed-in user's session.")

    private static func unknown(_ code: ProblemCode, _ detail: String) -> Refusal {
        Refusal(
            .unauthenticated, code: code, detail: detail)
    }
}
