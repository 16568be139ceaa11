// SPDX-License-Identifier: Apache-2.0

/// Makes links for events that have none yet.
extension RunWork {
    /// Links the server's events that are in a calendar although their link was lost, and events that a person made.
    mutating func linkCalendarEvents() {
        let known = Set(state.links.compactMap { $0.serverID.map { ByteString($0) } })
        let free = local.events.filter { !claimed.contains($0.key) }.sorted { a, b in
            (rank(a.key.calendarID), ByteString(a.key.externalID), ByteString(a.key.localID))
                < (rank(b.key.calendarID), ByteString(b.key.externalID), ByteString(b.key.localID))
        }
        var taken = known
        var names: Set<ByteString> = Set(
            state.links.filter { $0.key != nil }.flatMap { [$0.key?.externalID ?? ""] + $0.sentAs })
        var marked: [ByteString: RemoteView] = [:]
        for view in remote.views.values { if let mark = identity(of: view) { marked[mark] = view } }
        for event in free {
            if let mark = mark(of: event) {
                // A copy of a linked event belongs to the person, and an event of another Kalends server belongs to
                // that server.
                guard let view = marked[mark.identity], !taken.contains(view.main.id) else { continue }
                taken.insert(view.main.id)
                var link = newLink(.server)
                link.serverID = view.main.id
                link.mark = mark.identity
                link.generation = mark.generation
                add(link, event)
            } else if own.contains(event.key.calendarID), isInWindow(event.unit), !names.contains(event.key.externalID)
            {
                names.insert(event.key.externalID)
                var link = newLink(.calendar)
                if let view = remote.view(externalID: event.key.externalID), !taken.contains(view.main.id) {
                    taken.insert(view.main.id)
                    link.serverID = view.main.id
                }
                add(link, event)
            }
        }
    }

    /// Moves links to the connection that now shows their items under the same marks: events that the earlier
    /// connection left in the calendar are found and not made again.
    mutating func followMarks() {
        let shown = state.events.filter { $0.instance == nil && $0.itemId != nil }
            .sorted { $0.updatedAt < $1.updatedAt }
        var newest: [ByteString: RemoteEvent] = [:]
        for event in shown {
            if let mark = EventMark(url: event.mark) { newest[mark.identity] = event }
        }
        func successor(_ event: RemoteEvent) -> RemoteEvent? {
            guard event.itemId != nil, let mark = EventMark(url: event.mark), let other = newest[mark.identity] else {
                return nil
            }
            return other.connectionId == event.connectionId ? nil : other
        }
        for event in shown {
            guard let other = successor(event),
                let index = state.links.firstIndex(where: { $0.serverID == event.id })
            else { continue }
            if state.links.contains(where: { $0.serverID == other.id }) {
                state.links.remove(at: index)
                continue
            }
            state.links[index].serverID = other.id
            state.links[index].missingSince = nil
            state.links[index].isInConflict = false
            // An event that the person deleted under the earlier connection has now been requested again.
            if state.links[index].state == .away { state.links[index].remote = nil }
        }
        state.events.removeAll { successor($0) != nil }
    }

    /// Links the server's events that should be in the calendar and are not there yet.
    mutating func linkServerEvents() {
        guard mirror != nil else { return }
        let known = Set(state.links.compactMap { $0.serverID.map { ByteString($0) } })
        for (id, view) in remote.views.sorted(by: { $0.value.main.updatedAt < $1.value.main.updatedAt }) {
            guard !known.contains(id), !view.isDeleted, view.main.syncState != "ignored",
                // An event that another device sent is in that device's calendars.
                view.isItem || view.externalID == nil, let unit = view.unit(zones), isInWindow(unit)
            else { continue }
            var link = newLink(.server)
            link.serverID = id.string
            link.mark = identity(of: view)
            state.links.append(link)
            findings[link.number] = .absent
        }
    }

    /// Finds events that the server accepted although its response was lost, by the ids under which they were sent.
    mutating func learnServerIDs() {
        var known = Set(state.links.compactMap { $0.serverID.map { ByteString($0) } })
        for index in state.links.indices where state.links[index].serverID == nil {
            let name = state.links[index].sentAs.last { remote.view(externalID: $0) != nil }
            guard let name, let view = remote.view(externalID: name), known.insert(view.main.id).inserted else {
                continue
            }
            state.links[index].serverID = view.main.id
        }
    }

    private mutating func newLink(_ origin: Link.Origin) -> Link {
        defer { state.nextLink += 1 }
        return Link(number: state.nextLink, origin: origin)
    }

    private mutating func add(_ link: Link, _ event: StoreEvent) {
        var link = link
        link.key = event.key
        state.links.append(link)
        claim(event, for: link)
    }

    private func rank(_ calendar: String) -> Int { own.firstIndex(of: calendar) ?? own.count }
}
