// SPDX-License-Identifier: Apache-2.0

/// Finds the event of each link in the calendars.
extension RunWork {
    /// Finds unchanged events by all three ids, so that the others are searched for only among the rest.
    mutating func findUnmoved() {
        for link in state.links {
            guard let key = link.key else {
                findings[link.number] = .absent
                continue
            }
            if link.origin == .calendar, !own.contains(resolved(key.calendarID)), calendars[key.calendarID] != nil {
                findings[link.number] = .outOfScope
            } else if let event = local[key] {
                if suits(event, link) {
                    claim(event, for: link)
                } else if link.origin == .server, mark(of: event) == nil {
                    claimed.insert(event.key)
                    findings[link.number] = .released(event)
                }
            }
        }
    }

    /// Does the second step of the search, without asking the store.
    mutating func findMoved() {
        for link in state.links where findings[link.number].map(\.isAbsent) ?? true {
            if link.key == nil, link.origin == .calendar, link.state != .away { continue }
            if let event = candidate(for: link) { claim(event, for: link) }
        }
    }

    /// Looks for a calendar whose account dropped the marks after the events were written.
    ///
    /// A person removes the mark of one event; where none of ours has its mark any more, the account did it.
    mutating func judgeMarks() {
        var marked: Set<ByteString> = []
        for link in state.links where link.origin == .server {
            switch findings[link.number] {
            case .found(let event)?: marked.insert(ByteString(event.key.calendarID))
            case .released(let event)? where event.url?.isEmpty ?? true:
                unmarking.insert(ByteString(event.key.calendarID))
            default: break
            }
        }
        unmarking.subtract(marked)
        if let mirror, unmarking.contains(mirror.id) { pause = pause ?? .marksNotKept }
    }

    /// Returns links whose event has to be requested, because the look at the window did not show it.
    func wanted() -> [Link] {
        state.links.filter { link in
            guard findings[link.number] == nil, let key = link.key else { return false }
            return calendars[resolved(key.calendarID)] != nil && isAlive(link)
        }
    }

    /// Whether an event is still followed; outside the window it is followed only if it changed at the server.
    private func isAlive(_ link: Link) -> Bool {
        guard let base = link.local else { return true }
        if isInWindow(base) || link.missingSince != nil { return true }
        guard let view = remote[link.serverID] else { return false }
        return view.isDeleted || view.unit(zones) != link.remote
    }

    /// Chooses among the events that the store has under a link's ids, in the order of the search.
    mutating func take(_ found: [StoreEvent], for link: Link) {
        let free = found.filter { !claimed.contains($0.key) }
        let usable = free.filter { link.origin == .server || own.contains($0.key.calendarID) }
        if let event = best(usable.filter { suits($0, link) }, for: link) {
            claim(event, for: link)
        } else if link.origin == .server, let event = free.first(where: { $0.key.localID == link.key?.localID }),
            EventMark(url: event.url) == nil
        {
            claimed.insert(event.key)
            findings[link.number] = .released(event)
        } else {
            findings[link.number] = .missing
        }
    }

    mutating func claim(_ event: StoreEvent, for link: Link) {
        claimed.insert(event.key)
        findings[link.number] = .found(event)
    }

    /// Whether an event can belong to a link: it has the link's mark, or no mark if a person made it.
    private func suits(_ event: StoreEvent, _ link: Link) -> Bool {
        switch link.origin {
        case .server: isOurs(event, for: link)
        case .calendar: mark(of: event) == nil && own.contains(event.key.calendarID)
        }
    }

    private func candidate(for link: Link) -> StoreEvent? {
        func free(_ events: [StoreEvent]) -> [StoreEvent] {
            events.filter { !claimed.contains($0.key) && suits($0, link) }
        }
        let names = link.key.map { [$0.externalID] } ?? Array(link.sentAs.suffix(1))
        for name in names {
            if let event = best(free(local.events(externalID: name)), for: link) { return event }
        }
        if link.origin == .server, let mark = link.mark {
            return best(free(local.events(markedFor: mark)), for: link)
        }
        // All ids of an event may change at once, as after a full sync of a calendar without a server.
        guard let base = link.local, let key = link.key else { return nil }
        let same = free(local.events(at: zones.moment(of: base.content.span))).filter { event in
            event.key.calendarID == resolved(key.calendarID) && event.unit.content.title == base.content.title
                && !state.links.contains { $0.key?.externalID == event.key.externalID }
                && remote.view(externalID: event.key.externalID) == nil
        }
        return same.count == 1 ? same.first : nil
    }

    /// Among several events with the same id, returns the one in the same calendar, then the one with the same id on
    /// this device, then the first.
    private func best(_ events: [StoreEvent], for link: Link) -> StoreEvent? {
        let calendar = link.key.map { resolved($0.calendarID) }
        func rank(_ event: StoreEvent) -> (Int, Int, Int) {
            (
                event.key.calendarID == calendar ? 0 : 1, event.key.localID == link.key?.localID ? 0 : 1,
                mark(of: event)?.generation == link.generation ? 0 : 1
            )
        }
        return events.min { a, b in
            rank(a) != rank(b) ? rank(a) < rank(b) : a.key.localID.isTextBefore(b.key.localID)
        }
    }
}

extension RunWork.Finding {
    fileprivate var isAbsent: Bool { if case .absent = self { true } else { false } }
}
