// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Pages

/// A person's second factor: setting it up, its recovery codes, and its removal.
struct SecondFactorPages: Sendable {
    private static let path = SecondFactorPage.path

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .session) { try await Self.page($0) }
        routes.page(.post, Self.path + "/begin", for: .session, back: Self.path) { visit in
            try await Self.shown(visit, ["current"]) {
                let made = try await visit.services.secondFactors.begin(
                    try Self.proof(visit), from: Self.network(visit), for: try visit.caller())
                return try await Self.page(visit, .begun(made))
            }
        }
        routes.page(.post, Self.path + "/confirm", for: .session, back: Self.path, Self.confirm)
        routes.page(.post, Self.path + "/recovery-codes", for: .session, back: Self.path) { visit in
            try await Self.shown(visit, ["current", "code"]) {
                let codes = try await visit.services.secondFactors.renewRecoveryCodes(
                    try Self.proof(visit), from: Self.network(visit), for: try visit.caller())
                return try await Self.page(visit, .made(codes: codes.map { $0.reveal() }))
            }
        }
        routes.page(.post, Self.path + "/remove", for: .session, back: Self.path) { visit in
            try await Self.shown(visit, ["current", "code"], isRemoval: true) {
                try await visit.services.secondFactors.remove(
                    try Self.proof(visit), from: Self.network(visit), for: try visit.caller())
                return visit.redirect(to: "/app/account", done: .secondFactorRemoved)
            }
        }
    }

    private static func confirm(_ visit: PageVisit) async throws -> Response {
        // The page has the secret from its own form, so that nobody else's request makes the server show it again.
        let secret = Concealed(visit.form["secret"] ?? "")
        guard let begun = try await visit.services.secondFactors.resumed(secret, for: try visit.caller()) else {
            return visit.redirect(to: path)
        }
        return try await shown(visit, ["code"], .begun(begun)) {
            let code = try SecondFactorRoutes.code.read(["code": visit.typed("code")])
            let codes = try await visit.services.secondFactors.confirm(
                code, from: Self.network(visit), for: try visit.caller())
            return try await page(visit, .made(codes: codes.map { $0.reveal() }), done: .secondFactorEnabled)
        }
    }

    /// Reads what a person gives before they change how they sign in.
    private static func proof(_ visit: PageVisit) throws -> Reauthentication {
        var fields = FieldReader([
            "current": .string(visit.form["current"] ?? ""), "code": visit.typed("code"),
        ])
        let password = fields.password("current", isNew: false)
        let code = fields.code("code", isRequired: false)
        try fields.end()
        guard let password else { throw Refusal.invalid(fields.faults) }
        return Reauthentication(password: password, code: code)
    }

    private static func network(_ visit: PageVisit) -> String {
        visit.services.settings.network(of: visit.request, visit.context)
    }

    /// Runs `body`, and shows the page with its problems when something that was typed is wrong.
    private static func shown(
        _ visit: PageVisit, _ names: [String], _ state: SecondFactorPage.State? = nil, isRemoval: Bool = false,
        _ body: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await body()
        } catch let refusal as Refusal {
            // Another page of this person came first.
            if refusal.code == .secondFactorState { return visit.redirect(to: path) }
            let fields = [("currentPassword", "current")]
            guard let draft = Draft(refusal, of: visit.form, names, fields: fields) else { throw refusal }
            return try await page(
                visit, state, isRemoval ? Draft() : draft, removalDraft: isRemoval ? draft : Draft(),
                status: refusal.kind == .tooMany ? .tooManyRequests : .unprocessableContent)
        }
    }

    /// - Parameter state: nil for what is stored.
    private static func page(
        _ visit: PageVisit, _ state: SecondFactorPage.State? = nil, _ draft: Draft = Draft(),
        removalDraft: Draft = Draft(), status: HTTPResponse.Status = .ok, done notice: Notice.What? = nil
    ) async throws -> Response {
        let isRequired = visit.services.settings.needsSecondFactor
        let read = try await visit.readOwn { user, _ in
            let stored = try user.secondFactor
            return SecondFactorPage(
                user: user.id,
                state: state ?? stored.since.map { .on(since: $0, recoveryCodes: stored.recoveryCodes) } ?? .off,
                isRequired: isRequired, draft: draft, removalDraft: removalDraft)
        }
        return try await visit.page(read, status: status, path: path, done: notice)
    }
}

extension SecondFactorPage.State {
    fileprivate static func begun(_ enrollment: SecondFactors.Enrollment) -> Self {
        .begun(
            secret: enrollment.secret.reveal(), address: enrollment.address.reveal(),
            usesSHA256: enrollment.algorithm != "SHA1")
    }
}
