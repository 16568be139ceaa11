// SPDX-License-Identifier: Apache-2.0

/// Makes the event from what libical decoded and what Swift kept.
extension ComponentReader {
    mutating func event(from decoded: DecodedSlice, _ context: inout ReadingContext) -> Event? {
        var fields = DirectFields(kind: kind)
        fields.takeBack(&draft)
        return event(from: &fields, decoded, &context)
    }

    /// Makes the event from fields, to which what libical decoded is added first.
    mutating func event(
        from fields: inout DirectFields, _ decoded: DecodedSlice?, _ context: inout ReadingContext
    ) -> Event? {
        for property in decoded?.properties ?? [] { Self.add(property, to: &fields, &context) }
        draft.uid = fields.event.uid.isEmpty ? nil : fields.event.uid
        guard fields.event.start != nil || kind != .event else {
            context.log.add(
                .error, "missing-start", line: line, text: fields.event.summary, .startMissing,
                "The event has no start that can be read, so it has no place in time and is lost.")
            return nil
        }
        // Without its RECURRENCE-ID an override would be a version of the whole series, and might replace it.
        guard fields.event.recurrenceID != nil || !draft.hasRecurrenceID else {
            context.log.add(
                .error, "recurrence-id-unreadable", line: line, text: fields.event.summary, .recurrenceIDUnreadable,
                "Which occurrence of its series it replaces cannot be read, so this change of the series is lost.")
            return nil
        }
        fields.event.appliesToFuture = draft.appliesToFuture
        if !draft.alarms.isEmpty { fields.event.alarms = alarms(from: decoded?.children ?? []) }
        if !draft.oldAlarms.isEmpty {
            fields.event.alarms += draft.oldAlarms.compactMap { $0.alarm(from: fields.event.start) }
        }
        if !draft.textParameters.isEmpty {
            fields.event.textParameters = (fields.event.textParameters ?? [:]).merging(draft.textParameters) { $1 }
        }
        draft.isMarkedAllDay = fields.isMarkedAllDay
        draft.rules = fields.rules
        finish(
            &fields.event, end: fields.end, due: fields.due, duration: fields.duration, fields.traits, &context)
        return fields.event
    }

    private static func add(
        _ property: DecodedProperty, to fields: inout DirectFields, _ context: inout ReadingContext
    ) {
        switch (property.field, property.value) {
        case (.uid, .text(let text)): fields.event.uid = text
        case (.summary, .text(let text)): fields.event.summary = text
        case (.description, .text(let text)): fields.event.description = text
        case (.location, .text(let text)): fields.event.location = text
        case (.url, .text(let text)): fields.event.url = text
        case (.categories, .text(let text)): fields.event.categories.append(text)
        case (.sequence, .integer(let number)): fields.event.sequence = number
        case (.timestamp, .dateTime(let wall, _)): fields.event.timestamp = Instant(utc: wall)
        case (.created, .dateTime(let wall, _)): fields.event.created = Instant(utc: wall)
        case (.lastModified, .dateTime(let wall, _)): fields.event.lastModified = Instant(utc: wall)
        case (.start, _): fields.event.start = time(property, &context)
        case (.end, _): fields.end = time(property, &context)
        case (.due, _): fields.due = time(property, &context)
        case (.recurrenceID, _): fields.event.recurrenceID = time(property, &context)
        case (.duration, .duration(let length)): fields.duration = length
        case (.exclusion, _):
            if let time = time(property, &context) { fields.event.recurrence.exclusions.append(time) }
        case (.addition, _):
            if let addition = addition(property, &context) { fields.event.recurrence.additions.append(addition) }
        default: break
        }
    }

    /// Makes the corrections that need all fields.
    func finish(
        _ event: inout Event, end: EventTime?, due: EventTime?, duration: ICalDuration?,
        _ traits: SourceTraits = SourceTraits(), _ context: inout ReadingContext
    ) {
        if traits.mayHaveMarks, event.boundMarks() { context.log.addCutMarks(line: line) }
        setEnd(of: &event, end: kind == .toDo ? due ?? end : end ?? due, duration: duration, &context.log)
        makeAllDay(&event, &context.log)
        if !draft.rules.isEmpty {
            event.recurrence.exclusions += exclusions(within: draft.rules)
            event.recurrence.rules = rules(draft.rules, of: event, &context)
        }
        if !event.recurrence.isEmpty { alignLists(of: &event, &context.log) }
        if !draft.exclusionRules.isEmpty {
            event.recurrence.exclusionRules = rules(draft.exclusionRules, of: event, &context)
            listExclusions(of: &event, &context.log)
        }
        // The rule that `Recurrence` writes together with dates that have no rule adds nothing to them.
        if !event.recurrence.additions.isEmpty, event.recurrence.rules == [.once] { event.recurrence.rules = [] }
        // The start takes place without being listed, and ical.js returns it twice if that rule is there.
        if event.recurrence.rules.isEmpty {
            let start = event.start
            event.recurrence.additions.removeAll { $0.end == nil && $0.start == start }
        }
        if event.timestamp == nil {
            context.log.add(.warning, "missing-dtstamp", line: line, .dtstampMissing, "DTSTAMP is missing.")
        }
        var traits = traits
        if context.options.mendsTexts {
            // Characters that HTML gives by number have been decoded at this point.
            if mendTexts(of: &event, traits, &context.log) { traits = SourceTraits() }
            if traits.mayHaveMarks, event.boundMarks() { context.log.addCutMarks(line: line) }
        }
        if traits.mayBeHidden, event.hasHiddenCharacters { context.log.addHiddenCharacters(line: line) }
        if kind == .event { judge(&event, &context.log) }
    }

    /// A decoded time in the zone of its opaque number.
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
