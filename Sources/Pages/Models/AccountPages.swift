// SPDX-License-Identifier: Apache-2.0

/// `/app/devices`: the devices and browsers that are signed in.
public struct DevicesPage: Page {
    public struct Device: Sendable {
        public var id: String
        public var name: String
        public var platform: String?
        public var since: Int
        public var lastSeenAt: Int?

        public init(id: String, name: String, platform: String? = nil, since: Int, lastSeenAt: Int? = nil) {
            (self.id, self.name, self.platform, self.since, self.lastSeenAt) = (id, name, platform, since, lastSeenAt)
        }
    }

    public struct Session: Sendable {
        public var id: String
        public var since: Int
        public var lastSeenAt: Int?
        public var isThis: Bool

        public init(id: String, since: Int, lastSeenAt: Int? = nil, isThis: Bool = false) {
            (self.id, self.since, self.lastSeenAt, self.isThis) = (id, since, lastSeenAt, isThis)
        }
    }

    /// A calendar of the person's own, which a calendar app made.
    public struct OwnCalendar: Sendable {
        public var id: String
        public var name: String
        public var entries: Int

        public init(id: String, name: String, entries: Int) { (self.id, self.name, self.entries) = (id, name, entries) }
    }

    public var devices: [Device]
    public var sessions: [Session]
    public var calendars: [OwnCalendar]

    public init(devices: [Device], sessions: [Session], calendars: [OwnCalendar] = []) {
        (self.devices, self.sessions, self.calendars) = (devices, sessions, calendars)
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let (words, times) = (paper.words, paper.times)
        func seen(_ at: Int?) -> Cell { at.map { .time(times.moment($0)) } ?? .text(words["never"]) }
        return PageContent(
            template: "devices", title: words["devicesTitle"], section: .devices,
            content: [
                "apps": paper.linkButton("actManage", AppPasswordsPage.path, about: words["appsTitle"]),
                "noDevices": devices.isEmpty ? paper.emptyState("devicesEmptyTitle", "devicesEmptyText") : .nothing,
                "devices": devices.isEmpty
                    ? .nothing
                    : paper.table(
                        words["devicesCaption"], ["columnDevice", "columnSince", "columnLastVisit", "columnActions"],
                        devices.map { device in
                            [
                                .name(device.platform.map { "\(device.name) (\($0))" } ?? device.name),
                                .time(times.moment(device.since)), seen(device.lastSeenAt),
                                .acts([
                                    paper.act(
                                        "actRemove", "/app/devices/\(device.id.pathSegment)/delete", style: .plain,
                                        about: device.name)
                                ]),
                            ]
                        }),
                "sessions": paper.table(
                    words["sessionsCaption"], ["columnSession", "columnSince", "columnLastVisit", "columnActions"],
                    sessions.map { session in
                        [
                            .text(words[session.isThis ? "sessionThis" : "sessionOther"]),
                            .time(times.moment(session.since)), seen(session.lastSeenAt),
                            session.isThis
                                ? .empty
                                : .acts([
                                    paper.act(
                                        "actEndSession", "/app/sessions/\(session.id.pathSegment)/delete",
                                        about: times.relative(session.since))
                                ]),
                        ]
                    }),
                "calendars": calendars.isEmpty ? .nothing : .rows(calendars.map { row($0, paper) }),
                "dialogs": .list(
                    calendars.map { own in
                        paper.dialog(
                            "calendar-\(own.id)", words["askDeleteCalendar"], [words["askDeleteCalendarText"]],
                            paper.form(
                                "calendar-form-\(own.id)", "/app/calendars/\(own.id.pathSegment)/delete", [],
                                submit: "actDeleteCalendar", style: .danger))
                    }),
            ])
    }

    private func row(_ own: OwnCalendar, _ paper: RenderContext) -> Node {
        [
            "name": .text(own.name), "entries": .text(paper.words("countEntries", count: own.entries)),
            "remove": paper.question(
                "calendar-\(own.id)", "actDeleteCalendar", style: .quiet, about: own.name),
        ]
    }
}

