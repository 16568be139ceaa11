// SPDX-License-Identifier: Apache-2.0

/// The event, from what libical decoded and what Swift kept.
extension ComponentReader {
    mutating func event(from decoded: DecodedSlice, _ builder: inout CalendarBuilder) -> Event? {
        var event = Event(kind: kind, uid: "", start: nil)
        var end: EventTime?
        var due: EventTime?
        var duration: ICalDuration?
        for property in decoded.properties {
            switch (property.field, property.value) {
            case (.uid, .text(let text)): event.uid = text
            case (.summary, .text(let text)): event.summary = text
            case (.description, .text(let text)): event.description = text
            case (.location, .text(let text)): event.location = text
            case (.url, .text(let text)): event.url = text
            case (.categories, .text(let text)): event.categories.append(text)
            case (.sequence, .integer(let number)): event.sequence = number
            case (.timestamp, .dateTime(let wall, _)): event.timestamp = Instant(utc: wall)
            case (.created, .dateTime(let wall, _)): event.created = Instant(utc: wall)
            case (.lastModified, .dateTime(let wall, _)): event.lastModified = Instant(utc: wall)
            case (.start, _): event.start = Self.time(property, &builder)
            case (.end, _): end = Self.time(property, &builder)
            case (.due, _): due = Self.time(property, &builder)
            case (.recurrenceID, _): event.recurrenceID = Self.time(property, &builder)
            case (.duration, .duration(let length)): duration = length
            case (.exclusion, _):
                if let time = Self.time(property, &builder) { event.recurrence.exclusions.append(time) }
            case (.addition, _):
                if let addition = Self.addition(property, &builder) { event.recurrence.additions.append(addition) }
            default: break
            }
        }
        draft.uid = event.uid.isEmpty ? nil : event.uid
        guard event.start != nil || kind != .event else {
            builder.log.add(
                .error, "missing-start", line: line, text: event.summary,
                "The event has no start that can be read, so it has no place in time and is lost.")
            return nil
        }
        event.status = draft.status
        event.isTransparent = draft.isTransparent
        event.classification = draft.classification
        event.appliesToFuture = draft.appliesToFuture
        event.alarms = alarms(from: decoded.children)
        event.otherProperties = draft.others
        setEnd(of: &event, end: kind == .toDo ? due ?? end : end ?? due, duration: duration, &builder.log)
        makeAllDay(&event, &builder.log)
        if !event.recurrence.isEmpty { alignLists(of: &event, &builder.log) }
        if !draft.rules.isEmpty { event.recurrence.rules = rules(draft.rules, of: event, &builder.log) }
        if !draft.exclusionRules.isEmpty {
            event.recurrence.exclusionRules = rules(draft.exclusionRules, of: event, &builder.log)
        }
        if event.timestamp == nil {
            builder.log.add(.warning, "missing-dtstamp", line: line, "DTSTAMP is missing.")
        }
        if kind == .event, event.status != "CANCELLED", let summary = event.summary,
            ["canceled:", "cancelled:"].contains(where: summary.lowercased().hasPrefix)
        {
            builder.log.add(
                .warning, "cancelled-by-title", line: line, text: summary,
                "The title says that it is cancelled but the status does not; it was read as taking place.")
        }
        return event
    }

    /// A decoded time in the zone that its opaque number stands for.
    private static func time(_ property: DecodedProperty, _ builder: inout CalendarBuilder) -> EventTime? {
        switch property.value {
        case .date(let date): .date(date)
        case .dateTime(let wall, let isUTC): time(wall, isUTC: isUTC, zone: property.zone, &builder)
        default: nil
        }
    }

    private static func time(
        _ wall: CivilDateTime, isUTC: Bool, zone: Int?, _ builder: inout CalendarBuilder
    ) -> EventTime {
        if isUTC { return .utc(Instant(utc: wall)) }
        switch zone.map({ builder.zones[$0] }) ?? builder.zones.floatingZone() {
        case .utc: return .utc(Instant(utc: wall))
        case .zone(let reference): return .zoned(wall, reference)
        case .floating: return .floating(wall)
        }
    }

    private static func addition(
        _ property: DecodedProperty, _ builder: inout CalendarBuilder
    ) -> Recurrence.Addition? {
        guard case .period(let start, let end, let duration, let isUTC) = property.value else {
            return time(property, &builder).map { Recurrence.Addition(start: $0) }
        }
        let first = time(start, isUTC: isUTC, zone: property.zone, &builder)
        let last = end.map { Event.End.time(time($0, isUTC: isUTC, zone: property.zone, &builder)) }
        return Recurrence.Addition(start: first, end: last ?? .duration(duration))
    }
}
