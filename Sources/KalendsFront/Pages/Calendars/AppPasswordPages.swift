// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import KalendsCore
import Pages
import Storage

/// The passwords of a person's calendar apps: a list, a new one in three steps, and each with its use and its end.
struct AppPasswordPages: Sendable {
    private static let path = AppPasswordsPage.path
    private static let onePath = path + "/{password}"
    private static let newPath = NewAppPasswordPage.path
    /// How long ended ones are listed, in milliseconds: 30 days.
    private static let endedTime = 30 * 86_400_000
    private static let mostEnded = 50

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .session, Self.list)
        routes.page(.get, Self.newPath, for: .session) { try await Self.new($0) }
        routes.page(.post, Self.newPath, for: .session, back: Self.newPath, Self.make)
        routes.page(.get, Self.onePath, for: .session) { try await Self.page($0) }
        routes.page(.post, Self.onePath, for: .session, back: Self.onePath, Self.change)
        routes.page(.post, Self.onePath + "/seen", for: .session, back: Self.onePath) { visit in
            var change = AppPasswords.Change()
            change.clearsAttention = true
            _ = try await visit.services.appPasswords.change(
                try visit.id("password"), change, if: .none, for: try visit.caller())
            return visit.redirect(to: visit.filled(Self.onePath))
        }
        routes.page(.post, Self.onePath + "/end", for: .session, back: Self.onePath) { visit in
            do {
                try await visit.services.appPasswords.end(
                    try visit.id("password"), if: .none, for: try visit.caller())
                return visit.redirect(to: Self.path, done: .appPasswordEnded)
            } catch let refusal as Refusal where refusal.code == .signInTooOld {
                return visit.signIn(to: visit.filled(Self.onePath))
            }
        }
    }

    private static func list(_ visit: PageVisit) async throws -> Response {
        let now = visit.services.now()
        try await visit.services.counter.foldForReading()
        return try await visit.page(
            try await visit.readOwn { user, _ in
                AppPasswordsPage(
                    passwords: try user.appPasswords(PageRequest(limit: 1000)).map { AppPasswordSummary($0, now: now) },
                    ended: try user.endedAppPasswords(since: now - endedTime, limit: mostEnded).compactMap { own in
                        own.endedAt.map { .init(label: own.label, endedAt: $0, lastUsedAt: own.lastAccessedAt) }
                    })
            })
    }

    private static func app(_ name: String?) -> CalendarApp? { name.flatMap { CalendarApp(rawValue: $0) } }

    /// The first step, or the second one for an app.
    private static func new(_ visit: PageVisit, draft: Draft = Draft()) async throws -> Response {
        let app = app(visit.query["app"] ?? visit.form["app"])
        return try await visit.page(
            try await visit.readOwn { user, _ in
                guard let app else { return NewAppPasswordPage(step: .app) }
                return NewAppPasswordPage(
                    step: .settings(app, AppPasswordFields(circles: try user.circleNames)), draft: draft)
            }, status: draft.status, path: newPath)
    }

    private static func make(_ visit: PageVisit) async throws -> Response {
        let made: AppPasswords.Made
        do {
            let draft = AppPasswords.Draft(visit.form.appPassword, visit.services.settings.kinds)
            made = try await visit.services.appPasswords.create(draft, for: try visit.caller())
        } catch let refusal as Refusal {
            guard let draft = Draft(refusal, of: visit.form, AppPasswordFields.names) else { throw refusal }
            return try await new(visit, draft: draft)
        }
        let shown = NewAppPassword(made, visit.services.settings)
        return try await visit.page(
            NewAppPasswordPage(
                step: .made(
                    app(visit.form["app"]) ?? .other,
                    .init(
                        id: made.counted.password.id, url: shown.url, username: made.counted.password.userID,
                        password: shown.password, profileURL: shown.profileURL))), path: newPath)
    }

    private static func change(_ visit: PageVisit) async throws -> Response {
        do {
            let change = AppPasswords.Change(visit.form.appPassword, visit.services.settings.kinds)
            _ = try await visit.services.appPasswords.change(
                try visit.id("password"), change, if: .none, for: try visit.caller())
            return visit.redirect(to: visit.filled(onePath), done: .appPasswordChanged)
        } catch let refusal as Refusal {
            guard let draft = Draft(refusal, of: visit.form, AppPasswordFields.names) else { throw refusal }
            return try await page(visit, draft: draft)
        }
    }

    private static func page(_ visit: PageVisit, draft: Draft = Draft()) async throws -> Response {
        let (id, now) = (try visit.id("password"), visit.services.now())
        try await visit.services.counter.foldForReading()
        return try await visit.page(
            try await visit.readOwn { user, _ in
                let counted = try user.appPassword(id)
                let own = counted.password
                return AppPasswordPage(
                    summary: AppPasswordSummary(counted, now: now),
                    fields: AppPasswordFields(
                        label: own.label, mayWrite: own.mayWrite, reachesOwn: own.reachesOwn,
                        circleIDs: own.circleIDs ?? [], circles: try user.circleNames),
                    accessCount: own.accessCount, createdAt: own.createdAt, expiresAt: own.expiresAt,
                    clients: counted.clients.map {
                        .init(
                            name: ClientFamily(code: $0.client).rawValue, count: $0.accessCount,
                            lastSeenAt: $0.lastSeenAt)
                    }, draft: draft)
            }, status: draft.status, path: visit.filled(onePath))
    }
}

