// SPDX-License-Identifier: Apache-2.0

import Calendar

@testable import Pages

extension Samples {
    var ownSamples: [Sample] {
        let day = Self.today
        let month = (1...21).map { number -> OfficeDaysPage.Day in
            let own = CivilDate(uncheckedYear: 2026, month: 1, day: number)
            let isWorkday = own.mondayBasedWeekday < 5
            let isOffice = number % 3 != 0
            return OfficeDaysPage.Day(
                day: own, status: isWorkday ? (isOffice ? .inOffice : .remote) : .neither,
                source: isWorkday ? (isOffice ? .visits : .endOfDay) : nil, minutes: 431,
                eventTitle: isWorkday ? text("Office Day") : nil)
        }
        let upcoming = (1...14).map {
            OfficeDaysPage.Day(
                day: day.adding(days: $0), status: $0 % 2 == 0 ? .remote : .neither,
                eventTitle: $0 % 2 == 0 ? text("Remote Work") : nil)
        }
        let settings = OfficeDaysPage.Settings(
            isEnabled: true, target: "connection:c1", officeTitle: text("Office Day"), remoteTitle: text("Remote Work"),
            usesHomeOfficeZone: true, homeOfficeZone: text("Europe/Berlin"), officeAddress: text("1 Main Street"),
            holidays: [CivilDate(uncheckedYear: 2026, month: 1, day: 1)])
        let connections = [Named(id: "c1", name: text("Google Calendar: Work"))]
        var office = OfficeDaysPage(
            settings: settings, connections: connections, month: day.startOfMonth, days: month, upcoming: upcoming,
            problem: .permissionRevoked, fixPath: "/app/circles/a/connections/b", lastSyncAt: Self.hours(-16),
            managedEvents: 31,
            picked: CivilDate(uncheckedYear: 2026, month: 1, day: 20))
        let banner = office
        office.problem = nil
        office.picked = nil
        office.draft = Draft(
            values: ["officeTitle": text("x")],
            problems: [
                .init(field: "officeTitle", code: .invalid), .init(field: "holidays", code: .date),
                .init(field: "homeOfficeTimeZone", code: .zone),
            ])
        return [
            Sample(
                name: "circles",
                page: CirclesPage(circles: [
                    .init(id: "rose-family", name: text("Rose Family"), feeds: 3, connections: 1, attention: 2),
                    .init(id: "b", name: text("Hans at home"), feeds: 1, connections: 0, attention: 0),
                    .init(id: "c", name: text("Garden"), feeds: 0, connections: 2, attention: 1),
                ])),
            Sample(name: "circles-empty", page: CirclesPage(circles: [])),
            Sample(name: "office", page: banner, ask: "cleanup"),
            Sample(name: "office-wrong", page: office, notice: Notice(.officeSaved)),
            Sample(
                name: "office-off",
                page: OfficeDaysPage(
                    settings: .init(), connections: [], month: day.firstOfMonth(adding: 1), days: [],
                    upcoming: upcoming),
                notice: Notice(.officeReset, undo: ("/app/office-days", ["officeTitle": "Office"]))),
            Sample(
                name: "devices",
                page: DevicesPage(
                    devices: [
                        .init(
                            id: "d1", name: text("Maria’s iPhone"), platform: text("iOS"), since: Self.hours(-4000),
                            lastSeenAt: Self.hours(-0.3)),
                        .init(id: "d2", name: text("Old tablet"), since: Self.hours(-9000)),
                    ],
                    sessions: [
                        .init(id: "s1", since: Self.hours(-2), lastSeenAt: Self.hours(-0.01), isThis: true),
                        .init(id: "s2", since: Self.hours(-200), lastSeenAt: Self.hours(-100)),
                    ],
                    calendars: [
                        .init(id: "c1", name: text("Garden"), entries: 1),
                        .init(id: "c2", name: text("Choir & concerts"), entries: 1240),
                    ]),
                ask: "calendar-c1"),
            Sample(
                name: "devices-empty",
                page: DevicesPage(devices: [], sessions: [.init(id: "s1", since: Self.now, isThis: true)])),
            Sample(
                name: "account",
                page: AccountPage(
                    user: text("maria"), timeZone: text("Europe/Berlin"), language: .german, hasPasswords: true,
                    draft: Draft(
                        values: ["timeZone": text("Mars/Olympus")], problems: [.init(field: "timeZone", code: .zone)]),
                    passwordDraft: Draft(problems: [.init(field: "new", code: .passwordShort)]))),
            Sample(
                name: "account-plain",
                page: AccountPage(user: text("maria"), timeZone: nil, language: nil, hasPasswords: false)),
            Sample(
                name: "account-factor",
                page: AccountPage(
                    user: text("maria"), timeZone: nil, language: nil, hasPasswords: true, hasSecondFactor: true,
                    passwordDraft: Draft(problems: [.init(field: "code", code: .code)]))),
            Sample(
                name: "account-last-owner",
                page: AccountPage(
                    user: text("maria"), timeZone: nil, language: nil, hasPasswords: false,
                    lastOwnerOf: [text("Family"), text("Work")])),
            Sample(
                name: "account-provider",
                page: AccountPage(
                    user: text("maria"), timeZone: nil, language: nil, hasPasswords: false,
                    provider: AccountProvider(
                        name: text("Our company"), isJoined: false))),
            Sample(
                name: "account-joined",
                page: AccountPage(
                    user: text("maria"), timeZone: nil, language: nil, hasPasswords: true,
                    provider: AccountProvider(
                        name: text("Our company"), isJoined: true))),
            Sample(name: "erasure-ask", page: ErasurePage(state: .ask(user: text("maria")))),
            Sample(
                name: "erasure-done",
                page: ErasurePage(
                    state: .done([
                        .init(what: "items", rows: 12), .init(what: "auditTrail", rows: 1),
                        .init(what: "backups", rows: 0),
                    ]))),
            Sample(
                name: "erasure-under-way", page: ErasurePage(state: .underWay([.init(what: "elsewhere", rows: 0)]))),
            Sample(
                name: "factor-off",
                page: SecondFactorPage(
                    user: text("maria"), state: .off,
                    draft: Draft(problems: [.init(field: "current", code: .credentials)]))),
            Sample(
                name: "factor-begun",
                page: SecondFactorPage(
                    user: text("maria"),
                    state: .begun(
                        secret: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ",
                        address: "otpauth://totp/Kalends:maria?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Kalends",
                        usesSHA256: true),
                    draft: Draft(problems: [.init(field: "code", code: .code)]))),
            Sample(
                name: "factor-codes",
                page: SecondFactorPage(
                    user: text("maria"),
                    state: .made(codes: (0..<10).map { _ in "ABCD-EFGH-IJKL-MNOP-QRST-UVWX" })),
                notice: Notice(.secondFactorEnabled)),
            Sample(
                name: "factor-on",
                page: SecondFactorPage(
                    user: text("maria"), state: .on(since: Self.hours(-200), recoveryCodes: 9),
                    removalDraft: Draft(problems: [.init(field: "code", code: .missing)]))),
            Sample(
                name: "factor-required",
                page: SecondFactorPage(
                    user: text("maria"), state: .on(since: Self.hours(-1), recoveryCodes: 0), isRequired: true)),
        ]
    }

