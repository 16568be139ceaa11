// SPDX-License-Identifier: Apache-2.0

import HTTPTypes

@testable import KalendsCore
@testable import KalendsFront
@testable import ServerTestSupport

/// The scope that each route requires of a service key, typed from docs/rights.md and not taken from the routes.
enum ScopeOracle {
    /// The routes that a key with this scope may call, and no other key with scopes.
    static let scoped: [(scope: Scope, routes: [String])] = [
        (
            .readSchedule,
            [
                "GET /v1/circles", "GET /v1/circles/{circle}", "GET /v1/circles/{circle}/members",
                "GET /v1/circles/{circle}/members/{user}", "GET /v1/circles/{circle}/patients",
                "GET /v1/circles/{circle}/patients/{patient}", "GET /v1/circles/{circle}/tasks",
                "GET /v1/circles/{circle}/tasks/{id}", "GET /v1/circles/{circle}/shifts",
                "GET /v1/circles/{circle}/shifts/{id}", "GET /v1/circles/{circle}/appointments",
                "GET /v1/circles/{circle}/appointments/{id}", "GET /v1/circles/{circle}/follow-ups",
                "GET /v1/circles/{circle}/follow-ups/{id}",
                "GET /v1/circles/{circle}/tasks/{id}/reach", "GET /v1/circles/{circle}/shifts/{id}/reach",
                "GET /v1/circles/{circle}/appointments/{id}/reach", "GET /v1/circles/{circle}/follow-ups/{id}/reach",
                "GET /v1/circles/{circle}/appointments/{id}/occurrences",
                "GET /v1/circles/{circle}/appointments/{id}/occurrences/{start}",
                "GET /v1/circles/{circle}/export.ics", "GET /v1/circles/{circle}/changes", "GET /v1/changes",
                "GET /v1/circles/{circle}/activity", "POST /v1/circles/{circle}/free-busy",
            ]
        ),
        (
            .writeSchedule,
            [
                "PUT /v1/circles/{circle}/tasks/{id}", "DELETE /v1/circles/{circle}/tasks/{id}",
                "PUT /v1/circles/{circle}/shifts/{id}", "DELETE /v1/circles/{circle}/shifts/{id}",
                "PUT /v1/circles/{circle}/appointments/{id}", "DELETE /v1/circles/{circle}/appointments/{id}",
                "PUT /v1/circles/{circle}/follow-ups/{id}", "DELETE /v1/circles/{circle}/follow-ups/{id}",
                "PUT /v1/circles/{circle}/appointments/{id}/occurrences/{start}",
                "DELETE /v1/circles/{circle}/appointments/{id}/occurrences/{start}",
                "POST /v1/circles/{circle}/batch", "POST /v1/circles/{circle}/activity/{number}/undo",
            ]
        ),
        (
            .manageCircles,
            [
                "PUT /v1/circles/{circle}", "DELETE /v1/circles/{circle}",
                "PUT /v1/circles/{circle}/members/{user}", "DELETE /v1/circles/{circle}/members/{user}",
                "PUT /v1/circles/{circle}/patients/{patient}", "DELETE /v1/circles/{circle}/patients/{patient}",
            ]
        ),
        (
            .feeds,
            [
                "GET /v1/circles/{circle}/feeds", "POST /v1/circles/{circle}/feeds", "GET /v1/feeds/{id}",
                "PATCH /v1/feeds/{id}", "DELETE /v1/feeds/{id}", "POST /v1/feeds/{id}/regenerate",
                "POST /v1/feeds/{id}/revoke", "POST /v1/feeds/{id}/reveal", "GET /v1/feeds/{id}/accesses",
                "GET /v1/feeds/{id}/preview",
            ]
        ),
        (
            .imports,
            [
                "GET /v1/circles/{circle}/imports", "POST /v1/circles/{circle}/imports", "GET /v1/imports/{id}",
                "POST /v1/imports/{id}/commit", "POST /v1/imports/{id}/undo",
                "GET /v1/circles/{circle}/subscriptions", "POST /v1/circles/{circle}/subscriptions",
                "GET /v1/circles/{circle}/subscriptions/{subscription}",
                "PATCH /v1/circles/{circle}/subscriptions/{subscription}",
                "DELETE /v1/circles/{circle}/subscriptions/{subscription}",
                "POST /v1/circles/{circle}/subscriptions/{subscription}/refresh",
            ]
        ),
        (
            .connections,
            [
                "GET /v1/circles/{circle}/connections", "POST /v1/circles/{circle}/connections",
                "GET /v1/connections/{id}", "PATCH /v1/connections/{id}", "DELETE /v1/connections/{id}",
                "POST /v1/connections/{id}/authorize", "POST /v1/connections/{id}/redeem",
                "PUT /v1/connections/{id}/account",
                "GET /v1/connections/{id}/calendars", "PUT /v1/connections/{id}/calendar",
                "PUT /v1/connections/{id}/device",
                "GET /v1/connections/{id}/runs", "GET /v1/runs/{id}", "GET /v1/connections/{id}/mappings",
                "GET /v1/connections/{id}/conflicts", "GET /v1/conflicts/{id}", "GET /v1/connections/{id}/journal",
                "POST /v1/connections/{id}/sync", "POST /v1/runs/{id}/approve", "POST /v1/runs/{id}/undo",
                "POST /v1/conflicts/{id}/resolve", "POST /v1/conflicts/{id}/dismiss",
            ]
        ),
        (
            .users,
            [
                "GET /v1/users", "PUT /v1/users/{user}/password", "DELETE /v1/users/{user}/password",
                "POST /v1/users/{user}/sign-in-links", "DELETE /v1/users/{user}/second-factor",
                "GET /v1/users/{user}/export", "DELETE /v1/users/{user}",
                "GET /v1/second-factor", "POST /v1/second-factor", "POST /v1/second-factor/confirm",
                "POST /v1/second-factor/recovery-codes", "POST /v1/second-factor/remove",
                "GET /v1/sessions", "DELETE /v1/sessions/current", "DELETE /v1/sessions/{id}",
                "POST /sync/devices/register", "GET /v1/devices", "GET /v1/devices/current", "GET /v1/devices/{id}",
                "DELETE /v1/devices/{id}", "GET /v1/app-passwords", "POST /v1/app-passwords",
                "GET /v1/app-passwords/{id}", "PATCH /v1/app-passwords/{id}", "DELETE /v1/app-passwords/{id}",
                "GET /v1/app-passwords/{id}/accesses",
            ]
        ),
        (
            .events,
            [
                "GET /v1/users/{user}/office-days/settings", "PUT /v1/users/{user}/office-days/settings",
                "PATCH /v1/users/{user}/office-days/settings", "POST /v1/users/{user}/office-days/settings/reset",
                "GET /v1/users/{user}/office-days/status", "POST /v1/users/{user}/office-days/cleanup",
                "GET /v1/users/{user}/office-days", "GET /v1/users/{user}/office-days/preview",
                "GET /v1/users/{user}/office-days/visits", "PUT /v1/users/{user}/office-days/visits/{id}",
                "DELETE /v1/users/{user}/office-days/visits/{id}", "PUT /v1/users/{user}/office-days/days/{date}",
                "DELETE /v1/users/{user}/office-days/days/{date}",
                "GET /v1/users/{user}/office-days/visits/{id}", "GET /v1/users/{user}/office-days/days/{date}",
                "GET /v1/users/{user}", "PUT /v1/users/{user}", "GET /v1/users/{user}/events",
                "POST /v1/users/{user}/events", "GET /v1/users/{user}/events/{id}",
                "PUT /v1/users/{user}/events/{id}", "PATCH /v1/users/{user}/events/{id}",
                "DELETE /v1/users/{user}/events/{id}", "GET /sync/apple/status", "GET /sync/apple/events/changes",
                "GET /sync/events/changes", "POST /sync/apple/events/upsert", "POST /api/apple_sync/planned_upsert",
                "GET /v1/users/{user}/planned",
            ]
        ),
        (.keys, ["GET /v1/keys", "POST /v1/keys", "POST /v1/keys/{id}/revoke"]),
        (.stats, ["GET /v1/stats"]),
        (.audit, ["GET /v1/audit"]),
    ]

