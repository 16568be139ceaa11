// SPDX-License-Identifier: Apache-2.0

extension SyncEngine {
    /// The maximum number of events in one request. A server accepts up to 5,000, but smaller requests are confirmed sooner.
    static let sentAtOnce = 500

    /// Sends events and deletions that the server does not have yet.
    func send(_ work: inout RunWork) async throws(Stop) {
        let planIndexes = work.plans.indices.filter { work.plans[$0].sending != nil }
        var next = 0
        while next < planIndexes.count {
            try Self.check()
            var request = SentRequest()
            while next < planIndexes.count, request.events.isEmpty || request.events.count < Self.sentAtOnce {
                request.add(work.plans[planIndexes[next]], planIndexes[next], work)
                next += 1
            }
            work.intend(request)
            try await save(work.state)
            let answer: UpsertAnswer
            do throws(CompanionFailure) {
                answer = try await service.upsert(
                    UpsertBody(sourceDevice: settings.deviceID, events: request.events.map(\.sent)))
            } catch {
                work.counts.queued += planIndexes.count - next + request.planIndexes.count
                throw .service(error)
            }
            work.take(answer, for: request)
            try await save(work.state)
        }
    }
}

/// The events of one request, and the plan to which each event belongs.
struct SentRequest: Sendable {
    struct Entry: Sendable {
        var planIndex: Int
        var sent: SentEvent
        /// The original start of a changed occurrence; nil for the event itself.
        var moment: EventMoment?
        /// What the server shows after it accepts the event; nil for a deletion.
        var content: EventContent?
    }

    private(set) var events: [Entry] = []
    private(set) var planIndexes: [Int] = []

    mutating func add(_ plan: SyncPlan, _ planIndex: Int, _ work: RunWork) {
        planIndexes.append(planIndex)
        switch plan.sending {
        case .deletion: addDeletion(plan, planIndex)
        case .event(let unit): add(unit, plan, planIndex, work.zones)
        case nil: break
        }
    }

    private mutating func addDeletion(_ plan: SyncPlan, _ planIndex: Int) {
        guard let view = plan.view else { return }
        for (moment, part) in [(nil, view.main)] + view.parts.map({ ($0.key as EventMoment?, $0.value) })
        where !part.isDeleted {
            var sent = SentEvent(
                externalId: part.externalId ?? view.externalID ?? part.id, title: part.title, date: part.date)
            sent.id = part.id
            sent.externalInstanceId = moment == nil ? nil : part.externalInstanceId
            sent.syncState = "deleted"
            sent.lastModified = plan.sentAs
            sent.turn = part.turn
            sent.updatedAt = part.updatedAt
            events.append(Entry(planIndex: planIndex, sent: sent, moment: moment, content: nil))
        }
    }

    private mutating func add(_ unit: EventUnit, _ plan: SyncPlan, _ planIndex: Int, _ zones: Zones) {
        guard let key = plan.event?.key else { return }
        let view = plan.view
        let isMapped = view.map { $0.externalID == key.externalID && !$0.isDeleted } ?? false
        if !isMapped || plan.remote?.content != unit.content {
            let old = view.flatMap { $0.isDeleted ? nil : plan.remote?.content }
            var sent = SentEvent(unit.content, externalID: key.externalID, changedFrom: old)
            sent.id = view?.main.id
            sent.turn = view?.main.turn
            sent.updatedAt = view?.main.updatedAt
            sent.externalCalendarId = key.calendarID
            if view?.main.isDeleted == true || !isMapped { sent.syncState = "linked" }
            sent.lastModified = plan.sentAs
            events.append(Entry(planIndex: planIndex, sent: sent, moment: nil, content: unit.content))
        }
        let moments = Set(unit.changed.keys).union(view.map { Set($0.parts.keys) } ?? [])
        for moment in moments.sorted() {
            let part = view?.parts[moment]
            let wanted = unit.part(.occurrence(moment))
            var content: EventContent?
            switch wanted {
            case .leftOut:
                guard let part, !part.isDeleted else { continue }
            default:
                guard unit.content.recurrence != nil else { continue }
                let regular = unit.content.occurrence(at: moment, zones)
                if case .changed(let changed) = wanted { content = changed } else { content = regular }
                let isThere = part.map { !$0.isDeleted && $0.externalId == key.externalID } ?? false
                if isThere, part?.content == content { continue }
            }
            var sent: SentEvent
            if let content {
                sent = SentEvent(content, externalID: key.externalID, changedFrom: nil)
                sent.syncState = "linked"
            } else {
                sent = SentEvent(externalId: key.externalID, title: part?.title ?? "", date: part?.date ?? "")
                sent.syncState = "deleted"
            }
            sent.id = part?.id
            sent.turn = part?.turn ?? view?.main.turn
            sent.updatedAt = part?.updatedAt
            sent.externalInstanceId = part?.externalInstanceId ?? moment.text
            sent.externalCalendarId = key.calendarID
            sent.lastModified = plan.sentAs.map { max($0, part?.updatedAt ?? 0) }
            events.append(Entry(planIndex: planIndex, sent: sent, moment: moment, content: content))
        }
    }
}

