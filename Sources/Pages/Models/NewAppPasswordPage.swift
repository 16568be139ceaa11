// SPDX-License-Identifier: Apache-2.0

/// `/app/app-passwords/new`: a new app password in three steps.
public struct NewAppPasswordPage: Page {
    /// The values that are shown only once.
    public struct Made: Sendable {
        public var id: String
        public var url: String
        public var username: String
        public var password: String
        /// A profile for Apple's devices.
        public var profileURL: String

        public init(id: String, url: String, username: String, password: String, profileURL: String) {
            (self.id, self.url, self.username) = (id, url, username)
            (self.password, self.profileURL) = (password, profileURL)
        }
    }

    public enum Step: Sendable {
        case app
        case settings(CalendarApp, AppPasswordFields)
        case made(CalendarApp, Made)
    }

    public static let path = AppPasswordsPage.path + "/new"
    private static let steps = ["appStepApp", "appStepSettings", "appStepSetUp"]

    public var step: Step
    public var draft: Draft

    public init(step: Step, draft: Draft = Draft()) { (self.step, self.draft) = (step, draft) }

    public var showsSecret: Bool { if case .made = step { true } else { false } }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        var sheet = PageContent(
            template: "new-app-password", title: words["appNewTitle"], section: .devices, content: [:],
            crumbs: [
                (words["devicesTitle"], "/app/devices"), (words["appsTitle"], AppPasswordsPage.path),
            ])
        switch step {
        case .app:
            sheet.content["stepper"] = paper.stepper(Self.steps, at: 0)
            sheet.content["apps"] = [
                "links": .list(
                    CalendarApp.allCases.map {
                        paper.linkButton($0.name, Self.path + "?app=\($0.rawValue)")
                    })
            ]
        case .settings(let app, let fields):
            var fields = fields
            if fields.label.isEmpty { fields.label = words[app.name] }
            let form = fields.fields(words)
            sheet.content["stepper"] = paper.stepper(Self.steps, at: 1)
            sheet.content["form"] = paper.form(
                "app-password", Self.path, form, submit: "actMakePassword", draft: draft, values: ["app": app.rawValue])
            sheet.problems = paper.problems(draft, in: "app-password", form)
        case .made(let app, let made):
            sheet.content["stepper"] = paper.stepper(Self.steps, at: 2)
            sheet.content["made"] = self.made(made, app, paper)
            sheet.scripts = ["copy"]
        }
        return sheet
    }

    private func made(_ made: Made, _ app: CalendarApp, _ paper: RenderContext) -> Node {
        let words = paper.words
        let values = [("url", made.url), ("username", made.username), ("password", made.password)]
        let address = Self.address(for: app, made)
        return [
            "copies": .list(
                values.map { name, value in
                    ["id": .text("app-\(name)"), "label": .text(words["appCopy_\(name)"]), "value": .text(value)]
                }),
            "title": .text(words[app.name]),
            "steps": .list(app.steps(words).map { ["text": .text($0)] }),
            "open": app == .apple ? paper.linkButton("actGetProfile", made.profileURL, style: .primary) : .nothing,
            "code": address.flatMap { picture($0, words["appPicture_\(app == .apple ? "profile" : "account")"]) }
                ?? .nothing,
            "check": paper.linkButton("actSeeUse", "\(AppPasswordsPage.path)/\(made.id.pathSegment)"),
        ]
    }

    /// The addresses that a phone's camera opens: Apple's profile, or DAVx5's form with address and name.
    private static func address(for app: CalendarApp, _ made: Made) -> String? {
        switch app {
        case .apple: made.profileURL
        case .davx5:
            made.url.parted(at: "://").map { "davx5://\(made.username.pathSegment)@\($0.after)" }
        default: nil
        }
    }

    private func picture(_ address: String, _ label: String) -> Node? {
        QRCode(address).map {
            ["side": .number($0.size + 2 * QRCode.quiet), "path": .text($0.path), "label": .text(label)]
        }
    }
}

/// `/app/login/{ticket}`: letting an app in that asks for it.
public struct AppLoginPage: Page {
    public enum State: Sendable {
        /// - Parameters:
        ///   - path: of this page, to which the form is sent.
        ///   - client: the kind of app that asks.
        case asked(path: String, client: String, AppPasswordFields)
        case granted(client: String)
        /// The app was let in before.
        case used
        /// There is no such sign-in, or it took too long.
        case gone
    }

    public var state: State
    public var draft: Draft

    public init(state: State, draft: Draft = Draft()) { (self.state, self.draft) = (state, draft) }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        var sheet = PageContent(
            template: "new-app-password", title: words["appLoginTitle"], section: .devices, content: [:])
        switch state {
        case .asked(let path, let client, let fields):
            var fields = fields
            if fields.label.isEmpty { fields.label = client }
            let form = fields.fields(words)
            sheet.content["line"] = words.sentence("appLoginAsked", ["client": .name(paper.program(client))])
            sheet.content["form"] = paper.form("app-password", path, form, submit: "actLetIn", draft: draft)
            sheet.problems = paper.problems(draft, in: "app-password", form)
        case .granted(let client):
            sheet.content["line"] = words.sentence("appLoginGranted", ["client": .name(paper.program(client))])
        case .used: sheet.content["line"] = words.sentence("appLoginUsed")
        case .gone: sheet.content["line"] = words.sentence("appLoginGone")
        }
        return sheet
    }
}
