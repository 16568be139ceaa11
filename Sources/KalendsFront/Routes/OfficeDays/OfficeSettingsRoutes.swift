// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import OfficeDays

/// A user's settings for office days, and how the days are kept.
struct OfficeSettingsRoutes: Sendable {
    let officeDiary: OfficeDiary

    func add(to routes: inout RouteTable) {
        routes.section(.officeDays)
        let (path, settings): (String, Schema) = ("/v1/users/{user}/office-days", .named("OfficeSettings"))
        let input = Operation.Body.json(.named("OfficeSettingsInput"), isRequired: false)
        routes.on(
            .get, "\(path)/settings", "getOfficeSettings", "Read a user's settings for office days", .oneself,
            .scope(.events), [.ok(settings)], hasTag: true, get)
        routes.on(
            .put, "\(path)/settings",
            Operation(
                "putOfficeSettings", "Set a user's settings for office days", .oneself, .scope(.events),
                details: """
                    Missing fields take their defaults. Events dated today or later are written again, past ones stay; \
                    `enabled: false` leaves every event, and days count from the date of switching on.
                    """,
                body: input, [.ok(settings)], hasTag: true), put)
        routes.on(
            .patch, "\(path)/settings", "changeOfficeSettings", "Change some of a user's settings for office days",
            .oneself, .scope(.events), details: "Missing fields stay as they are; null restores the default.",
            body: input, [.ok(settings)], hasTag: true, patch)
        routes.on(
            .post, "\(path)/settings/reset", "resetOfficeSettings", "Reset all settings for office days", .oneself,
            .scope(.events),
            details:
                "Titles, hours, days and goal return to their defaults. Whether and where events are written, zones, address and "
                + "holidays stay.", [.ok(settings)], reset)
        routes.on(
            .get, "\(path)/status", "getOfficeStatus", "Read whether office days are written, and how many there are",
            .oneself, .scope(.events), [.ok(.named("OfficeStatus"))], status)
        routes.on(
            .post, "\(path)/cleanup", "cleanUpOfficeDays", "Remove every managed event", .oneself, .scope(.events),
            details: "The days stay, as do events that the person edited. With `preview` nothing is changed.",
            query: [.init(name: "mode", schema: Schema.choice(CleanUp.self).defaulting(to: "commit"))],
            [
                .ok(
                    .output(
                        .required("mode", .choice(CleanUp.self)), .required("count", .count),
                        .required("items", .array(of: .named("OfficeDay")))))
            ], takesLong: true, cleanUp)
    }

    private enum CleanUp: String, CaseIterable { case preview, commit }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let user = try context.identifier("user")
        let settings = try await officeDiary.settings(of: user, for: try context.caller())
        return try .resource(settings.json, for: request)
    }

    private func put(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try await change(request, context, isWhole: true)
    }

    private func patch(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try await change(request, context, isWhole: false)
    }

    private func change(_ request: Request, _ context: KalendsContext, isWhole: Bool) async throws -> Response {
        let (user, caller) = (try context.newIdentifier("user"), try context.caller())
        let body = try await request.json(context)
        let settings = try await officeDiary.change(
            of: user, if: request.condition { try $0.json.etag }, for: caller
        ) { settings in
            if isWhole { settings = OfficeSettings() }
            return settings.change(body)
        }
        return try .resource(settings.json)
    }

    private func reset(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller) = (try context.newIdentifier("user"), try context.caller())
        let settings = try await officeDiary.change(of: user, if: .none, for: caller) { settings in
            settings = settings.withDefaults
            return []
        }
        return try .resource(settings.json)
    }

    private func status(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let user = try context.identifier("user")
        return try .json(try await officeDiary.status(of: user, for: try context.caller()).json)
    }

    private func cleanUp(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (user, caller) = (try context.identifier("user"), try context.caller())
        guard let mode = CleanUp(text: request.uri.queryParameters["mode"] ?? "commit") else {
            throw Refusal.invalid("/query/mode", code: .notAChoice, "This must be one of preview, commit.")
        }
        let days =
            switch mode {
            case .preview: try await officeDiary.managedDays(of: user, for: caller)
            case .commit: try await officeDiary.cleanUp(of: user, for: caller)
            }
        return try .json([
            "mode": .string(mode.rawValue), "count": .integer(days.count), "items": .array(days.map(\.json)),
        ])
    }
}

extension RouteTable.Section {
    static let officeDays = Self(
        name: "Office days",
        about: "Where a person worked, determined by visits, their own entries and the end of the day.")
}
