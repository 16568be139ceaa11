// SPDX-License-Identifier: Apache-2.0

import Calendar

@testable import Pages

extension Samples {
    var circleSamples: [Sample] {
        var all: [Sample] = []
        func circle(_ name: String, _ page: any Page, ask: String? = nil, notice: Notice? = nil) {
            all.append(Sample(name: name, page: page, isCircle: true, ask: ask, notice: notice))
        }
        for view in CalendarPage.View.allCases {
            circle(
                "calendar-\(view.rawValue)",
                CalendarPage(
                    view: view, day: Self.today, people: people, patients: patients,
                    feeds: [Named(id: "f1", name: text("Phone"))], entries: entries()))
        }
        circle(
            "calendar-empty",
            CalendarPage(
                view: .agenda, day: Self.today,
                filter: .init(kinds: [.task], person: "maria", patient: "rose", feed: "f1"),
                people: people, patients: patients, feeds: [], entries: []))
        circle(
            "item",
            ItemPage(
                entry: entries()[2], status: .confirmed, person: text("Maria"), patient: text("Rose"),
                place: text("Heart Clinic, 12 Elm Street"),
                notes: text("Bring the list of medicines.\nPark behind the house."),
                zone: text("America/Los_Angeles"), reminders: [0, 15, 60, 1440, 2880], repeats: true,
                createdAt: Self.hours(-900), updatedAt: Self.hours(-2),
                reach: ItemReach(
                    isNew: false,
                    calendars: [
                        .init(
                            name: "Apple Calendar", label: text("My phone"), hasIt: true, seenAt: Self.hours(-1),
                            expectedAt: Self.hours(0) + 600_000),
                        .init(
                            name: "Google Calendar", label: text("Family"), hasIt: false, seenAt: Self.hours(-9),
                            expectedAt: Self.hours(3)),
                        .init(
                            name: "Outlook", isOthers: true, hasIt: false, seenAt: Self.hours(-40),
                            expectedAt: Self.hours(-30)),
                        .init(name: "CalDAV", hasIt: true, seenAt: Self.hours(-1)),
                    ])))
        var silent = ItemPage(entry: entries()[1], createdAt: Self.hours(-9), updatedAt: Self.hours(-9))
        silent.reach = ItemReach(isNew: true, calendars: [])
        silent.silent = [(feeds[0], .kind), (feeds[1], .patient), (feeds[4], .repeated)]
        circle("item-silent", silent)
        circle(
            "sync",
            SyncPage(
                feeds: feeds,
                connections: [
                    connection(.google, .active),
                    connection(.outlook, .needsReconnect, .failed, alerts: [.needsReconnect, .failing(tries: 4)]),
                    connection(.caldav, .active, .partial, alerts: [.conflicts(2), .held(run: "r9", deletions: 14)]),
                    connection(
                        .outlook, .active, .partial,
                        alerts: [
                            .heldBack(title: text("Physio"), .repetition), .moreHeldBack(3),
                            .shortened(2, title: text("Blood test"), [.notes, .reminders]),
                            .shared(run: "r8"),
                            .held(run: "r7", deletions: 3, causes: [.missing(12), .deletions(3)]),
                        ]),
                    connection(.apple, .active, nil), connection(.google, .unauthorized, nil),
                    connection(.outlook, .choosing, nil),
                    connection(.google, .calendarGone, alerts: [.calendarGone]), connection(.caldav, .paused),
                    connection(
                        .caldav, .needsReconnect, .failed,
                        alerts: [.needsReconnect, .unavailable(setting: text("KALENDS_GOOGLE_CLIENT_ID"))]),
                ],
                offers: [
                    .init(.google), .init(.outlook, missingSetting: "KALENDS_MICROSOFT_CLIENT_ID"), .init(.caldav),
                    .init(.apple),
                ],
                content: feedContent), notice: Notice(.feedRemoved))
        for audience in Audience.allCases {
            circle(
                "sync-for-\(audience.rawValue)",
                SyncPage(
                    feeds: [], connections: [], offers: [], content: feedContent, audience: audience,
                    until: audience.days.map { Self.today.adding(days: $0) }), ask: "create")
        }
        circle(
            "sync-look",
            SyncPage(
                feeds: feeds, connections: [], offers: [], content: feedContent,
                draft: Draft(
                    values: [
                        "label": text("Nurse"), "kinds": "shift,appointment", "patients": "rose,hans",
                        "detail": "titles", "until": "2026-03-31",
                    ]), audience: .helper, until: Self.today.adding(days: 90), look: entries()))
        circle(
            "sync-empty",
            SyncPage(
                feeds: [], connections: [], offers: Provider.allCases.map { SyncPage.Offer($0) }, content: feedContent,
                draft: Draft(
                    values: ["label": text("Phone"), "kinds": "task,shift", "pastDays": "9999"],
                    problems: [
                        .init(field: "label", code: .taken), .init(field: "pastDays", code: .range),
                        .init(field: "", code: .unknown),
                    ])))
        circle(
            "feed",
            feed(url: "https://calendar.example.org/feeds/kal_fd_3xM9pQzT7vBnR2sKdL5wYhJcF8gA1eUo/rose-family.ics"),
            notice: Notice(.feedCreated))
        circle("feed-hidden", feed(url: nil), ask: "revoke")
        circle("feed-regenerate", feed(url: nil), ask: "regenerate")
        var ended = feed(url: nil)
        ended.feed = feeds[2]
        (ended.clients, ended.reads, ended.preview) = ([], [], [])
        circle("feed-revoked", ended)
        all += connectionSamples
        let conflicts = conflicts
        circle(
            "conflicts", ConflictsPage(open: Array(conflicts.prefix(4)), resolved: Array(conflicts.suffix(1))),
            notice: Notice(.conflictResolved))
        circle("conflicts-empty", ConflictsPage(open: [], resolved: []))
        circle("activity", ActivityPage(entries: changes, isMore: true, keptDays: 30), notice: Notice(.changeUndone))
        for (name, problem) in [
            ("since", .changedSince(.person(text("Maria")), at: Self.hours(-1))), ("undone", .undone),
            ("kept", .notKept), ("impossible", .impossible), ("unknown", .changedSince(nil, at: nil)),
        ] as [(String, ActivityPage.Problem)] {
            circle("activity-\(name)", ActivityPage(entries: [], isLater: true, problem: problem, keptDays: 1))
        }
        all += importSamples
        typealias Subscription = SubscriptionsPage.Subscription
        circle(
            "subscriptions",
            SubscriptionsPage(
                subscriptions: [
                    Subscription(
                        id: "s1", label: text("Matches"), host: text("club.example.org"), events: 38, minutes: 60,
                        lastFetchedAt: Self.hours(-0.6), nextFetchAt: Self.hours(0.4)),
                    Subscription(
                        id: "s2", label: "", host: text("school.example.org"), events: 0, minutes: 60,
                        lastFetchedAt: Self.hours(-30), nextFetchAt: Self.hours(20),
                        problem: .missing),
                    Subscription(
                        id: "s3", label: text("Holidays"), host: text("example.org"), isPaused: true, events: 1,
                        minutes: 60),
                ],
                draft: Draft(values: ["url": text("ftp://nowhere")], problems: [.init(field: "url", code: .address)])),
            ask: "remove-s1")
        circle("subscriptions-empty", SubscriptionsPage(subscriptions: []))
        return all
    }

