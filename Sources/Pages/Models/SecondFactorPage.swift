// SPDX-License-Identifier: Apache-2.0

/// `/app/account/second-factor`: setting up a second factor, its recovery codes, and its removal.
public struct SecondFactorPage: Page {
    public enum State: Sendable {
        case off
        /// A secret that the person puts into an app.
        ///
        /// - Parameters:
        ///   - secret: in base32.
        ///   - address: the same as an `otpauth:` address.
        ///   - usesSHA256: whether an app has to be set to SHA-256 when the secret is typed.
        case begun(secret: String, address: String, usesSHA256: Bool)
        case on(since: Int, recoveryCodes: Int)
        /// The recovery codes, right after they were made.
        case made(codes: [String])
    }

    public static let path = "/app/account/second-factor"

    public var user: String
    public var state: State
    /// Whether a password is not enough on this server.
    public var isRequired: Bool
    public var draft: Draft
    public var removalDraft: Draft

    public init(
        user: String, state: State, isRequired: Bool = false, draft: Draft = Draft(), removalDraft: Draft = Draft()
    ) {
        (self.user, self.state, self.isRequired, self.draft) = (user, state, isRequired, draft)
        self.removalDraft = removalDraft
    }

    public var showsSecret: Bool {
        switch state {
        case .begun, .made: true
        case .off, .on: false
        }
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        var sheet = PageContent(
            template: "second-factor", title: words["factorTitle"], section: .account, content: [:],
            crumbs: [(words["accountTitle"], "/app/account")])
        let password = Field(
            "current", words["passwordCurrent"], .line(type: "password", autocomplete: "current-password"),
            isRequired: true)
        switch state {
        case .off:
            sheet.content["setup"] = paper.form(
                "factor", Self.path + "/begin", [password], submit: "actSetUp", draft: draft, username: user)
            sheet.problems = paper.problems(draft, in: "factor", [password])
        case .begun(let secret, let address, let usesSHA256):
            let code = Field.code(words["factorCode"], hint: words["factorCodeHint"])
            sheet.content["begun"] = [
                "secret": .text(Self.grouped(secret)),
                "note": usesSHA256 ? .text(words["factorAlgorithm"]) : .nothing,
                "open": paper.linkButton("actOpenAuthenticator", address),
                "code": picture(paper, address),
                "form": paper.form(
                    "factor", Self.path + "/confirm", [code], submit: "actConfirm", draft: draft,
                    values: ["secret": secret]),
            ]
            sheet.problems = paper.problems(draft, in: "factor", [code])
        case .on(let since, let recoveryCodes):
            let proof = [password, Field.code(words["factorCode"], hint: words["factorAnyCodeHint"])]
            sheet.content["enabled"] = [
                "facts": paper.facts([
                    paper.fact("columnSince", timed(paper.times.moment(since))),
                    paper.fact("factorCodesLeft", plain(words.number(recoveryCodes))),
                ]),
                "renewal": paper.form(
                    "factor", Self.path + "/recovery-codes", proof, submit: "actNewCodes", style: .plain,
                    draft: draft, username: user),
                "removalText": .text(words[isRequired ? "factorRemovalLink" : "factorRemovalText"]),
                "removal": paper.form(
                    "removal", Self.path + "/remove", proof, submit: "actRemoveFactor", style: .danger,
                    draft: removalDraft, username: user),
            ]
            sheet.problems =
                paper.problems(draft, in: "factor", proof) + paper.problems(removalDraft, in: "removal", proof)
        case .made(let codes):
            sheet.content["made"] = [
                "codes": .list(codes.map { ["text": .text($0)] }),
                "next": paper.linkButton("actContinue", "/app/account", style: .primary),
            ]
        }
        return sheet
    }

    private func picture(_ paper: RenderContext, _ address: String) -> Node {
        guard let code = QRCode(address) else { return .nothing }
        return [
            "side": .number(code.size + 2 * QRCode.quiet), "path": .text(code.path),
            "label": .text(paper.words["factorPicture"]),
        ]
    }

    /// The secret in groups of four, which are easier to type.
    private static func grouped(_ secret: String) -> String {
        let letters = Array(secret.utf8)
        let groups = stride(from: 0, to: letters.count, by: 4).map {
            String(decoding: letters[$0..<min($0 + 4, letters.count)], as: UTF8.self)
        }
        return groups.joined(separator: " ")
    }
}

extension Field {
    /// A field for what an authenticator app shows, or for a recovery code, which has letters.
    static func code(_ label: String, hint: String) -> Field {
        Field("code", label, Field.text(autocomplete: "one-time-code"), hint: hint, isRequired: true, most: 64)
    }
}
