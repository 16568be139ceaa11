// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCompanion

extension VdirEvent {
    /// Makes a new event.
    init(_ draft: EventDraft, uid: String, now: Int, _ zones: Zones) throws(StoreFailure) {
        var master = Event(uid: uid, start: nil)
        master.created = Instant(seconds: now)
        self.init(master: master, overrides: [], unit: draft.unit)
        try put(draft, over: nil, now: now, zones)
    }

    /// Returns the event with the draft's changes; fields that a draft does not have stay as they are in the file.
    func changed(to draft: EventDraft, now: Int, _ zones: Zones) throws(StoreFailure) -> VdirEvent {
        var event = VdirEvent(master: master, overrides: overrides, unit: draft.unit)
        event.master.sequence = min(master.sequence, Int(Int32.max) - 1) + 1
        try event.put(draft, over: unit, now: now, zones)
        return event
    }

    private mutating func put(
        _ draft: EventDraft, over old: EventUnit?, now: Int, _ zones: Zones
    ) throws(StoreFailure) {
        let (times, unit) = (VdirTimes(zones), draft.unit)
        Self.fill(&master, unit.content, over: old?.content, times)
        if let url = draft.url { master.url = url }
        if let isBusy = draft.isBusy { master.isTransparent = !isBusy }
        var kept: [EventMoment: Event] = [:]
        // A cancelled override leaves its occurrence out, as EXDATE does; the unit has both as exceptions.
        var cancelled: [EventMoment: Event] = [:]
        for event in overrides {
            guard let id = event.recurrenceID else { continue }
            let moment = times.moment(id, in: master)
            if !event.isCancelled {
                kept[moment] = event
            } else if unit.changed[moment] == nil, unit.content.recurrence?.exceptions.contains(moment) == true {
                cancelled[moment] = event
            }
        }
        if unit.content.recurrence != old?.content.recurrence || unit.content.span != old?.content.span {
            master.recurrence = try Self.recurrence(unit.content, except: Set(cancelled.keys), times)
        }
        overrides = Set(unit.changed.keys).union(cancelled.keys).sorted().map { moment in
            var event = kept[moment] ?? cancelled[moment] ?? Event(uid: master.uid, start: nil)
            event.recurrenceID = times.time(moment, of: unit.content.span)
            if let content = unit.changed[moment] {
                Self.fill(&event, content, over: kept[moment] == nil ? nil : old?.changed[moment], times)
            }
            event.sequence = master.sequence
            return event
        }
        for index in overrides.indices { Self.stamp(&overrides[index], now) }
        Self.stamp(&master, now)
    }

    /// Sets the fields that differ between two contents; others keep their form, such as the file's own zone.
    private static func fill(
        _ event: inout Event, _ content: EventContent, over old: EventContent?, _ times: VdirTimes
    ) {
        if content.title != old?.title { event.summary = content.title.isEmpty ? nil : content.title }
        if content.location != old?.location { event.location = content.location.isEmpty ? nil : content.location }
        if content.notes != old?.notes {
            event.description = content.notes.isEmpty ? nil : content.notes
            // Other forms of the text would still show the old one.
            event.otherProperties.removeAll { $0.name == "X-ALT-DESC" || $0.name == "STYLED-DESCRIPTION" }
        }
        if content.span != old?.span {
            let (start, end) = times.times(content.span)
            event.start = start
            event.end = .time(end)
        }
    }

    /// - Parameter cancelled: exceptions that cancelled overrides express.
    private static func recurrence(
        _ content: EventContent, except cancelled: Set<EventMoment>, _ times: VdirTimes
    ) throws(StoreFailure) -> Recurrence {
        guard let wanted = content.recurrence else { return Recurrence() }
        var recurrence = Recurrence()
        if let text = wanted.rule {
            do { recurrence.rules = [try RecurrenceRule(text)] } catch { throw .invalid("recurrence") }
        }
        let left = wanted.exceptions.subtracting(cancelled)
        recurrence.exclusions = left.sorted().map { times.time($0, of: content.span) }
        recurrence.additions = wanted.additions.sorted().map { .init(start: times.time($0, of: content.span)) }
        return recurrence
    }

    private static func stamp(_ event: inout Event, _ now: Int) {
        event.timestamp = Instant(seconds: now)
        event.lastModified = Instant(seconds: now)
    }
}