    /// The routes that only a key without scopes may call: they are in no scope.
    static let wholeKey = [
        "GET /v1/webhooks", "POST /v1/webhooks", "GET /v1/webhooks/{id}", "PATCH /v1/webhooks/{id}",
        "DELETE /v1/webhooks/{id}", "POST /v1/webhooks/{id}/rotate", "POST /v1/webhooks/{id}/test",
        "GET /v1/webhooks/{id}/deliveries", "GET /auth/token",
    ]

    /// The routes that everybody may call, with no credential or with the secret in the path.
    static let noKey = [
        "GET /feeds/{token}/{name}", "GET /feeds/{token}", "GET /functions/v1/ical-feed/{token}",
        "POST /v1/sessions", "GET /v1/connections/callback", "POST /functions/v1/calendar-webhook",
        "POST /v1/hooks/google", "POST /v1/hooks/outlook", "GET /", "GET /healthz", "GET /readyz", "GET /openapi.json",
        "GET /docs", "GET /profiles/{profile}", "POST /index.php/login/v2", "POST /index.php/login/v2/poll",
    ]

    /// Returns what a route requires of a key; nil for a route that is in none of these lists.
    static func need(_ route: RouteTable.Route) -> KeyNeed? {
        let name = "\(route.method.rawValue) \(route.path)"
        if let found = scoped.first(where: { $0.routes.contains(name) }) { return .scope(found.scope) }
        if wholeKey.contains(name) { return .wholeKey }
        return noKey.contains(name) ? .noKey : nil
    }
}