extension RunWork {
    /// Stores the ids under which events are about to be sent, since the response may be lost.
    fileprivate mutating func intend(_ request: SentRequest) {
        for index in request.planIndexes {
            let plan = plans[index]
            if let link = state.links.first(where: { $0.number == plan.link }) {
                if plan.putsBack {
                    state.noteOnce(.putBack, of: link, at: now, before: plan.remote, after: plan.unit)
                }
                if plan.sending == .deletion {
                    state.noteOnce(.deletedThere, of: link, at: now, before: plan.remote)
                }
            }
            guard let name = plan.event?.key.externalID else { continue }
            change(plan.link) { link in
                link.sentAs.removeAll { $0 == name }
                link.sentAs.append(name)
                if link.sentAs.count > 8 { link.sentAs.removeFirst() }
            }
        }
    }

    fileprivate mutating func change(_ number: Int, _ body: (inout Link) -> Void) {
        guard let index = state.links.firstIndex(where: { $0.number == number }) else { return }
        body(&state.links[index])
    }

    fileprivate mutating func take(_ answer: UpsertAnswer, for request: SentRequest) {
        var faults: [Int: [String]] = [:]
        for rejected in answer.rejected where request.events.indices.contains(rejected.index) {
            let codes = rejected.errors.map { $0.code ?? "rejected" }
            faults[request.events[rejected.index].planIndex, default: []] += codes.isEmpty ? ["rejected"] : codes
        }
        // The response lists all accepted events, but only the first of many rejected ones.
        let taken = Set(answer.events.map(\.index))
        for (index, entry) in request.events.enumerated() where entry.content != nil && !taken.contains(index) {
            if faults[entry.planIndex] == nil { faults[entry.planIndex] = ["rejected"] }
        }
        var eventIndexes: [ByteString: Int] = [:]
        for (index, event) in state.events.enumerated() { eventIndexes[event.id] = index }
        var ids: [Int: String] = [:]
        for taken in answer.events where request.events.indices.contains(taken.index) {
            let entry = request.events[taken.index]
            if entry.moment == nil { ids[entry.planIndex] = taken.id }
            if taken.syncState == "conflict" { change(plans[entry.planIndex].link) { $0.isInConflict = true } }
            show(entry, taken, &eventIndexes)
        }
        for planIndex in request.planIndexes {
            settle(planIndex, faults[planIndex], serverID: ids[planIndex], request)
        }
    }

    /// Applies what the server shows now, until it reports that itself.
    private mutating func show(
        _ entry: SentRequest.Entry, _ taken: UpsertAnswer.Accepted, _ eventIndexes: inout [ByteString: Int]
    ) {
        let plan = plans[entry.planIndex]
        var event = eventIndexes[taken.id].map { state.events[$0] }
        if event == nil {
            event = RemoteEvent(id: taken.id, title: "", date: entry.sent.date, updatedAt: 0)
            event?.provider = "apple"
        }
        guard var event else { return }
        // The version is an old one: the server changed nothing, and shows the same as before.
        if taken.updatedAt <= event.updatedAt { return }
        let isItem = plan.view?.isItem == true
        if let content = entry.content {
            event = event.showing(content)
            event.externalId = entry.sent.externalId
            event.externalInstanceId = entry.sent.externalInstanceId
        } else if !isItem {
            event.syncState = "deleted"
        }
        event.updatedAt = max(event.updatedAt, taken.updatedAt)
        if let index = eventIndexes[taken.id] {
            state.events[index] = event
        } else {
            eventIndexes[taken.id] = state.events.count
            state.events.append(event)
        }
    }

    private mutating func settle(_ index: Int, _ faults: [String]?, serverID: String?, _ request: SentRequest) {
        let plan = plans[index]
        plans[index].sending = nil
        let now = now
        if let faults, faults.contains("calendar-unread") {
            // The person switched reading off on the server: the event is not at fault, and is sent when they switch it
            // on again.
            pause = pause ?? .switchedOffThere
            counts.queued += 1
            return
        }
        if let faults {
            let isStale = faults.contains("stale")
            counts.failed += isStale ? 0 : 1
            change(plan.link) { link in
                if isStale {
                    (link.state, link.staleAt) = (.stale, plan.view?.updatedAt ?? 0)
                } else if case .event(let unit)? = plan.sending {
                    link.refused = Link.Refused(unit: unit, reasons: faults)
                }
            }
            return
        }
        guard let number = state.links.firstIndex(where: { $0.number == plan.link }) else { return }
        var link = state.links[number]
        link.serverID = serverID ?? link.serverID
        link.refused = nil
        switch plan.sending {
        case .event(let unit):
            counts.sent += 1
            if plan.view?.isDeleted == true { state.note(.revivedThere, of: link, at: now, before: nil, after: unit) }
            if plan.putsBack {
                link.putBack = plan.remote.map { Link.Refused(unit: $0, reasons: []) }
            }
            (link.local, link.remote) = (plan.unit, unit)
        case .deletion:
            counts.deletedThere += 1
            state.deletions.append(now)
            (link.state, link.key, link.missingSince) = (.away, nil, nil)
            link.remote = plan.remote
        case nil: break
        }
        state.links[number] = link
    }
}
