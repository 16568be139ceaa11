// SPDX-License-Identifier: Apache-2.0

/// The event, from what libical decoded and what Swift kept.
extension ComponentReader {
    mutating func event(from decoded: DecodedSlice, _ context: inout ReadingContext) -> Event? {
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
            case (.start, _): event.start = Self.time(property, &context)
            case (.end, _): end = Self.time(property, &context)
            case (.due, _): due = Self.time(property, &context)
            case (.recurrenceID, _): event.recurrenceID = Self.time(property, &context)
            case (.duration, .duration(let length)): duration = length
            case (.exclusion, _):
                if let time = Self.time(property, &context) { event.recurrence.exclusions.append(time) }
            case (.addition, _):
                if let addition = Self.addition(property, &context) { event.recurrence.additions.append(addition) }
            default: break
            }
        }
        draft.uid = event.uid.isEmpty ? nil : event.uid
        guard event.start != nil || kind != .event else {
            context.log.add(
                .error, "missing-start", line: line, text: event.summary,
                "The event has no start that can be read, so it has no place in time and is lost.")
            return nil
        }
        event.status = draft.status
        event.isTransparent = draft.isTransparent
        event.classification = draft.classification
        event.appliesToFuture = draft.appliesToFuture
        event.alarms = alarms(from: decoded.children) + draft.oldAlarms.compactMap { $0.alarm(from: event.start) }
        if !draft.textParameters.isEmpty { event.textParameters = draft.textParameters }
        event.otherProperties = draft.others
        finish(&event, end: end, due: due, duration: duration, &context)
        return event
    }

    /// What is put right once all fields are there.
    func finish(
        _ event: inout Event, end: EventTime?, due: EventTime?, duration: ICalDuration?,
        _ context: inout ReadingContext
    ) {
        if event.boundMarks() { context.log.addCutMarks(line: line) }
        setEnd(of: &event, end: kind == .toDo ? due ?? end : end ?? due, duration: duration, &context.log)
        makeAllDay(&event, &context.log)
        if !event.recurrence.isEmpty { alignLists(of: &event, &context.log) }
        if !draft.rules.isEmpty { event.recurrence.rules = rules(draft.rules, of: event, &context) }
        if !draft.exclusionRules.isEmpty {
            event.recurrence.exclusionRules = rules(draft.exclusionRules, of: event, &context)
        }
        if event.timestamp == nil {
            context.log.add(.warning, "missing-dtstamp", line: line, "DTSTAMP is missing.")
        }
        if context.options.mendsTexts {
            mendTexts(of: &event, &context.log)
            // What HTML names by numbers are characters by now.
            if event.boundMarks() { context.log.addCutMarks(line: line) }
        }
        if event.hasHiddenCharacters { context.log.addHiddenCharacters(line: line) }
        if kind == .event { judge(&event, &context.log) }
    }

    /// A decoded time in the zone that its opaque number stands for.
    private static func time(_ property: DecodedProperty, _ context: inout ReadingContext) -> EventTime? {
        switch property.value {
        case .date(let date): .date(date)
        case .dateTime(let wall, let isUTC): time(wall, isUTC: isUTC, zone: property.zone, &context)
        default: nil
        }
    }

    private static func time(
        _ wall: CivilDateTime, isUTC: Bool, zone: Int?, _ context: inout ReadingContext
    ) -> EventTime {
        if isUTC { return .utc(Instant(utc: wall)) }
        switch zone.map({ context.zones[$0] }) ?? context.zones.floatingZone(log: &context.log) {
        case .utc: return .utc(Instant(utc: wall))
        case .zone(let reference): return .zoned(wall, reference)
        case .floating: return .floating(wall)
        }
    }

    private static func addition(
        _ property: DecodedProperty, _ context: inout ReadingContext
    ) -> Recurrence.Addition? {
        guard case .period(let start, let end, let duration, let isUTC) = property.value else {
            return time(property, &context).map { Recurrence.Addition(start: $0) }
        }
        let first = time(start, isUTC: isUTC, zone: property.zone, &context)
        let last = end.map { Event.End.time(time($0, isUTC: isUTC, zone: property.zone, &context)) }
        return Recurrence.Addition(start: first, end: last ?? .duration(duration))
    }
}
