// SPDX-License-Identifier: Apache-2.0

import Calendar

/// Decides what has to be done for each link.
extension RunWork {
    mutating func decide() {
        for index in state.links.indices {
            var link = state.links[index]
            if let plan = decide(&link) { plans.append(plan) }
            state.links[index] = link
        }
        state.links.removeAll { ended.contains($0.number) }
    }

    private mutating func decide(_ link: inout Link) -> SyncPlan? {
        let view = remote[link.serverID]
        if link.state == .stale {
            guard let view, view.updatedAt > link.staleAt ?? .max, !view.isDeleted else { return nil }
            link.state = .linked
        }
        if view?.main.syncState == "conflict" { link.isInConflict = true }
        switch findings[link.number] ?? .unknown {
        case .unknown: return nil
        case .outOfScope:
            ended.insert(link.number)
            return nil
        case .released(let event):
            if let mirror, mirror.id != event.key.calendarID, unmarking.contains(event.key.calendarID) {
                // The account dropped the mark, and the person has chosen another calendar since.
                (link.state, link.key) = (.linked, nil)
                return absent(&link, view)
            }
            (link.state, link.key, link.missingSince) = (.released, event.key, nil)
            if view?.isDeleted ?? true { ended.insert(link.number) }
            return nil
        case .found(let event):
            link.missingSince = nil
            return found(event, &link, view)
        case .missing:
            return missing(&link, view)
        case .absent:
            return absent(&link, view)
        }
    }

    // MARK: The event was found

    private mutating func found(_ event: StoreEvent, _ link: inout Link, _ view: RemoteView?) -> SyncPlan? {
        link.key = event.key
        let unit = event.unit.completed(by: link.local, outside: event.known, zones).canonical(zones)
        var plan = SyncPlan(link: link.number, event: event, unit: unit, view: view)
        let edited = event.lastModified.map { $0 + state.serverAhead }
        if link.state == .released { link.state = .linked }
        if link.state == .away {
            // The person restored the event.
            link.state = .linked
            (link.local, link.remote) = (nil, nil)
        }
        guard let view else {
            guard link.origin == .calendar else { return nil }
            plan.sentAs = edited
            return sending(unit, plan, link)
        }
        guard let server = view.unit(zones) else {
            counts.failed += 1
            return nil
        }
        plan.remote = server
        if view.isDeleted { return foundDeletedThere(plan, unit, server, edited, &link) }
        link.state = .linked
        if link.origin == .server, !view.isItem, let name = view.externalID, name != event.key.externalID,
            !link.sentAs.contains(name)
        {
            // Another device made the event first, and its event is the one that counts.
            plan.write = .remove
            plan.ends = true
            return plan
        }
        return merged(plan, unit, server, edited, &link)
    }

    private mutating func foundDeletedThere(
        _ plan: SyncPlan, _ unit: EventUnit, _ server: EventUnit, _ edited: Int?, _ link: inout Link
    ) -> SyncPlan? {
        var plan = plan
        let isEdited = link.local.map { $0 != unit } ?? false
        switch link.origin {
        case .server:
            let later = EditSide.later(kalends: plan.view?.updatedAt, calendar: edited)
            if isEdited, later == .calendar, plan.view?.isItem == false {
                plan.sentAs = edited
                return sending(unit, plan, link)
            }
            (plan.write, plan.ends) = (.remove, true)
            return plan
        case .calendar:
            if isEdited {
                link.state = .linked
                return sending(unit, plan, link)
            }
            if link.state != .withheld {
                state.note(.deletedThere, of: link, at: now, before: server)
                (link.state, link.local, link.remote) = (.withheld, unit, server)
            }
            return nil
        }
    }

    private mutating func merged(
        _ plan: SyncPlan, _ unit: EventUnit, _ server: EventUnit, _ edited: Int?, _ link: inout Link
    ) -> SyncPlan? {
        var plan = plan
        guard let view = plan.view else { return nil }
        if link.local == nil || link.remote == nil, unit == server { (link.local, link.remote) = (unit, server) }
        if link.origin == .calendar, link.putBack?.unit == server, link.local == unit { link.remote = server }
        let merge = UnitMerge(
            calendar: unit, was: link.local, server: server, was: link.remote,
            rule: UnitMerge.Rule(link, view, edited: edited))
        if merge.losesCalendar { state.noteOnce(.changed, of: link, at: now, before: unit, after: server) }
        let toCalendar = merge.toCalendar.canonical(zones)
        if toCalendar != unit {
            guard canWrite(plan, toCalendar, &link) else { return nil }
            plan.write = .change(toCalendar)
        }
        let toServer = merge.toServer.canonical(zones)
        if merge.losesServer {
            plan.putsBack = true
        } else {
            plan.sentAs = max(edited ?? now + state.serverAhead, view.updatedAt)
        }
        if toServer != server || !isLinked(view, plan.event) {
            // Reporting the event's id in this calendar is not an edit and does not override one.
            if toServer == server { plan.sentAs = view.updatedAt }
            if link.refused?.unit == toServer {
                counts.failed += 1
                return plan.write == nil ? nil : plan
            }
            plan.sending = .event(toServer)
        }
        guard plan.write == nil, plan.sending == nil else { return plan }
        link.refused = nil
        (link.local, link.remote) = (unit, server)
        return nil
    }

