// SPDX-License-Identifier: Apache-2.0

public enum Provider: String, Sendable, CaseIterable {
    case google, outlook, caldav, apple

    /// The provider's own name, which is the same in every language.
    public var name: String {
        switch self {
        case .google: "Google Calendar"
        case .outlook: "Outlook"
        case .caldav: "CalDAV"
        case .apple: "Apple Calendar"
        }
    }
}

public enum ConnectionState: String, Sendable, CaseIterable {
    case unauthorized, choosing, choosingContent, active, paused, needsReconnect, calendarGone
}

public enum SyncOutcome: String, Sendable, CaseIterable { case success, partial, failed }

public enum ConnectionAlert: Sendable {
    case needsReconnect
    case calendarGone
    /// The name of the setting that the operator has to set.
    case unavailable(setting: String)
    /// A run waits for a decision: because of this many deletions, or for another reason, in English.
    case held(run: String, deletions: Int, reason: String? = nil)
    case conflicts(Int)
    /// An item that the calendar does not show, or not as it is.
    case heldBack(title: String, reason: String)
    /// The number of further items like that.
    case moreHeldBack(Int)
    /// The number of items that the calendar keeps only in part, with one of them.
    case shortened(Int, title: String, reason: String)
    /// A run waits because another connection writes into the same calendar.
    case shared(run: String)
    case failing(tries: Int)
}

extension ConnectionAlert {
    /// Whether somebody should do something; what a calendar cannot keep is only to be known.
    var needsSomebody: Bool { if case .shortened = self { false } else { true } }

    /// Whether a run waits for a decision.
    var waits: Bool {
        switch self {
        case .held, .shared: true
        default: false
        }
    }
}

public struct ConnectionSummary: Sendable {
    public var id: String
    public var provider: Provider
    public var label: String
    public var accountName: String?
    public var calendarName: String?
    public var state: ConnectionState
    public var isRunning: Bool
    public var lastSyncAt: Int?
    public var lastOutcome: SyncOutcome?
    public var nextSyncAt: Int?
    public var alerts: [ConnectionAlert]

    public init(
        id: String, provider: Provider, label: String = "", accountName: String? = nil, calendarName: String? = nil,
        state: ConnectionState, isRunning: Bool = false, lastSyncAt: Int? = nil, lastOutcome: SyncOutcome? = nil,
        nextSyncAt: Int? = nil, alerts: [ConnectionAlert] = []
    ) {
        (self.id, self.provider, self.label, self.accountName) = (id, provider, label, accountName)
        (self.calendarName, self.state, self.isRunning, self.lastSyncAt) = (calendarName, state, isRunning, lastSyncAt)
        (self.lastOutcome, self.nextSyncAt, self.alerts) = (lastOutcome, nextSyncAt, alerts)
    }

    func path(_ paper: RenderContext) -> String { paper.circlePath("/connections/\(id.pathSegment)") }
}

extension RenderContext {
    func title(_ own: ConnectionSummary) -> String {
        own.label.isEmpty
            ? own.provider.name : words("connectionLabelled", ["provider": own.provider.name, "label": own.label])
    }

    func badge(_ own: ConnectionSummary) -> Node {
        switch own.state {
        case .unauthorized, .choosing, .choosingContent: return badge(.warning, "badgeUnfinished")
        case .paused: return badge(.off, "badgePaused")
        case .needsReconnect: return badge(.bad, "badgeReconnect")
        case .calendarGone: return badge(.bad, "badgeCalendarGone")
        case .active:
            if own.isRunning { return badge(.busy, "badgeSyncing") }
            if own.alerts.contains(where: \.waits) { return badge(.warning, "badgeHeld") }
            switch own.lastOutcome {
            case .success:
                return own.alerts.contains(where: \.needsSomebody)
                    ? badge(.warning, "badgeLook") : badge(.good, "badgeUpToDate")
            case .partial: return badge(.warning, "badgePartly")
            case .failed: return badge(.bad, "badgeFailed")
            case nil: return badge(.busy, "badgeFirst")
            }
        }
    }

    func line(_ own: ConnectionSummary) -> Node {
        switch own.state {
        case .unauthorized: return words.sentence("connectionLineUnauthorized", ["provider": .text(own.provider.name)])
        case .choosing: return words.sentence("connectionLineChoosing")
        case .choosingContent: return words.sentence("connectionLineContent")
        default: break
        }
        guard let at = own.lastSyncAt else { return words.sentence("connectionLineNever") }
        guard let next = own.nextSyncAt, own.state == .active, own.lastOutcome != nil else {
            return words.sentence("connectionLineLast", ["when": .time(times.moment(at))])
        }
        return words.sentence(
            "connectionLineNext", ["when": .time(times.moment(at)), "next": .time(times.moment(next))])
    }

    func alert(_ own: ConnectionAlert, of connection: ConnectionSummary) -> Node {
        let path = connection.path(self)
        let provider = Insert.text(connection.provider.name)
        switch own {
        case .needsReconnect:
            return alert(
                .bad,
                words.sentence(
                    connection.provider == .caldav ? "alertPassword" : "alertReconnect", ["provider": provider]),
                action: connection.provider == .caldav
                    ? linkButton("actEnterPassword", path + "?step=account") : .nothing,
                act: connection.provider == .caldav
                    ? .nothing : act("actSignInAgain", path + "/authorize", style: .primary))
        case .calendarGone:
            return alert(
                .bad, words.sentence("alertCalendarGone"),
                action: linkButton("actChooseCalendar", path + "?step=calendar", style: .primary))
        case .unavailable(let setting):
            return alert(
                .bad, words.sentence("alertUnavailable", ["provider": provider, "setting": .strong(setting)]))
        case .held(let run, let deletions, let reason):
            return alert(
                .warning,
                reason.map { words.sentence("alertHeldOtherwise", ["reason": .english($0)]) }
                    ?? words.sentence("alertHeld", count: deletions),
                action: linkButton("actLookAtRun", path + "?run=\(run.pathSegment)#held", style: .primary))
        case .conflicts(let count):
            return alert(
                .warning, words.sentence("alertConflicts", count: count),
                action: linkButton("actLookAtConflicts", circlePath("/conflicts"), style: .primary))
        case .heldBack(let title, let reason):
            return alert(
                .warning, words.sentence("alertHeldBack", ["title": .strong(title), "reason": .english(reason)]))
        case .moreHeldBack(let count): return alert(.warning, words.sentence("alertMoreHeldBack", count: count))
        case .shortened(let count, let title, let reason):
            return alert(
                .off,
                words.sentence(
                    "alertShortened", count: count, ["title": .strong(title), "reason": .english(reason)]))
        case .shared(let run):
            return alert(
                .warning, words.sentence("alertShared"),
                action: linkButton("actLookAtRun", path + "?run=\(run.pathSegment)#held", style: .primary))
        case .failing(let tries):
            return alert(.warning, words.sentence("alertFailing", count: tries))
        }
    }
}
