// SPDX-License-Identifier: Apache-2.0

import Calendar
import Foundation
import OfficeDays

@testable import KalendsCompanion

/// A small model of the server's rules for devices, with a person's own events and items of a circle.
final class ModelServer: CompanionService {
    struct Stored: Sendable {
        var event: RemoteEvent
        var changedAt: Int
        /// Nil for a person's own event.
        var kind: Kind?
    }

    enum Kind: Sendable { case task, appointment }

    enum Trouble: Sendable { case offline, lostAnswer, serverError }

    fileprivate struct State: Sendable {
        var events: [String: Stored] = [:]
        var last = 0
        var made = 0
        var trouble: Trouble?
        var upserts = 0
        var isCarriedHere = true
    }

    let clock: Shared<Int>
    private let state = Shared(State())

    init(_ clock: Shared<Int>) { self.clock = clock }

    var trouble: Trouble? {
        get { state.now.trouble }
        set { state.with { $0.trouble = newValue } }
    }

    var all: [Stored] { state.now.events.values.sorted { $0.event.id < $1.event.id } }
    var upserts: Int { state.now.upserts }

    // MARK: What pages do

    @discardableResult
    func create(_ kind: Kind?, _ make: (inout RemoteEvent) -> Void) -> String {
        state.with { state in
            state.made += 1
            let id = "e\(state.made)"
            var event = RemoteEvent(id: id, title: "", date: "2026-06-01", updatedAt: 0)
            (event.provider, event.syncState) = ("manual", "linked")
            if let kind {
                event.circleId = "c"
                event.collection = kind == .task ? "tasks" : "appointments"
                event.itemId = "i\(state.made)"
                event.connectionId = "n"
                event.turn = 1
                event.mark = "kalends:/x/n/c/\(kind == .task ? "tasks" : "appointments")/i\(state.made)/0"
            }
            make(&event)
            state.store(Stored(event: event, changedAt: clock.now, kind: kind), clock.now)
            return id
        }
    }

    func change(_ id: String, _ body: (inout RemoteEvent) -> Void) {
        state.with { state in
            guard var stored = state.events[id] else { return }
            body(&stored.event)
            // What stays away comes back when its item changes.
            if stored.event.syncState == "ignored" { stored.event.syncState = "linked" }
            stored.changedAt = clock.now
            state.store(stored, clock.now)
        }
    }

    /// Ends the connection, whose events stay on the phone; a new one shows the same items under the same marks.
    func reconnect(as name: String) {
        state.with { state in
            for (id, old) in state.events where old.kind != nil {
                state.events[id] = nil
                guard !old.event.isDeleted else { continue }
                state.made += 1
                var stored = old
                var event = RemoteEvent(id: "e\(state.made)", title: "", date: "", updatedAt: 0)
                event.show(old.event)
                (event.provider, event.syncState, event.turn) = ("manual", "pending", 1)
                event.circleId = old.event.circleId
                (event.collection, event.itemId) = (old.event.collection, old.event.itemId)
                (event.connectionId, event.mark) = (name, old.event.mark)
                stored.event = event
                state.store(stored, clock.now)
            }
        }
    }

    /// Makes another device carry the items from now on, or this one again.
    func carry(here: Bool) {
        state.with { state in
            state.isCarriedHere = here
            for var stored in state.events.values where stored.kind != nil {
                stored.event.turn = (stored.event.turn ?? 1) + 1
                (stored.event.provider, stored.event.externalId) = ("manual", nil)
                stored.event.syncState = "pending"
                state.store(stored, clock.now)
            }
        }
    }

    func delete(_ id: String) {
        state.with { state in
            guard var stored = state.events[id] else { return }
            (stored.event.syncState, stored.event.deletedAt) = ("deleted", clock.now)
            stored.changedAt = clock.now
            state.store(stored, clock.now)
        }
    }

    // MARK: What devices do