    /// Whether the server knows an event and its changed occurrences by the calendar's id.
    private func isLinked(_ view: RemoteView, _ event: StoreEvent?) -> Bool {
        guard let name = event?.key.externalID else { return true }
        return view.externalID == name && view.parts.values.allSatisfy { $0.isDeleted || $0.externalId == name }
    }

    private mutating func canWrite(_ plan: SyncPlan, _ unit: EventUnit, _ link: inout Link) -> Bool {
        if link.unwritable?.unit == unit {
            counts.failed += 1
            return false
        }
        guard let event = plan.event, !event.hasAttendees else { return false }
        guard calendars[event.key.calendarID]?.canWrite == true else {
            pause = pause ?? .calendarReadOnly
            counts.queued += 1
            return false
        }
        return true
    }

    private mutating func sending(_ unit: EventUnit, _ plan: SyncPlan, _ link: Link) -> SyncPlan? {
        if link.refused?.unit == unit {
            counts.failed += 1
            return nil
        }
        var plan = plan
        plan.sending = .event(unit)
        if let at = plan.sentAs, let view = plan.view { plan.sentAs = max(at, view.updatedAt) }
        return plan
    }

    // MARK: The event was not found

    private mutating func missing(_ link: inout Link, _ view: RemoteView?) -> SyncPlan? {
        guard let view else {
            // Either the server never had the event, or it no longer has it; after a lost response only a fresh pull
            // can show which.
            if link.sentAs.isEmpty || isFresh { ended.insert(link.number) }
            return nil
        }
        if view.isDeleted {
            link.key = nil
            link.missingSince = nil
            if view.isItem || link.sentAs.isEmpty { ended.insert(link.number) } else { link.state = .away }
            return nil
        }
        guard let since = link.missingSince else {
            if judgesAbsence { link.missingSince = now }
            counts.missing += 1
            return nil
        }
        guard judgesAbsence, now - since >= settings.deletionPatience else {
            counts.missing += 1
            return nil
        }
        guard let server = view.unit(zones) else { return nil }
        if let base = link.remote, base != server {
            // An edit on the server wins over the deletion here.
            link.missingSince = nil
            return again(&link, view, server)
        }
        var plan = SyncPlan(link: link.number, view: view, remote: server, sending: .deletion)
        plan.sentAs = max(since + state.serverAhead, view.updatedAt)
        return plan
    }

    private mutating func absent(_ link: inout Link, _ view: RemoteView?) -> SyncPlan? {
        guard let view, let server = view.unit(zones) else {
            if link.state != .away { ended.insert(link.number) }
            return nil
        }
        if view.isDeleted {
            let isOld = view.updatedAt < now + state.serverAhead - 366 * 86_400_000
            if view.isItem || link.state != .away || isOld { ended.insert(link.number) }
            return nil
        }
        if link.state == .away {
            // An item is not made again while it is unchanged or ignored; a new version or a restored event is.
            guard link.remote != server || !view.isItem, view.main.syncState != "ignored" else { return nil }
        }
        return again(&link, view, server)
    }

    /// Makes an event of the server in the calendar; if a person deleted it before, as its next generation.
    private mutating func again(_ link: inout Link, _ view: RemoteView, _ server: EventUnit) -> SyncPlan? {
        guard let mirror, isInWindow(server) else { return nil }
        guard mirror.canWrite else {
            pause = pause ?? .calendarReadOnly
            counts.queued += 1
            return nil
        }
        guard state.unmarkingCalendar != mirror.id else {
            pause = pause ?? .marksNotKept
            counts.queued += 1
            return nil
        }
        if link.unwritable?.unit == server {
            counts.failed += 1
            return nil
        }
        if link.key != nil || link.state == .away { link.generation += 1 }
        (link.origin, link.state, link.key) = (.server, .linked, nil)
        link.mark = identity(of: view)
        (link.local, link.remote) = (nil, nil)
        var plan = SyncPlan(link: link.number, view: view, remote: server)
        plan.write = .create(server)
        plan.sending = .event(server)
        plan.sentAs = view.updatedAt
        return plan
    }
}
