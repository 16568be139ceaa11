// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Pages
import Storage

/// A person's time zone, language and password.
struct AccountPages: Sendable {
    private static let path = "/app/account"

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .session) { try await Self.page($0) }
        routes.page(.post, Self.path, for: .session, back: Self.path, Self.save)
        routes.page(.post, "\(Self.path)/password", for: .session, back: Self.path, Self.setPassword)
        routes.page(.post, "\(Self.path)/export", for: .session, back: Self.path, Self.export)
        routes.page(.post, "\(Self.path)/erase", for: .session, back: Self.path, Self.erase)
    }

    private static func save(_ visit: PageVisit) async throws -> Response {
        let (services, user, caller) = (visit.services, try visit.user(), try visit.caller())
        do {
            var fields = FieldReader([
                "timeZone": visit.typed("timeZone"), "language": visit.typed("language"),
            ])
            let zone = fields.timeZone("timeZone")
            let language = fields.choice("language", Language.self)
            try fields.end()
            _ = try await services.profiles.put(user, timeZone: zone, if: .none, for: caller)
            try await services.profiles.setLanguage(language?.rawValue, of: user, for: caller)
            return visit.redirect(to: path, done: .accountSaved)
                .with(cookie: LanguageCookie.field(language?.rawValue, services.settings))
        } catch let refusal as Refusal {
            guard let draft = Draft(refusal, of: visit.form, ["timeZone", "language"]) else { throw refusal }
            return try await page(visit, draft, status: .unprocessableContent)
        }
    }

    private static func setPassword(_ visit: PageVisit) async throws -> Response {
        let services = visit.services
        do {
            var fields = FieldReader([
                "current": .string(visit.form["current"] ?? ""), "new": .string(visit.form["new"] ?? ""),
                "code": visit.typed("code"),
            ])
            let current = fields.password("current", isNew: false)
            let password = fields.password("new", isNew: true)
            let code = fields.code("code", isRequired: false)
            try fields.end()
            guard let password, let current else { throw Refusal.invalid(fields.faults) }
            _ = try await services.users.setPassword(
                password, of: try visit.user(), with: Reauthentication(password: current, code: code),
                from: services.settings.network(of: visit.request, visit.context), for: try visit.caller())
            return visit.redirect(to: path, done: .passwordChanged)
        } catch let refusal as Refusal {
            let fields = [("currentPassword", "current"), ("password", "new")]
            guard var draft = Draft(refusal, of: visit.form, ["current", "new", "code"], fields: fields) else {
                throw refusal
            }
            draft.values = [:]
            draft.problems = draft.problems.map { problem in
                // The only range that a password has is its length.
                let isLength = problem.field == "new" && problem.code == .range
                return isLength ? Draft.Problem(field: "new", code: .passwordShort) : problem
            }
            let status: HTTPResponse.Status = refusal.kind == .tooMany ? .tooManyRequests : .unprocessableContent
            return try await page(visit, passwordDraft: draft, status: status)
        }
    }

    /// Sends everything that is stored about the visitor, or leads to the sign-in page where they have to sign in again
    /// first.
    private static func export(_ visit: PageVisit) async throws -> Response {
        let user = try visit.user()
        do {
            let archive = try await visit.services.personData.archive(of: user, for: try visit.caller())
            return PersonArchiveAnswer(archive: archive, user: user, context: visit.context).response
        } catch let refusal as Refusal where refusal.code == .signInTooOld {
            return visit.signIn(to: path)
        }
    }

    /// Erases the visitor, and shows what stays.
    private static func erase(_ visit: PageVisit) async throws -> Response {
        do {
            let report = try await visit.services.erasures.erase(try visit.user(), for: try visit.caller())
            return try await visit.page((report.page, nil), path: "/app")
                .with(cookies: SessionCookie.removals(visit.services.settings)).forgetting()
        } catch let refusal as Refusal where refusal.code == .signInTooOld {
            return visit.signIn(to: path)
        }
    }

    private static func page(
        _ visit: PageVisit, _ draft: Draft = Draft(), passwordDraft: Draft = Draft(),
        status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let openID = visit.services.settings.openID
        let read = try await visit.readOwn { user, visitor in
            let factor = try user.secondFactor
            return AccountPage(
                user: user.id, timeZone: try user.stored?.timeZone,
                language: visitor.language.flatMap { Language(text: $0) }, hasPasswords: try user.havePasswords,
                hasSecondFactor: factor.hasPassword ? factor.since != nil : nil,
                lastOwnerOf: try user.circlesAsLastOwner.map(\.name),
                provider: try openID.map {
                    AccountProvider(name: $0.name, isJoined: try user.joinedProvider($0) != nil)
                }, draft: draft, passwordDraft: passwordDraft)
        }
        return try await visit.page(read, status: status, path: path)
    }
}

extension ErasureReport {
    var page: ErasurePage {
        let stays = stays.map { ErasurePage.Remnant(what: $0.what.rawValue, rows: $0.rows) }
        return ErasurePage(state: isDone ? .done(stays) : .underWay(stays))
    }
}

extension PageVisit {
    /// The text that was typed into a field; null when it is empty.
    func typed(_ name: String) -> JSONValue {
        let text = form[name]?.withoutOuterBlanks ?? ""
        return text.isEmpty ? .null : .string(String(text))
    }
}