/// The page on which a person lets in an app that asks for it.
struct AppLoginPages: Sendable {
    private static let path = "/app/login/{ticket}"

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .session) { try await Self.page($0) }
        routes.page(.post, Self.path, for: .session, back: Self.path, Self.letIn)
    }

    private static func ticket(_ visit: PageVisit) -> AppLoginTicket? {
        visit.context.parameter("ticket").flatMap { visit.services.appPasswords.login($0) }
    }

    private static func page(_ visit: PageVisit, draft: Draft = Draft()) async throws -> Response {
        guard let ticket = ticket(visit) else { return try await answer(visit, .gone, status: .gone) }
        if try await visit.services.appPasswords.isUsed(ticket) { return try await answer(visit, .used, status: .gone) }
        let path = visit.filled(path)
        return try await visit.page(
            try await visit.readOwn { user, _ in
                AppLoginPage(
                    state: .asked(
                        path: path, client: ticket.client.rawValue, AppPasswordFields(circles: try user.circleNames)),
                    draft: draft)
            }, status: draft.status, path: path)
    }

    private static func letIn(_ visit: PageVisit) async throws -> Response {
        guard let ticket = ticket(visit) else { return try await answer(visit, .gone, status: .gone) }
        do {
            let draft = AppPasswords.Draft(visit.form.appPassword, visit.services.settings.kinds)
            _ = try await visit.services.appPasswords.grant(ticket, draft, for: try visit.caller())
            return try await answer(visit, .granted(client: ticket.client.rawValue))
        } catch let refusal as Refusal {
            if refusal.code == .loginUsed { return try await answer(visit, .used, status: .gone) }
            guard let draft = Draft(refusal, of: visit.form, AppPasswordFields.names) else { throw refusal }
            return try await page(visit, draft: draft)
        }
    }

    private static func answer(
        _ visit: PageVisit, _ state: AppLoginPage.State, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        try await visit.page(AppLoginPage(state: state), status: status, path: "/app")
    }
}

extension PageForm {
    /// The fields of an app password as the API takes them; a circle that is not chosen is not named.
    fileprivate var appPassword: JSONValue {
        let circles = all("circleIds")
        return [
            "label": .string(self["label"] ?? ""), "access": .string(self["access"] ?? ""), "own": .bool(isOn("own")),
            "circleIds": circles.isEmpty ? .null : .array(circles.map(JSONValue.string)),
        ]
    }
}

extension AuthorizedUser {
    /// The person's circles, for a choice among them.
    fileprivate var circleNames: [Named] {
        get throws { try circles(limit: 1000).map { Named(id: $0.id, name: $0.name) } }
    }
}

extension AppPasswordSummary {
    init(_ counted: CountedAppPassword, now: Int) {
        let (own, latest) = (counted.password, counted.clients.max { $0.lastSeenAt < $1.lastSeenAt })
        self.init(
            id: own.id, label: own.label, mayWrite: own.mayWrite, lastUsedAt: own.lastAccessedAt,
            lastClient: latest.map { ClientFamily(code: $0.client).rawValue },
            expiredAt: own.expiresAt.flatMap { $0 <= now ? $0 : nil },
            alerts: counted.attention.map { attention in
                switch attention.kind {
                case .newClient(let code): .newClient(ClientFamily(code: code).rawValue, at: attention.notedAt)
                case .manyNetworks(let count): .manyNetworks(count, at: attention.notedAt)
                }
            })
    }
}