    var serverSamples: [Sample] {
        typealias Result = CheckPage.Result
        let verdicts: [CheckPage.Verdict] = [
            .init(app: "Apple Calendar", outcome: .fine, reasons: []),
            .init(
                app: "Google Calendar", outcome: .partly,
                reasons: [Sentence(ofOthers: text("Two of the rules are too long; their series end early."))]),
            .init(
                app: "Outlook", outcome: .refused,
                reasons: ["The time zone begins in 1883.", "An event has no UID."].map { Sentence(ofOthers: text($0)) }),
        ]
        let problems = [
            FileProblem(
                line: 12, severity: .error, sentence: Sentence(ofOthers: text("DTSTART:20261345 is not a valid date."))),
            FileProblem(
                line: 1033, severity: .repaired, sentence: Sentence(ofOthers: text("A quotation mark was missing."))),
        ]
        return [
            Sample(name: "check", page: CheckPage()),
            Sample(
                name: "check-result",
                page: CheckPage(
                    result: Result(
                        bytes: 48_213, events: 214, calendarName: text("Matches"),
                        writtenBy: text("-//Club//EN"),
                        first: Self.today, last: Self.today.adding(days: 99), problems: problems, moreProblems: 3,
                        verdicts: verdicts))),
            Sample(
                name: "check-good",
                page: CheckPage(
                    result: Result(
                        bytes: 812, events: 1, problems: [],
                        verdicts: Array(verdicts.prefix(1))))),
            Sample(
                name: "check-refused",
                page: CheckPage(
                    result: Result(
                        bytes: 2_400_000, events: 0, problems: [], verdicts: [],
                        refusal: Sentence(ofOthers: text("This is a web page and no calendar."))),
                    draft: Draft(problems: [.init(field: "file", code: .unreadable)]))),
            Sample(
                name: "admin",
                page: AdminPage(
                    people: .init(users: 1284, withConnection: 540, withTwoWay: 401, withFeed: 977),
                    rates: Provider.allCases.flatMap { provider in
                        [1, 7, 30].map {
                            .init(
                                provider: provider, days: $0, runs: 96 * $0, successes: 96 * $0 - ($0 > 1 ? 1 : 0),
                                writes: 400 * $0, errors: $0)
                        }
                    }, history: history,
                    troubles: [
                        .init(
                            id: text("0190a7"), provider: .outlook, state: .needsReconnect, lastSyncAt: Self.hours(-50),
                            tries: 9),
                        .init(id: text("0190a8"), provider: .caldav, state: .active, lastSyncAt: nil, tries: 4),
                    ],
                    requests: [
                        .init(
                            provider: .google, connections: 9_800, announced: 8_100, sent: 212_400, succeeded: 211_950,
                            wholeDay: 913_000, limit: 800_000, factor: 1.4, saved: 800_000),
                        .init(
                            provider: .caldav, connections: 310, announced: 0, sent: 14_020, succeeded: 14_000,
                            wholeDay: 30_100, limit: nil, saved: 30_100),
                    ],
                    accounts: [.init(id: text("0190a9"), provider: .google, connections: 3, sent: 1_240)],
                    webhooks: [
                        .init(
                            host: text("app.example.org"), isFailing: false, pending: 0, lastSentAt: Self.hours(-0.1)),
                        .init(host: text("old.example.org"), isFailing: true, pending: 312, lastSentAt: nil),
                    ],
                    keys: [
                        .init(
                            id: "k1", name: text("Host app"), createdAt: Self.hours(-5000),
                            lastUsedAt: Self.hours(-0.01)),
                        .init(
                            id: "k2", name: text("Trial"), createdAt: Self.hours(-7000), revokedAt: Self.hours(-6000)),
                    ],
                    audit: (0..<20).map {
                        .init(
                            number: 900 - $0, at: Self.hours(-Double($0) * 3), actor: text("maria"),
                            action: text("feed.revoke"), target: text("feed 0190a7"))
                    },
                    search: text("revoke"), before: 880, newKey: "kal_sk_shown_once"), isOperator: true,
                notice: Notice(.keyRevoked)),
            Sample(
                name: "admin-empty",
                page: AdminPage(
                    people: .init(users: 0, withConnection: 0, withTwoWay: 0, withFeed: 0), rates: [], history: [],
                    troubles: [], webhooks: [], keys: [], audit: []),
                isOperator: true),
            Sample(
                name: "sign-in",
                page: SignInPage(
                    hasPasswords: true, to: "/app/devices",
                    draft: Draft(
                        values: ["user": text("maria"), "password": "never-sent-back"],
                        problems: [.init(field: "", code: .credentials)])), user: false, notice: Notice(.signedOut)),
            Sample(
                name: "sign-in-code",
                page: SignInPage(
                    hasPasswords: true, to: "/app/devices", ticket: "v1.ticket",
                    draft: Draft(problems: [.init(field: "code", code: .code)])),
                user: false),
            Sample(
                name: "sign-in-provider",
                page: SignInPage(hasPasswords: true, provider: text("Our company")),
                user: false),
            Sample(
                name: "sign-in-provider-only",
                page: SignInPage(hasPasswords: false, provider: text("Our company")),
                user: false),
            Sample(name: "sign-in-none", page: SignInPage(hasPasswords: false), user: false),
            Sample(
                name: "link-ready",
                page: SignInLinkPage(
                    state: .ready(
                        path: "/app/sign-in/links/kal_sl_secret", user: text("maria"), expiresAt: Self.hours(0.08))),
                user: false),
            Sample(
                name: "link-operator",
                page: SignInLinkPage(
                    state: .ready(path: "/app/sign-in/links/kal_sl_secret", user: nil, expiresAt: Self.hours(0.08)),
                    isForOperator: true), user: false),
            Sample(name: "link-used", page: SignInLinkPage(state: .used), user: false),
            Sample(name: "link-expired", page: SignInLinkPage(state: .expired, isForOperator: true), user: false),
            Sample(name: "link-unknown", page: SignInLinkPage(state: .unknown), user: false),
            Sample(
                name: "link-needed",
                page: SignInLinkPage(
                    state: .needed(provider: text("Our company")), isForOperator: true),
                user: false),
            Sample(name: "arrival-pending", page: ArrivalPage(state: .pending(code: "kal_cc_secret")), user: false),
            Sample(name: "arrival-denied", page: ArrivalPage(state: .denied), user: false),
            Sample(name: "arrival-failed", page: ArrivalPage(state: .failed), user: false),
        ]
            + providers
            + ErrorPage.Kind.allCases.map {
                Sample(name: "error-\($0.rawValue)", page: ErrorPage(kind: $0, requestID: text("7f3a")), user: false)
            }
            + [Sample(name: "parts", page: PartsPage(name: text("A part")), ask: "ask")]
    }

    private var providers: [Sample] {
        let name = text("Our company")
        let states: [(String, ProviderPage.State)] = [
            ("leaving", .leaving(address: "https://login.example/?a=b")),
            ("operator", .operatorArrived(path: "/app/admin")),
            ("signed-out", .signedOut(address: "https://login.example/end")),
        ]
        let failures: [(String, ProviderPage.State)] = ProviderPage.Failure.allCases.map {
            ($0.rawValue, ProviderPage.State.failed($0, next: "/app/sign-in"))
        }
        return (states + failures).map { state in
            Sample(name: "provider-\(state.0)", page: ProviderPage(state.1, provider: name), user: false)
        }
    }
}
