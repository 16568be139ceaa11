// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import Pages
import Storage

/// The steps that choose a connection's account, its calendar and what is kept in step.
struct ConnectionSetupPages: Sendable {
    private static let path = ConnectionPages.path

    func add(to routes: inout RouteTable) {
        routes.page(.post, Self.path + "/authorize", for: .connection, back: Self.path) { visit in
            let (own, caller) = (try await ConnectionPages.own(visit), try visit.caller())
            let authorization = try await visit.services.connections.authorize(
                own.id, returnTo: ConnectionPages.path(of: own), session: caller.session, for: caller)
            let page = ProviderPage(.leaving(address: authorization.url), provider: Provider(own.provider).name)
            return try await visit.page(page, refreshing: authorization.url, path: ConnectionPages.path(of: own))
        }
        routes.page(.post, Self.path + "/account", for: .connection, back: Self.path) { visit in
            let names = ["url", "username", "password"]
            return try await Self.taken(visit, names, step: .account) { id, caller in
                let body = JSONValue.object(
                    Dictionary(
                        uniqueKeysWithValues: names.map { (ByteString($0), .string(visit.form[$0] ?? "")) }))
                _ = try await visit.context.awaiting {
                    try await visit.services.connections.setAccount(
                        Connections.AccountDraft(body, visit.services.settings.kinds), of: id, for: caller)
                }
                return visit.redirect(to: visit.filled(Self.path))
            }
        }
        routes.page(.post, Self.path + "/calendar", for: .connection, back: Self.path) { visit in
            try await Self.taken(visit, ["calendarId", "name", "shareWith"], step: nil) { id, caller in
                let known = visit.form["calendarId"] ?? ""
                let name = visit.form["name"] ?? ""
                let made: JSONValue = name.isEmpty ? [:] : ["name": .string(name)]
                let body = JSONValue.object([
                    known.isEmpty ? "create" : "calendarId": known.isEmpty ? made : .string(known),
                    "shareWith": .bool(visit.form.isOn("shareWith")),
                ])
                _ = try await visit.context.awaiting {
                    try await visit.services.connections.choose(
                        { try Connections.CalendarChoice(body) }, of: id, waits: true, for: caller)
                }
                return visit.redirect(to: visit.filled(Self.path) + "?step=content")
            }
        }
        routes.page(.post, Self.path + "/settings", for: .connection, back: Self.path) { visit in
            let content = ContentForm<ConnectionConfiguration>(visit)
            let isFirst = visit.form.isOn("first")
            return try await Self.taken(
                visit, content.names, step: isFirst ? .content : .done(isNew: false), fields: content.renamed
            ) { id, caller in
                var change = Connections.Change(content.body(visit.form), content.kinds)
                // Nothing is sent before the person has chosen what may be.
                if isFirst { change.paused = false }
                _ = try await visit.services.connections.change(id, change, if: .none, for: caller)
                return isFirst
                    ? visit.redirect(to: visit.filled(Self.path) + "?new=1")
                    : visit.redirect(to: visit.filled(Self.path), done: .connectionChanged)
            }
        }
    }

    /// Performs what a form asks for; a form with faults is shown again at its step.
    private static func taken(
        _ visit: PageVisit, _ names: [String], step: ConnectionPage.Step?, fields: [(own: String, field: String)] = [],
        _ work: (_ connection: String, Caller) async throws -> Response
    ) async throws -> Response {
        let own = try await ConnectionPages.own(visit)
        do {
            return try await work(own.id, try visit.caller())
        } catch let refusal as Refusal {
            guard let draft = Draft(refusal, of: visit.form, names, fields: fields) else { throw refusal }
            return try await ConnectionPages.page(visit, at: step, draft)
        }
    }
}