/// `/app/account`: a person's time zone, language and password.
public struct AccountPage: Page {
    public var user: String
    /// Nil for the circle's time zone.
    public var timeZone: String?
    /// Nil for the language that the browser asks for.
    public var language: Language?
    /// Whether people sign in with passwords here.
    public var hasPasswords: Bool
    /// Whether the person has a second factor; nil for a person without a password, who needs none.
    public var hasSecondFactor: Bool?
    /// The names of the circles with others whose last owner the person is, who cannot be erased then.
    public var lastOwnerOf: [String]
    /// Nil if there is no provider to sign in at.
    public var provider: AccountProvider?
    public var draft: Draft
    public var passwordDraft: Draft

    public init(
        user: String, timeZone: String?, language: Language?, hasPasswords: Bool, hasSecondFactor: Bool? = nil,
        lastOwnerOf: [String] = [], provider: AccountProvider? = nil, draft: Draft = Draft(),
        passwordDraft: Draft = Draft()
    ) {
        (self.user, self.timeZone, self.language, self.hasPasswords) = (user, timeZone, language, hasPasswords)
        (self.hasSecondFactor, self.lastOwnerOf) = (hasSecondFactor, lastOwnerOf)
        (self.provider, self.draft, self.passwordDraft) = (provider, draft, passwordDraft)
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        let fields = [
            Field("timeZone", words["accountZone"], Field.text(), value: timeZone, hint: words["zoneHint"], most: 64),
            Field(
                "language", words["accountLanguage"],
                .choice(
                    [Choice(value: "", label: words["accountLanguageBrowser"])]
                        + Language.allCases.map { Choice(value: $0.rawValue, label: $0.ownName) }),
                value: language?.rawValue ?? "", hint: words["accountLanguageHint"]),
        ]
        var passwords = [
            Field(
                "current", words["passwordCurrent"], .line(type: "password", autocomplete: "current-password"),
                isRequired: true),
            Field(
                "new", words["passwordNew"], .line(type: "password", autocomplete: "new-password"),
                hint: words["passwordHint"], isRequired: true),
        ]
        if hasSecondFactor == true {
            passwords.append(Field.code(words["factorCode"], hint: words["factorAnyCodeHint"]))
        }
        return PageContent(
            template: "account", title: words["accountTitle"], section: .account,
            content: [
                "facts": paper.facts([paper.fact("accountUser", named(user))]),
                "settings": paper.form("account", "/app/account", fields, submit: "actSave", draft: draft),
                "password": hasPasswords
                    ? paper.form(
                        "password", "/app/account/password", passwords, submit: "actChangePassword",
                        draft: passwordDraft, username: user)
                    : .nothing,
                "factor": hasSecondFactor.map { isOn in
                    [
                        "text": .text(words[isOn ? "factorIsOn" : "factorIsOff"]),
                        "link": paper.linkButton(isOn ? "actManage" : "actSetUp", SecondFactorPage.path),
                    ]
                } ?? .nothing,
                "provider": provider?.shown(paper) ?? .nothing,
                "export": paper.act("actDownloadData", "/app/account/export"),
                "lastOwner": lastOwnerOf.isEmpty
                    ? .nothing
                    : .text(words("accountEraseOwner", ["circles": lastOwnerOf.joined(separator: ", ")])),
                "erase": lastOwnerOf.isEmpty ? paper.question("erase-all", "actErase", style: .danger) : .nothing,
                "eraseDialog": lastOwnerOf.isEmpty
                    ? paper.dialog(
                        "erase-all", words["accountEraseAsk"], [words["accountEraseAskText"]],
                        paper.form("erase-form", "/app/account/erase", [], submit: "actErase", style: .danger))
                    : .nothing,
            ],
            problems: paper.problems(draft, in: "account", fields)
                + paper.problems(passwordDraft, in: "password", passwords))
    }
}