    /// What three of the apps take of an address.
    func links(_ url: String) -> [FeedPage.AppLink] {
        [
            FeedPage.AppLink(app: "apple", address: "webcal" + url.dropFirst(5), isLink: true),
            FeedPage.AppLink(
                app: "google", address: "https://calendar.google.com/calendar/r?cid=webcal%3A%2F%2Fexample.org%2Fa.ics",
                isLink: true),
            FeedPage.AppLink(app: "thunderbird", address: url, isLink: false),
        ]
    }

    func feed(url: String?) -> FeedPage {
        let programs = [
            "Apple Calendar (iOS)", "Google Calendar", "Thunderbird", "Outlook", "Home Assistant", "vdirsyncer or khal",
            "curl",
        ]
        return FeedPage(
            feed: feeds[url == nil ? 1 : 0], url: url, links: url.map(links) ?? [],
            tokenHint: "1eUo",
            accessCount: 12_345, createdAt: Self.hours(-4000), expiresAt: url == nil ? Self.hours(50) : nil,
            formerUntil: url == nil ? nil : Self.hours(30),
            clients: programs.enumerated().map { index, name in
                .init(
                    name: text(name), count: 4000 / (index + 1), lastSeenAt: Self.hours(-Double(index) - 0.1),
                    expectedAt: index == 4 ? nil : Self.hours(Double(index) + 0.3), isOverdue: index == 3)
            },
            reads: (0..<30).flatMap { day in
                programs.enumerated().map {
                    .init(
                        day: Self.today.adding(days: -day), client: text($1),
                        count: max(0, (24 - $0 * 3 + day * 5 % 7) * ($0 > 4 ? 0 : 1) + ($0 > 4 ? 1 : 0)))
                }
            },
            content: feedContent, preview: entries(),
            leftOut: [
                .init(rule: .kind, count: 3), .init(rule: .window, count: 1204),
                .init(rule: .costly, count: 1), .init(rule: .patient, count: 0),
            ])
    }