    private func arrive() throws(CompanionFailure) {
        switch state.now.trouble {
        case .offline: throw .offline
        case .serverError: throw .server(status: 503, retryAfter: nil)
        case .lostAnswer, nil: break
        }
    }

    func status() async throws(CompanionFailure) -> ServiceStatus {
        try arrive()
        return ServiceStatus(user: "u", serverTime: clock.now)
    }

    func changes(since: Int, limit: Int) async throws(CompanionFailure) -> ChangePage {
        try arrive()
        let now = state.now
        let later = now.events.values.filter { $0.kind == nil || now.isCarriedHere }.map(\.event)
            .filter { $0.updatedAt > since }
            .sorted { $0.updatedAt < $1.updatedAt }
        // Small pages, so that histories have borders.
        let page = Array(later.prefix(min(limit, 7)))
        return ChangePage(
            events: page, serverTime: clock.now, nextSince: page.last?.updatedAt ?? since,
            hasMore: page.count < later.count)
    }

    func upsert(_ body: UpsertBody) async throws(CompanionFailure) -> UpsertAnswer {
        try arrive()
        var answer = UpsertAnswer(
            created: 0, updated: 0, unchanged: 0, rejected: [], events: [], serverTime: clock.now)
        state.with { state in
            state.upserts += body.events.count
            for (index, sent) in body.events.enumerated() {
                let before = state.last
                if let known = sent.id.flatMap({ state.events[$0] }), known.kind != nil,
                    !state.isCarriedHere || sent.turn != known.event.turn
                {
                    answer.rejected.append(
                        .init(
                            index: index, externalId: sent.externalId,
                            errors: [.init(pointer: "/events/\(index)/externalId", code: "stale")]))
                    continue
                }
                guard let stored = state.take(sent, body.sourceDevice, clock.now) else {
                    answer.unchanged += 1
                    continue
                }
                if state.last == before { answer.unchanged += 1 } else { answer.updated += 1 }
                answer.events.append(
                    .init(index: index, id: stored.event.id, updatedAt: stored.event.updatedAt))
            }
        }
        if state.now.trouble == .lostAnswer { throw .timedOut }
        return answer
    }

    func upsertPlanned(_ body: PlannedBody) async throws(CompanionFailure) -> PlannedAnswer {
        throw .refused(status: 404, code: "notFound")
    }

    func register(_ device: DeviceRegistration) async throws(CompanionFailure) -> RegisteredDevice {
        throw .refused(status: 404, code: "notFound")
    }
}

extension ModelServer.State {
    fileprivate mutating func store(_ stored: ModelServer.Stored, _ now: Int) {
        var stored = stored
        last = max(now, last + 1)
        stored.event.updatedAt = last
        events[stored.event.id] = stored
    }

    /// Takes one event of an upsert; returns nil for the deletion of an unknown one.
    fileprivate mutating func take(_ sent: SentEvent, _ device: String?, _ now: Int) -> ModelServer.Stored? {
        let instance = sent.externalInstanceId.flatMap { EventMoment($0) }
        let known =
            events.values.first { stored in
                stored.event.provider == "apple" && stored.event.externalId == sent.externalId
                    && stored.event.externalInstanceId.flatMap { EventMoment($0) } == instance
            } ?? sent.id.flatMap { events[$0] }
        let time = min(sent.lastModified ?? now, now)
        guard var stored = known else {
            guard sent.syncState != "deleted" else { return nil }
            made += 1
            var event = RemoteEvent(id: "e\(made)", title: "", date: sent.date, updatedAt: 0)
            event.apply(sent)
            event.link(sent, device)
            store(.init(event: event, changedAt: time, kind: nil), now)
            return events["e\(made)"]
        }
        let before = stored.event
        if stored.kind != nil { return takeItem(sent, stored, now) }
        let isLate = time < stored.changedAt
        if sent.syncState == "deleted" {
            guard !isLate, !before.isDeleted else { return stored }
            (stored.event.syncState, stored.event.deletedAt, stored.changedAt) = ("deleted", time, time)
            store(stored, now)
            return events[before.id]
        }
        if isLate, before.isDeleted { return stored }
        let isLinking = sent.externalId != before.externalId
        if isLate, !isLinking { return stored }
        if !isLate { stored.event.apply(sent) }
        if before.isDeleted { (stored.event.syncState, stored.event.deletedAt) = ("linked", nil) }
        stored.event.link(sent, device)
        if stored.event == before { return stored }
        if !isLate { stored.changedAt = time }
        store(stored, now)
        return events[before.id]
    }

