// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore

/// The second factors of users who sign in here with a password.
struct SecondFactorRoutes: Sendable {
    let secondFactors: SecondFactors
    let settings: ServerSettings

    private static let path = "/v1/second-factor"

    func add(to routes: inout RouteTable) {
        routes.section(.users)
        routes.on(
            .get, Self.path, "getSecondFactor", "Show whether the user has a second factor", .user, .scope(.users),
            [.ok(.named("SecondFactor"))], get)
        routes.on(
            .post, Self.path, "beginSecondFactor", "Create a secret for the user's authenticator app", .user,
            .scope(.users), details: "Nothing depends on the secret until it is confirmed, within an hour.",
            body: .json(.named("SignInProof")), [.created(.named("NewSecondFactor"), "The secret is shown only here.")],
            refusals: [409, 429], begin)
        routes.on(
            .post, "\(Self.path)/confirm", "confirmSecondFactor", "Activate the second factor with a code of the app",
            .user, .scope(.users), details: "The user's other sessions end.", body: .json(.named("SecondFactorCode")),
            [.ok(.named("RecoveryCodes"), "The recovery codes are shown only here.")], refusals: [409], confirm)
        routes.on(
            .post, "\(Self.path)/recovery-codes", "renewRecoveryCodes", "Replace the user's recovery codes", .user,
            .scope(.users), body: .json(.named("SignInProof")),
            [.ok(.named("RecoveryCodes"), "The recovery codes are shown only here.")], refusals: [409, 429], renew)
        routes.on(
            .post, "\(Self.path)/remove", "removeSecondFactor", "Remove the user's own second factor", .user,
            .scope(.users), details: "The user's other sessions end.", body: .json(.named("SignInProof")), [.noContent],
            refusals: [409, 429], remove)
        routes.on(
            .delete, "/v1/users/{user}/second-factor", "resetSecondFactor",
            "Remove the second factor of a user who has lost it", .installation, .scope(.users),
            details: "The user's sessions end; the password stays.", [.noContent], reset)
    }

    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let state = try await secondFactors.state(for: try context.caller())
        return try .json([
            "isActive": .bool(state.since != nil), "since": state.since.map { JSONValue(milliseconds: $0) } ?? .null,
            "recoveryCodesLeft": .integer(state.recoveryCodes),
        ])
    }

    private func begin(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let proof = try await proof(request, context)
        return try await context.answering { made in
            try .json(
                [
                    "secret": .string(made.secret.reveal()), "algorithm": .string(made.algorithm),
                    "uri": .string(made.address.reveal()),
                ], status: .created)
        } to: {
            try await secondFactors.begin(
                proof, from: settings.network(of: request, context), for: try context.caller())
        }
    }

    private func confirm(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let code = try Self.code.read(try await request.json(context))
        return try await context.answering(Self.answer) {
            try await secondFactors.confirm(
                code, from: settings.network(of: request, context), for: try context.caller())
        }
    }

    private func renew(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let proof = try await proof(request, context)
        return try await context.answering(Self.answer) {
            try await secondFactors.renewRecoveryCodes(
                proof, from: settings.network(of: request, context), for: try context.caller())
        }
    }

    private func remove(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let proof = try await proof(request, context)
        return try await context.answering { (_: Void) in
            GivenAnswer(status: 204, fields: [], body: "")
        } to: {
            try await secondFactors.remove(
                proof, from: settings.network(of: request, context), for: try context.caller())
        }
    }

    private func reset(_ request: Request, _ context: KalendsContext) async throws -> Response {
        try await secondFactors.remove(of: try context.identifier("user"), for: try context.caller())
        return .noContent
    }

    static let proof = InputBody(
        .required("currentPassword", .password),
        .optional(
            "code",
            .code.described("Required from a user with a second factor: a code of the app, or a recovery code.")),
        example: ["currentPassword": "correct horse battery"])

    static let code = InputBody(
        .required("code", .code.described("The code that the app shows now.")), example: ["code": "123456"])

    private func proof(_ request: Request, _ context: KalendsContext) async throws -> Reauthentication {
        let (password, code) = try Self.proof.read(try await request.json(context))
        return Reauthentication(password: password, code: code)
    }

    private static func answer(_ codes: [Concealed]) throws -> GivenAnswer {
        try .json(["recoveryCodes": .array(codes.map { .string($0.reveal()) })])
    }
}
