// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import KalendsCore
import Pages
import Storage

// Converts connections for the pages.

extension Provider {
    /// The providers that a page connects circle by circle.
    static let offered: [Provider] = [.google, .outlook, .caldav]

    init(_ provider: Connection.Provider) {
        self =
            switch provider {
            case .google: .google
            case .outlook: .outlook
            case .caldav: .caldav
            case .apple: .apple
            }
    }

    var stored: Connection.Provider {
        switch self {
        case .google: .google
        case .outlook: .outlook
        case .caldav: .caldav
        case .apple: .apple
        }
    }
}

extension Pages.ConnectionState {
    init(_ state: Connection.State) {
        self =
            switch state {
            case .unauthorized: .unauthorized
            case .choosing: .choosing
            case .active: .active
            case .paused: .paused
            case .needsReconnect: .needsReconnect
            case .calendarGone: .calendarGone
            }
    }
}

extension Connection {
    /// Whether the connection's calendar was chosen on a page, but not yet what is kept in step, so that it has never
    /// run.
    ///
    /// - Parameter hasRun: whether a run of the connection has begun, even if a pause ended it early.
    func waitsForContent(hasRun: Bool) -> Bool {
        state == .paused && provider != .apple && lastSyncAt == nil && failures == 0 && !hasRun
    }
}

extension ConnectionSummary {
    init(
        _ shown: Connections.Shown, _ settings: ConnectionSettings, hasRun: Bool = true, isRunning: Bool = false
    ) {
        let own = shown.own
        self.init(
            id: own.id, provider: Provider(own.provider), label: own.label ?? "", accountName: own.accountName,
            calendarName: own.calendarName,
            state: own.waitsForContent(hasRun: hasRun) ? .choosingContent : .init(own.state),
            isRunning: isRunning,
            lastSyncAt: own.lastSyncAt,
            lastOutcome: own.lastSyncStatus.flatMap { Pages.SyncOutcome(text: $0.rawValue) },
            nextSyncAt: own.nextSyncAt)
        let short = shown.attention.filter { $0.kind == .shortened }
        let shortCount = short.reduce(0) { $0 + ($1.item == nil ? $1.count ?? 0 : 1) }
        alerts = shown.attention.compactMap { attention in
            switch attention.kind {
            case .needsReconnect: .needsReconnect
            case .calendarGone: .calendarGone
            case .providerUnavailable:
                settings.missing(for: own.provider).first.map { .unavailable(setting: $0.variable) }
            case .heldRun where attention.count != nil: attention.runID.map { .shared(run: $0) }
            case .heldRun:
                attention.runID.map {
                    let hold = attention.hold
                    return .held(
                        run: $0, deletions: hold?.deletions ?? 0,
                        causes: hold.map { $0.causes == [.deletions] ? [] : $0.shown } ?? [])
                }
            case .openConflicts: .conflicts(attention.count ?? 1)
            case .heldBack:
                attention.item.map { .heldBack(title: $0.title, attention.shownProblem) }
                    ?? .moreHeldBack(attention.count ?? 1)
            // One for all: a calendar may keep less of very many.
            case .shortened:
                attention == short.first
                    ? attention.item.map { .shortened(shortCount, title: $0.title, attention.shownFields) } : nil
            case .failing: .failing(tries: attention.count ?? 1)
            }
        }
    }
}

extension Hold {
    /// The causes in the order in which a page says them.
    fileprivate var shown: [HoldCause] {
        [
            causes.contains(.restored) ? .restored : nil, causes.contains(.shared) ? .shared(shared ?? 0) : nil,
            causes.contains(.empty) ? .empty : causes.contains(.missing) ? .missing(missing) : nil,
            causes.contains(.deletions) ? .deletions(deletions) : nil,
        ].compactMap(\.self)
    }
}

extension ConnectionAttention {
    fileprivate var shownProblem: ConnectionProblem {
        problem.flatMap { ConnectionProblem(text: $0.rawValue) } ?? .refused
    }

    fileprivate var shownFields: [ConnectionField] { fields.compactMap { ConnectionField(text: $0.rawValue) } }
}
