// SPDX-License-Identifier: Apache-2.0

import Calendar

/// The events that a complete look at the calendars showed.
struct LocalView: Sendable {
    private(set) var events: [StoreEvent] = []
    private var byKey: [EventKey: Int] = [:]
    private var byExternal: [ByteString: [Int]] = [:]
    private var byMark: [ByteString: [Int]] = [:]
    private var byStart: [EventMoment: [Int]] = [:]

    /// Adds an event; a series that another piece of the window already showed is joined with that one.
    mutating func add(_ event: StoreEvent, _ zones: Zones) {
        if let index = byKey[event.key] {
            events[index].join(event)
            return
        }
        let index = events.count
        byKey[event.key] = index
        byExternal[event.key.externalID, default: []].append(index)
        if let mark = EventMark(url: event.url) { byMark[mark.identity, default: []].append(index) }
        byStart[zones.moment(of: event.unit.content.span), default: []].append(index)
        events.append(event)
    }

    subscript(key: EventKey) -> StoreEvent? { byKey[key].map { events[$0] } }

    func events(externalID: String) -> [StoreEvent] { (byExternal[externalID] ?? []).map { events[$0] } }
    func events(markedFor identity: String) -> [StoreEvent] { (byMark[identity] ?? []).map { events[$0] } }
    func events(at moment: EventMoment) -> [StoreEvent] { (byStart[moment] ?? []).map { events[$0] } }
}

extension StoreEvent {
    fileprivate mutating func join(_ other: StoreEvent) {
        guard let mine = known, let theirs = other.known else { return }
        known = TimeRange(from: min(mine.from, theirs.from), to: max(mine.to, theirs.to))
        if let more = other.unit.content.recurrence?.exceptions {
            unit.content.recurrence?.exceptions.formUnion(more)
        }
        unit.changed.merge(other.unit.changed) { mine, _ in mine }
    }
}