extension ConnectionPages {
    /// - Parameters:
    ///   - step: the step of the set-up; nil for the one that the connection's state and the query select.
    ///   - draft: the input of a form that was refused.
    static func page(
        _ visit: PageVisit, at step: ConnectionPage.Step? = nil, _ draft: Draft = Draft()
    ) async throws -> Response {
        let (settings, now, id) = (visit.services.settings, visit.services.now(), try visit.id("connection"))
        var draft = draft
        if draft.problems.isEmpty, let result = visit.query["result"], result != "connected" {
            draft.problems = [Draft.Problem(field: "", code: result == "denied" ? .denied : .signInFailed)]
        }
        let isAnswer = step != nil || !draft.problems.isEmpty
        var ((page, own), visitor) = try await visit.read(isLarge: true) { [draft] circle, visitor in
            let shown = try circle.shownConnection(id, settings.connections)
            let (own, runs) = (shown.own, try Self.runs(of: shown.own, in: circle, now: now))
            var page = ConnectionPage(
                connection: ConnectionSummary(shown, runs, settings.connections),
                step: step ?? Self.step(of: own, hasRun: !runs.isEmpty, circle.circle, visit),
                content: ContentForm(kinds: settings.kinds).fields(
                    try ConnectionConfiguration(stored: own.config, settings.kinds),
                    patients: try FeedPages.patients(of: circle)), linked: shown.counts.linked,
                runs: runs.prefix(20).map { ConnectionPage.Run($0) },
                history: RunDay.days(of: runs, in: visitor.zone))
            page.draft = draft
            return (page, own)
        }
        if step == nil, case .calendar(_, let name) = page.step {
            page.step = try await Self.calendars(of: id, suggestedName: name, visit, &page.draft)
        }
        if visit.query["preview"] != nil, own.state == .active, own.provider != .apple {
            page.preview = try await Self.preview(of: id, visit)
        }
        let isFault = isAnswer && visit.request.method == .post
        return try await visit.page(
            (page, visitor), status: isFault ? .unprocessableContent : .ok, path: visit.filled(Self.path))
    }

    /// How many runs are read at a time for the chart of the last days, and at most: one every five minutes for a
    /// month.
    private static let runsAtOnce = 500
    private static let mostRuns = 9_000

    /// The runs of the last thirty days, the latest first.
    private static func runs(
        of own: Connection, in circle: AuthorizedCircle, now: Int
    ) throws -> [Connections.ListedRun] {
        let since = now - 31 * 86_400_000
        var all: [Connections.ListedRun] = []
        while all.count < mostRuns {
            let part = try circle.runs(of: own, before: all.last?.row.number ?? Int.max, limit: runsAtOnce)
            all += part
            guard part.count == runsAtOnce, let last = part.last, last.record.startedAt.milliseconds > since else {
                break
            }
        }
        return all
    }

    /// The next step of the set-up; that of the calendar is without the account's calendars.
    private static func step(
        of own: Connection, hasRun: Bool, _ circle: Circle, _ visit: PageVisit
    ) -> ConnectionPage.Step {
        let asked = visit.query["step"]
        func isAsked(_ name: String) -> Bool { asked.map { $0 == name } ?? false }
        if own.provider == .apple { return .done(isNew: visit.query["new"] != nil) }
        if own.state == .unauthorized || isAsked("account") { return .account }
        if own.state == .choosing || isAsked("calendar") {
            return .calendar([], suggestedName: "\(visit.services.settings.titlePrefix) - \(circle.name)")
        }
        return isAsked("content") || own.waitsForContent(hasRun: hasRun)
            ? .content : .done(isNew: visit.query["new"] != nil)
    }

    /// The step with the account's calendars; the step before if its provider does not give them.
    private static func calendars(
        of id: String, suggestedName name: String, _ visit: PageVisit, _ draft: inout Draft
    ) async throws -> ConnectionPage.Step {
        do {
            let found = try await visit.context.awaiting {
                try await visit.services.connections.calendars(of: id, for: try visit.caller())
            }
            return .calendar(
                found.map {
                    ConnectionPage.RemoteCalendar(id: $0.id, name: $0.name, canWrite: $0.canWrite, isOurs: $0.isOurs)
                }, suggestedName: name)
        } catch let refusal as Refusal {
            guard let trouble = Draft(refusal, of: visit.form, []) else { throw refusal }
            draft.problems += trouble.problems
            return .account
        }
    }

    /// The preview of a run at this moment, with the names of what it affects.
    private static func preview(
        of id: String, _ visit: PageVisit
    ) async throws -> (counts: Pages.SyncCounts, changes: [ConnectionPage.Change]) {
        let kinds = visit.services.settings.kinds
        let (counts, items) = try await visit.context.awaiting {
            try await visit.services.syncing.preview(id, for: try visit.caller()) {
                ($0.counts, Array($0.items.prefix(200)))
            }
        }
        let (changes, _) = try await visit.read { circle, _ in
            let names = try circle.names
            return items.compactMap { item -> ConnectionPage.Change? in
                guard let what = ConnectionPage.Change.What(text: item.change.rawValue) else { return nil }
                let found = kinds[item.item.collection].flatMap { try? circle.item(item.item.id, $0) }
                return ConnectionPage.Change(
                    what, isInward: item.direction == .in, title: found?.content?.title(names) ?? "")
            }
        }
        return (Pages.SyncCounts(counts), changes)
    }
}
