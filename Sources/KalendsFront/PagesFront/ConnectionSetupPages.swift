// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync
import HTTPTypes
import Hummingbird
import KalendsCore
import Pages
import Storage

/// The steps that choose a connection's account, its calendar and what is kept in step.
struct ConnectionSetupPages: Sendable {
    private static let path = ConnectionPages.path

    func add(to routes: inout RouteTable) {
        routes.page(.post, Self.path + "/authorize", for: .connection, back: Self.path) { visit in
            let (_, shown) = try await ConnectionPages.own(visit)
            let caller = try visit.caller()
            let departure = try await visit.services.connections.authorize(
                shown.own.id, returnTo: ConnectionPages.place(of: shown.own), session: caller.session, for: caller)
            return visit.leave(to: departure.url)
        }
        routes.page(.post, Self.path + "/account", for: .connection, back: Self.path) { visit in
            let names = ["url", "username", "password"]
            return try await Self.taken(visit, names, step: .account) { id, caller in
                let body = JSONValue.object(
                    Dictionary(
                        uniqueKeysWithValues: names.map { (ByteString($0), .string(visit.form[$0] ?? "")) }))
                _ = try await visit.context.awaiting {
                    try await visit.services.connections.setAccount(
                        Connections.AccountDraft(body), of: id, for: caller)
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
            let content = ContentForm(
                form: visit.form, isConnection: true, kinds: visit.services.settings.kinds)
            let isFirst = visit.form.isOn("first")
            return try await Self.taken(
                visit, content.names, step: isFirst ? .content : .done(isNew: false), fields: ContentForm.fields
            ) { id, caller in
                var change = Connections.Change(content.body, content.kinds)
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
        let (circle, shown) = try await ConnectionPages.own(visit)
        do {
            return try await work(shown.own.id, try visit.caller())
        } catch let refusal as Refusal {
            guard let draft = Draft(refusal, of: visit.form, names, fields: fields) else { throw refusal }
            return try await ConnectionPages.page(visit, shown, in: circle, at: step, draft)
        }
    }
}

extension ConnectionPages {
    /// - Parameters:
    /// - step: the step of the set-up; nil for the one that the connection's state and the query select.
    /// - draft: the input of a form that was refused.
    static func page(
        _ visit: PageVisit, _ shown: Connections.Shown, in circle: Circle, at step: ConnectionPage.Step? = nil,
        _ draft: Draft = Draft()
    ) async throws -> Response {
        let (services, own) = (visit.services, shown.own)
        var draft = draft
        if draft.problems.isEmpty, let result = visit.query["result"], result != "connected" {
            draft.problems = [Draft.Problem(field: "", code: result == "denied" ? "denied" : "signInFailed")]
        }
        let runs = try await Self.runs(of: own.id, visit)
        var page = ConnectionPage(
            connection: ConnectionSummary(shown, runs, services.settings.connections), step: .account,
            settings: ContentSettings(
                try ConnectionConfiguration(stored: own.config, services.settings.kinds), services.settings.kinds),
            patients: try await FeedPages.patients(of: circle, visit), linked: shown.counts.linked,
            runs: runs.prefix(20).map { ConnectionPage.Run($0) },
            history: RunDay.days(of: runs, in: try await visit.zone(in: circle)))
        page.signInOrigin = services.settings.connections.signInOrigin(of: own.provider)
        let isAnswer = step != nil || !draft.problems.isEmpty
        page.step =
            if let step { step } else { try await Self.step(of: own, hasRun: !runs.isEmpty, circle, visit, &draft) }
        page.draft = draft
        if visit.query["preview"] != nil, own.state == .active, own.provider != .apple {
            page.preview = try await Self.preview(own, circle, visit)
        }
        let isFault = isAnswer && visit.request.method == .post
        return try await visit.page(
            page, status: isFault ? .unprocessableContent : .ok, in: circle, path: visit.filled(Self.path))
    }

    /// How many runs are read at a time for the chart of the last days, and at most: one every five minutes for a
    /// month.
    private static let runsAtOnce = 500
    private static let mostRuns = 9_000

    /// The runs of the last thirty days, the latest first.
    private static func runs(of id: String, _ visit: PageVisit) async throws -> [Connections.ListedRun] {
        let (services, caller) = (visit.services, try visit.caller())
        let since = services.now() - 31 * 86_400_000
        var all: [Connections.ListedRun] = []
        while all.count < mostRuns {
            let part = try await services.connections.runs(
                of: id, before: all.last?.row.number ?? Int.max, limit: runsAtOnce, for: caller)
            all += part
            guard part.count == runsAtOnce, let last = part.last, last.record.startedAt.milliseconds > since else {
                break
            }
        }
        return all
    }

    /// The next step of the set-up.
    private static func step(
        of own: Connection, hasRun: Bool, _ circle: Circle, _ visit: PageVisit, _ draft: inout Draft
    ) async throws -> ConnectionPage.Step {
        let asked = visit.query["step"]
        func isAsked(_ name: String) -> Bool { asked.map { $0 == name } ?? false }
        if own.provider == .apple { return .done(isNew: visit.query["new"] != nil) }
        if own.state == .unauthorized || isAsked("account") { return .account }
        if own.state == .choosing || isAsked("calendar") {
            do {
                let found = try await visit.context.awaiting {
                    try await visit.services.connections.calendars(of: own.id, for: try visit.caller())
                }
                let name = "\(visit.services.settings.titlePrefix) - \(circle.name)"
                return .calendar(
                    found.map {
                        ConnectionPage.RemoteCalendar(
                            id: $0.id, name: $0.name, canWrite: $0.canWrite, isOurs: $0.isOurs)
                    }, suggestedName: name)
            } catch let refusal as Refusal {
                guard let trouble = Draft(refusal, of: visit.form, []) else { throw refusal }
                draft.problems += trouble.problems
                return .account
            }
        }
        return isAsked("content") || own.waitsForContent(hasRun: hasRun)
            ? .content : .done(isNew: visit.query["new"] != nil)
    }

    /// The preview of a run at this moment, with the names of what it affects.
    private static func preview(
        _ own: Connection, _ circle: Circle, _ visit: PageVisit
    ) async throws -> (counts: Pages.SyncCounts, changes: [ConnectionPage.Change]) {
        let (services, caller) = (visit.services, try visit.caller())
        let (counts, items) = try await visit.context.awaiting {
            try await Syncing(services: services).preview(own.id, for: caller) {
                ($0.counts, Array($0.items.prefix(200)))
            }
        }
        let names = try await CircleDays.names(of: circle.id, for: caller, services)
        var changes: [ConnectionPage.Change] = []
        for item in items {
            guard let what = ConnectionPage.Change.What(text: item.change.rawValue) else { continue }
            var title = ""
            if let kind = services.settings.kinds[item.item.collection] {
                title =
                    (try? await services.schedule.get(item.item.id, kind, in: circle.id, for: caller))?
                    .content?.title(names) ?? ""
            }
            changes.append(ConnectionPage.Change(what, isInward: item.direction == .in, title: title))
        }
        return (Pages.SyncCounts(counts), changes)
    }
}
