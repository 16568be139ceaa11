// SPDX-License-Identifier: Apache-2.0

/// The changes that a run of a connection made or would make.
public struct SyncCounts: Sendable {
    public var created: Int
    public var updated: Int
    public var deleted: Int
    public var pulled: Int
    public var conflicts: Int
    public var failed: Int

    public init(
        created: Int = 0, updated: Int = 0, deleted: Int = 0, pulled: Int = 0, conflicts: Int = 0, failed: Int = 0
    ) {
        (self.created, self.updated, self.deleted, self.pulled) = (created, updated, deleted, pulled)
        (self.conflicts, self.failed) = (conflicts, failed)
    }
}

/// `/app/circles/{circle}/connections/{connection}`: the set-up of a connection, and its later runs.
public struct ConnectionPage: Page {
    public struct RemoteCalendar: Sendable {
        public var id: String
        public var name: String
        public var canWrite: Bool
        public var isOurs: Bool

        public init(id: String, name: String, canWrite: Bool, isOurs: Bool = false) {
            (self.id, self.name, self.canWrite, self.isOurs) = (id, name, canWrite, isOurs)
        }
    }

    public struct Run: Sendable {
        public enum State: String, Sendable, CaseIterable { case running, done, held, failed }
        public enum Trigger: String, Sendable, CaseIterable { case schedule, manual, push, first }

        public var id: String
        public var state: State
        public var outcome: SyncOutcome?
        public var trigger: Trigger
        public var startedAt: Int
        public var counts: SyncCounts
        public var problem: ConnectionProblem?
        public var canUndo: Bool

        public init(
            id: String, state: State, outcome: SyncOutcome? = nil, trigger: Trigger, startedAt: Int, counts: SyncCounts,
            problem: ConnectionProblem? = nil, canUndo: Bool = false
        ) {
            (self.id, self.state, self.outcome, self.trigger, self.startedAt) = (id, state, outcome, trigger, startedAt)
            (self.counts, self.problem, self.canUndo) = (counts, problem, canUndo)
        }
    }

    public struct Change: Sendable {
        public enum What: String, Sendable, CaseIterable { case create, update, delete, conflict }

        public var what: What
        public var isInward: Bool
        public var title: String

        public init(_ what: What, isInward: Bool = false, title: String) {
            (self.what, self.isInward, self.title) = (what, isInward, title)
        }
    }

    public enum Step: Sendable {
        /// Signing in at the provider, or an address and password for CalDAV.
        case account
        case calendar([RemoteCalendar], suggestedName: String)
        case content
        /// The connection is set up; `isNew` right after the last step.
        case done(isNew: Bool)
    }

    public var connection: ConnectionSummary
    public var step: Step
    public var content: [ContentField]
    public var linked: Int
    public var runs: [Run]
    public var history: [RunDay]
    /// The changes of the next run; nil unless somebody asked for them.
    public var preview: (counts: SyncCounts, changes: [Change])?
    public var draft: Draft

    public init(
        connection: ConnectionSummary, step: Step, content: [ContentField], linked: Int = 0,
        runs: [Run] = [], history: [RunDay] = [], preview: (counts: SyncCounts, changes: [Change])? = nil,
        draft: Draft = Draft()
    ) {
        (self.connection, self.step, self.content) = (connection, step, content)
        (self.linked, self.runs, self.history, self.preview, self.draft) = (linked, runs, history, preview, draft)
    }

