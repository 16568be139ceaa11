// SPDX-License-Identifier: Apache-2.0

/// `/app/app-passwords`: the passwords of a person's calendar apps.
public struct AppPasswordsPage: Page {
    /// One that was ended, with its last access as the proof.
    public struct Ended: Sendable {
        public var label: String
        public var endedAt: Int
        public var lastUsedAt: Int?

        public init(label: String, endedAt: Int, lastUsedAt: Int?) {
            (self.label, self.endedAt, self.lastUsedAt) = (label, endedAt, lastUsedAt)
        }
    }

    public static let path = "/app/app-passwords"

    public var passwords: [AppPasswordSummary]
    public var ended: [Ended]

    public init(passwords: [AppPasswordSummary], ended: [Ended] = []) {
        (self.passwords, self.ended) = (passwords, ended)
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let (words, times) = (paper.words, paper.times)
        func used(_ at: Int?) -> Cell { at.map { .time(times.moment($0)) } ?? .text(words["never"]) }
        return PageContent(
            template: "app-passwords", title: words["appsTitle"], section: .devices,
            content: [
                "new": paper.linkButton("actNewPassword", Self.path + "/new", style: .primary),
                "noPasswords": passwords.isEmpty ? paper.emptyState("appsEmptyTitle", "appsEmptyText") : .nothing,
                "passwords": passwords.isEmpty
                    ? .nothing
                    : paper.table(
                        words["appsCaption"], ["columnApp", "columnAccess", "columnLastUse", "columnStatus"],
                        passwords.map { own in
                            [
                                .link(own.label, own.path),
                                .text(words["appAccess_\(own.mayWrite ? "write" : "read")"]), used(own.lastUsedAt),
                                .badge(paper.badge(own)),
                            ]
                        }),
                "ended": ended.isEmpty
                    ? .nothing
                    : paper.table(
                        words["appsEnded"], ["columnApp", "columnEnded", "columnLastUse"],
                        ended.map { [.name($0.label), .time(times.moment($0.endedAt)), used($0.lastUsedAt)] },
                        isHidden: true),
            ], crumbs: [(words["devicesTitle"], "/app/devices")])
    }
}

/// `/app/app-passwords/{password}`: one app password.
public struct AppPasswordPage: Page {
    public var summary: AppPasswordSummary
    public var fields: AppPasswordFields
    public var accessCount: Int
    public var createdAt: Int
    public var expiresAt: Int?
    public var clients: [FeedPage.Client]
    public var draft: Draft

    public init(
        summary: AppPasswordSummary, fields: AppPasswordFields, accessCount: Int, createdAt: Int, expiresAt: Int?,
        clients: [FeedPage.Client], draft: Draft = Draft()
    ) {
        (self.summary, self.fields, self.accessCount) = (summary, fields, accessCount)
        (self.createdAt, self.expiresAt, self.clients, self.draft) = (createdAt, expiresAt, clients, draft)
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let (words, times, path) = (paper.words, paper.times, summary.path)
        let form = fields.fields(words)
        return PageContent(
            template: "app-password", title: summary.label, isName: true, section: .devices,
            content: [
                "badge": paper.badge(summary), "line": paper.line(summary),
                "alerts": .list(summary.alerts.map { paper.alert(ofPassword: $0) }),
                "seen": summary.alerts.isEmpty ? .nothing : paper.act("actSeen", path + "/seen"),
                "facts": paper.facts([
                    paper.fact("appAccesses", plain(words.number(accessCount))),
                    paper.fact("feedCreated", timed(times.exactly(createdAt))),
                    paper.fact("feedExpires", timed(expiresAt.map(times.exactly))),
                ]),
                "clients": clients.isEmpty
                    ? .nothing
                    : paper.table(
                        words["appClients"], ["columnApp", "columnAccesses", "columnLastUse"],
                        clients.map {
                            [.name(paper.program($0.name)), .number($0.count), .time(times.moment($0.lastSeenAt))]
                        }),
                "settings": paper.form("app-password", path, form, submit: "actSave", draft: draft),
                "end": paper.question("end", "actEndPassword", style: .danger),
                "endDialog": paper.dialog(
                    "end", words["askEndPassword"], [words["askEndPasswordText"]],
                    paper.form("end-form", path + "/end", [], submit: "actEndPassword", style: .danger)),
            ],
            crumbs: [
                (words["devicesTitle"], "/app/devices"), (words["appsTitle"], AppPasswordsPage.path),
            ], problems: paper.problems(draft, in: "app-password", form))
    }
}