    private static let itemKinds: [EntryKind] = [.task, .shift, .appointment, .followUp]

    private var feedContent: [ContentField] {
        content(Self.itemKinds + [.imported, .personal, .planned]) + [
            ContentField("includeAttendees", .check, []), ContentField("includeAttachments", .check, []),
            ContentField("embedOrigins", .lines, ["https://family.example"]),
        ]
    }

    private var connectionContent: [ContentField] {
        content(Self.itemKinds) + [
            ContentField("twoWay", .check, ["true"]), ContentField("syncIntervalMinutes", .number(5...1440), ["15"]),
        ]
    }

    private func content(_ kinds: [EntryKind]) -> [ContentField] {
        [
            ContentField("kinds", .kinds(kinds), Self.itemKinds.map(\.rawValue)),
            ContentField("patients", .patients(patients), ["rose"]),
            ContentField("detail", .choice(["full", "titles", "busy"]), ["full"]),
            ContentField("completedTasks", .choice(["remove", "keep"]), ["remove"]),
            ContentField("includeReminders", .check, ["true"]), ContentField("pastDays", .number(0...3660), ["90"]),
            ContentField("futureDays", .number(0...3660), ["400"]),
        ]
    }

    private var connectionSamples: [Sample] {
        var all: [Sample] = []
        func add(_ name: String, _ page: ConnectionPage, ask: String? = nil, notice: Notice? = nil) {
            all.append(Sample(name: "connection-" + name, page: page, isCircle: true, ask: ask, notice: notice))
        }
        func page(_ own: ConnectionSummary, _ step: ConnectionPage.Step) -> ConnectionPage {
            ConnectionPage(connection: own, step: step, content: connectionContent)
        }
        add("google", page(connection(.google, .unauthorized, nil), .account))
        var caldav = page(connection(.caldav, .unauthorized, nil), .account)
        caldav.draft = Draft(
            values: ["url": text("https://dav.example.org"), "username": text("maria"), "password": "never-sent-back"],
            problems: [.init(field: "password", code: .credentials)])
        add("caldav", caldav)
        add(
            "calendar",
            page(
                connection(.google, .choosing, nil),
                .calendar(
                    [
                        .init(id: "a", name: text("Family"), canWrite: true),
                        .init(id: "b", name: text("CK - Rose Family"), canWrite: true, isOurs: true),
                        .init(id: "c", name: text("Holidays"), canWrite: false),
                    ], suggestedName: text("CK - Rose Family"))))
        add("content", page(connection(.google, .choosingContent, nil), .content))
        var fresh = page(connection(.google, .active, nil, running: true), .done(isNew: true))
        fresh.linked = 0
        add("new", fresh)
        var active = page(connection(.google, .active), .done(isNew: false))
        (active.linked, active.runs, active.history) = (148, runs, history)
        active.preview = (
            SyncCounts(created: 2, updated: 1, deleted: 1, pulled: 1),
            [
                .init(.create, title: text("CK: Refill prescriptions")),
                .init(.update, isInward: true, title: text("CK Appt: Rose - Dr. Patel")),
                .init(.delete, title: text("CK Shift: Rose - Jo")), .init(.conflict, title: ""),
            ]
        )
        add("active", active, ask: "disconnect", notice: Notice(.runUndone, undo: ("/app/undo", ["run": "r1"])))
        var held = page(
            connection(.caldav, .active, .partial, alerts: [.held(run: "r9", deletions: 14)]), .done(isNew: false))
        held.runs = [
            .init(
                id: "r9", state: .held, trigger: .schedule, startedAt: Self.hours(-0.5),
                counts: SyncCounts(updated: 2, deleted: 14))
        ]
        held.preview = (SyncCounts(), [])
        add("held", held)
        add("paused", page(connection(.outlook, .paused), .done(isNew: false)))
        return all
    }

    private var changes: [ActivityPage.Entry] {
        var before = ActivityPage.State(
            title: text("Dr. Patel"), span: Self.span(18, 19))
        (before.status, before.patient, before.person) = (.confirmed, text("Rose"), text("Maria"))
        (before.place, before.zone, before.rule) = (text("Heart Clinic"), text("Europe/Berlin"), "1")
        (before.reminders, before.notes) = ([15, 60], text("Fasting"))
        var after = before
        (after.title, after.rule, after.reminders) = (text("Dr. Lee"), "2", nil)
        (after.notes, after.place) = (String(repeating: text("Long "), count: 200), nil)
        let authors: [ActivityPage.Author] = [.person(text("Maria")), .application, .operatorAtHand, .server]
        let kinds = ActivityPage.Subject.allCases
        return kinds.enumerated().map { index, subject in
            var entry = ActivityPage.Entry(
                number: 100 - index, at: Self.hours(Double(-9 * index)), author: authors[index % 4],
                way: ActivityPage.Way.allCases[index % ActivityPage.Way.allCases.count], subject: subject,
                change: ActivityPage.Change.allCases[index % 4], name: index % 3 == 2 ? nil : text("Dr. Patel"),
                path: index % 2 == 0 ? "/app/circles/rose/appointments/a\(index)" : nil,
                before: index % 4 == 0 ? nil : before, after: index % 4 == 2 ? nil : after)
            (entry.isUndo, entry.isUndone, entry.isPart) = (index == 1, index == 2, index == 3)
            entry.mayUndo = index > 3 && index < 9
            return entry
        }
    }