    public func sheet(_ paper: RenderContext) -> PageContent {
        let words = paper.words
        let isSetUp = if case .done = step { true } else { false }
        var content: [String: Node] = [
            "badge": paper.badge(connection), "line": paper.line(connection),
            "alerts": .list(connection.alerts.map { paper.alert($0, of: connection) }),
            "disconnect": paper.question("disconnect", "actDisconnect", style: .danger),
            "disconnectDialog": disconnectDialog(paper), "isSetUp": .flag(isSetUp),
        ]
        var fields: [Field] = []
        switch step {
        case .account:
            content["stepper"] = paper.stepper(Self.steps, at: 0)
            fields = connection.provider == .caldav ? accountFields(paper) : []
            content["account"] = accountStep(paper, fields)
        case .calendar(let calendars, let name):
            content["stepper"] = paper.stepper(Self.steps, at: 1)
            fields = calendarFields(paper, calendars, name)
            content["calendar"] = [
                "form": paper.form(
                    "connection", connection.path(paper) + "/calendar", fields, submit: "actContinue", draft: draft)
            ]
        case .content:
            content["stepper"] = paper.stepper(Self.steps, at: 2)
            fields = paper.fields(self.content, kinds: "synced")
            content["content"] = [
                "form": paper.form(
                    "connection", connection.path(paper) + "/settings", fields, submit: "actFinishSetUp", draft: draft,
                    values: ["first": "true"])
            ]
        case .done(let isNew):
            fields = settingsFields(paper)
            content.merge(later(paper, isNew: isNew, fields)) { _, new in new }
        }
        let isRunning = connection.isRunning
        return PageContent(
            template: "connection", title: paper.title(connection), isName: true, section: .sync, content: content,
            scripts: isRunning ? ["progress"] : [],
            crumbs: [(words["syncTitle"], paper.circlePath("/calendar-sync"))],
            problems: isSetUp
                ? paper.problems(draft, inGroupsOf: "connection", fields)
                : paper.problems(draft, in: "connection", fields), reloads: isRunning ? 5 : nil)
    }

    private static let steps = ["stepAccount", "stepCalendar", "stepContent"]

    private func accountFields(_ paper: RenderContext) -> [Field] {
        let words = paper.words
        return [
            Field("url", words["caldavURL"], Field.address, hint: words["caldavURLHint"], isRequired: true),
            Field("username", words["caldavUser"], Field.text(autocomplete: "username"), isRequired: true),
            Field(
                "password", words["caldavPassword"], .line(type: "password", autocomplete: "current-password"),
                hint: words["caldavPasswordHint"], isRequired: true),
        ]
    }

    private func accountStep(_ paper: RenderContext, _ fields: [Field]) -> Node {
        let words = paper.words
        guard connection.provider != .caldav else {
            return [
                "text": .text(words["accountCalDAV"]),
                "form": paper.form(
                    "connection", connection.path(paper) + "/account", fields, submit: "actContinue", draft: draft),
            ]
        }
        return [
            "text": .text(
                words("accountSignIn", ["provider": connection.provider.name, "app": paper.frame.brand.name])),
            "act": paper.act(
                "actSignInAt", connection.path(paper) + "/authorize", style: .primary,
                ["provider": connection.provider.name]),
        ]
    }

    private func calendarFields(_ paper: RenderContext, _ calendars: [RemoteCalendar], _ name: String) -> [Field] {
        let words = paper.words
        let usable = calendars.filter(\.canWrite)
        // Asked only of somebody who chose a calendar into which another connection writes.
        let shares = draft.problems.contains { $0.code == .shared }
        return [
            Field(
                "calendarId", words["chooseCalendar"],
                .radio(
                    [Choice(value: "", label: words["chooseNew"], hint: words["chooseNewHint"])]
                        + usable.map {
                            Choice(value: $0.id, label: $0.name, hint: $0.isOurs ? words["chooseOurs"] : nil)
                        }), value: usable.first(where: \.isOurs)?.id ?? "",
                hint: usable.count < calendars.count
                    ? words("chooseReadOnly", count: calendars.count - usable.count) : nil),
            Field("name", words["chooseNewName"], Field.text(), value: name, most: TextLength.line),
        ] + (shares ? [Field("shareWith", words["chooseShared"], .check)] : [])
    }

    private func settingsFields(_ paper: RenderContext) -> [Field] {
        [
            Field(
                "label", paper.words["connectionLabel"], Field.text(), value: connection.label,
                hint: paper.words["connectionLabelHint"], most: TextLength.line)
        ] + paper.fields(self.content, kinds: "synced")
    }

    private func disconnectDialog(_ paper: RenderContext) -> Node {
        let words = paper.words
        let provider = ["provider": connection.provider.name]
        return paper.dialog(
            "disconnect", words("askDisconnect", provider), [words("askDisconnectText", provider)],
            paper.form(
                "disconnect-form", connection.path(paper) + "/delete",
                [
                    Field(
                        "events", words["disconnectEvents"],
                        .radio(paper.choices([("keep", "disconnectKeep"), ("remove", "disconnectRemove")])),
                        value: "keep")
                ], submit: "actDisconnect", style: .danger))
    }
}