    /// Takes a change of an item: Kalends decides everything but an appointment's times.
    private mutating func takeItem(_ sent: SentEvent, _ old: ModelServer.Stored, _ now: Int) -> ModelServer.Stored? {
        var stored = old
        if sent.syncState == "deleted" {
            guard !old.event.isDeleted, old.event.syncState != "ignored" else { return old }
            stored.event.syncState = "ignored"
            store(stored, now)
            return events[old.event.id]
        }
        if old.event.isDeleted { return old }
        stored.event.link(sent, nil)
        var said = old.event
        said.apply(sent)
        if old.kind == .appointment,
            sent.updatedAt ?? 0 >= old.event.updatedAt || sent.lastModified ?? 0 > old.changedAt
        {
            (stored.event.date, stored.event.endDate) = (said.date, said.endDate)
            (stored.event.startTime, stored.event.endTime) = (said.startTime, said.endTime)
            (stored.event.timeZone, stored.event.allDay) = (said.timeZone, said.allDay)
            stored.event.recurrence = said.recurrence
        }
        if stored.event != old.event { stored.changedAt = max(old.changedAt, min(sent.lastModified ?? now, now)) }
        // What was said and does not hold comes again as the item's event.
        let isPutBack = said.content != stored.event.content
        if stored.event != old.event || isPutBack { store(stored, now) }
        return events[old.event.id]
    }
}

extension RemoteEvent {
    /// Takes over the part of another event that a person sees.
    fileprivate mutating func show(_ other: RemoteEvent) {
        (title, date, endDate) = (other.title, other.date, other.endDate)
        (startTime, endTime, timeZone, allDay) = (other.startTime, other.endTime, other.timeZone, other.allDay)
        (description, location, recurrence) = (other.description, other.location, other.recurrence)
    }

    /// Applies a sent event: a missing field stays, and an empty text clears it.
    fileprivate mutating func apply(_ sent: SentEvent) {
        func text(_ new: String?, _ old: String?) -> String? { new.map { $0.isEmpty ? nil : $0 } ?? old }
        if let day = Day(iso: sent.date), let old = Day(iso: date), let last = endDate.flatMap({ Day(iso: $0) }) {
            endDate = last.adding(days: day.daysSinceEpoch - old.daysSinceEpoch).description
        }
        title = sent.title.allSatisfy(\.isWhitespace) ? "Untitled" : sent.title
        date = sent.date
        endDate = text(sent.endDate, endDate)
        startTime = text(sent.startTime, startTime)
        endTime = text(sent.endTime, endTime)
        timeZone = text(sent.timeZone, timeZone)
        if sent.allDay == true { (startTime, endTime) = (nil, nil) }
        allDay = startTime == nil
        description = text(sent.description, description)
        location = text(sent.location, location)
        if let sent = sent.recurrence {
            let isNone = sent.rrule == nil && sent.rdates?.isEmpty ?? true
            recurrence = isNone ? nil : sent
        }
    }

    fileprivate mutating func link(_ sent: SentEvent, _ device: String?) {
        provider = "apple"
        externalId = sent.externalId
        externalInstanceId = sent.externalInstanceId
        externalCalendarId = sent.externalCalendarId ?? externalCalendarId
        syncState = sent.syncState ?? syncState ?? "linked"
        sourceDevice = device ?? sourceDevice
    }
}