    private var conflicts: [ConflictsPage.Conflict] {
        let ours = ConflictsPage.Side(
            title: text("CK Appt: Rose - Dr. Patel"), span: Self.span(18, 19),
            place: text("Heart Clinic"), notes: text("Fasting"))
        let theirs = ConflictsPage.Side(title: text("Dr Patel"), span: Self.span(20, 44))
        let gone = ConflictsPage.Side(title: text("CK Appt: Rose - Dr. Patel"), span: nil)
        return [
            .init(
                id: "k1", kind: .bothChanged, connection: connection(.google, .active), at: Self.hours(-1), ours: ours,
                theirs: theirs, kept: .theirs, occurrence: Self.hours(18)),
            .init(
                id: "k2", kind: .deletedThere, connection: connection(.outlook, .active), at: Self.hours(-30),
                ours: ours, theirs: gone, kept: .nothing, occurrences: 500),
            .init(
                id: "k3", kind: .editedThere, connection: connection(.caldav, .active), at: Self.hours(-50), ours: ours,
                theirs: theirs, kept: .ours),
            .init(
                id: "k4", kind: .unreadable, connection: connection(.apple, .active), at: Self.hours(-70), ours: ours,
                theirs: theirs, kept: .nothing),
            .init(
                id: "k5", kind: .editedThere, connection: connection(.google, .active), at: Self.hours(-90), ours: ours,
                theirs: theirs, kept: .ours, outcome: .kalends, resolvedAt: Self.hours(-88)),
        ]
    }

    private var importSamples: [Sample] {
        func sample(_ name: String, _ state: ImportPage.State, _ draft: Draft = Draft()) -> Sample {
            Sample(name: "import-" + name, page: ImportPage(state: state, draft: draft), isCircle: true)
        }
        let items = entries(12).enumerated().map { index, entry in
            ImportPage.Item(
                id: "i\(index)", number: 1000 + index, isLeftOut: index == 1, title: entry.title,
                span: index == 3 ? nil : entry.span,
                change: ImportPage.Change.allCases[index % 4])
        }
        let report = ImportPage.Report(
            id: "m1", fileName: text("club-matches-2026.ics"),
            counts: .init(
                created: 1042, updated: 1, unchanged: 3, skipped: 2, todos: 4, tasks: 1, journals: 2),
            first: Self.today, last: Self.today.adding(days: 400), items: items, start: 1000, count: 12, next: "c2",
            problems: [
                (0, .warning, "The file names no version."), (1204, .error, "DTSTART:2026-13-45 is not a valid date."),
                (88, .repaired, "A line was folded within a character."),
            ].map { .init(line: $0, severity: $1, sentence: Sentence(ofOthers: text($2))) }, moreProblems: 17,
            dropped: [
                .init(kind: .attendees, count: 1200), .init(kind: .attachments, count: 1),
                .init(kind: .other, property: "X-PRIORITY", count: 2),
            ], kept: [.attachments], makesTasks: true)
        return [
            sample(
                "start", .start,
                Draft(problems: [.init(field: "url", code: .unreachable), .init(field: "file", code: .missing)])),
            Sample(
                name: "import-earlier",
                page: ImportPage(
                    state: .start,
                    earlier: ImportPage.Earlier.State.allCases.enumerated().map { index, state in
                        .init(
                            id: "m\(index)", at: Self.hours(-3 * Double(index)), state: state,
                            counts: .init(created: index * 30, updated: index, unchanged: 0, skipped: 0),
                            canUndo: state == .committed)
                    }), isCircle: true),
            sample("failed", .failed(code: .tooLarge, detail: "64 MB")),
            sample("reading", .reading(id: "m1", progress: 42)),
            sample("committing", .committing(id: "m1", progress: 7)), sample("previewed", .previewed(report)),
            sample("committed", .committed(report)),
            sample("undone", .undone(kept: [text("Match against Rovers")])),
        ]
    }
}
