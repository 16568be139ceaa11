// SPDX-License-Identifier: Apache-2.0

/// The parts of an alarm that Swift reads; libical returns its trigger and text.
struct AlarmDraft {
    var action = "DISPLAY"
    var isRelativeToEnd = false
    var others: [ContentLine] = []
}

extension ComponentReader {
    /// Adds alarms to the slice for libical; other subcomponents are counted.
    mutating func takeChildren(_ context: inout ReadingContext) {
        for child in raw.children {
            guard child.name == "VALARM" else {
                context.log.add(
                    .warning, "unknown-component", line: child.span.lowerBound, text: child.name, .kindsUnread,
                    "A component of a kind that is not read here was left out.", count: 1)
                continue
            }
            guard draft.alarms.count < context.options.limits.alarms else {
                context.log.add(
                    .warning, "alarm-refused", line: child.span.lowerBound, .tooManyReminders,
                    "The component has more reminders than the limit.")
                continue
            }
            takeAlarm(child, &context)
        }
    }

    private mutating func takeAlarm(_ alarm: RawComponent, _ context: inout ReadingContext) {
        var result = AlarmDraft()
        var trigger: (parameters: String, value: String)?
        var description: [UInt8]?
        for line in alarm.lines.prefix(context.options.limits.properties) {
            guard let property = Property(bytes, line), !property.isEmpty else { continue }
            switch property.name {
            case "TRIGGER" where trigger == nil:
                trigger = self.trigger(property, &context)
                result.isRelativeToEnd = property[parameter: "RELATED"]?.uppercased() == "END"
            case "ACTION": result.action = property.trimmed.uppercased()
            case "DESCRIPTION" where description == nil: description = TextValue.canonical(Self.plain(property))
            case "REQUEST-STATUS": break
            case "X-LIC-ERROR":
                context.log.add(.repaired, "library-error", line: property.line, text: property.text, Self.libraryError)
            case "ATTACH" where Self.isInline(property) && !keeps(property, context.options):
                context.log.add(
                    .warning, "attachment-dropped", line: property.line, .reminderFile,
                    "A file of \(property.value.count, .count) bytes within a reminder was left out.")
            default: result.others.append(property.contentLine)
            }
        }
        guard let trigger else {
            context.log.add(
                .warning, "alarm-refused", line: alarm.span.lowerBound, .reminderWithoutTrigger,
                "A reminder without a readable TRIGGER was left out.")
            return
        }
        context.slice.begin("VALARM")
        context.slice.property(.trigger, parameters: trigger.parameters, trigger.value.utf8)
        if let description { context.slice.property(.description, description) }
        context.slice.end("VALARM")
        draft.alarms.append(result)
    }

    /// Reads a duration, or an instant even without VALUE=DATE-TIME, which libical would refuse.
    private func trigger(
        _ property: Property, _ context: inout ReadingContext
    ) -> (parameters: String, value: String)? {
        if let duration = Self.duration(property.trimmed) { return ("", duration.description) }
        guard let written = try? WrittenTime(property.value) else { return nil }
        let wall = written.time ?? CivilDateTime(startOf: written.date)
        if property[parameter: "VALUE"] == nil {
            context.log.add(
                .repaired, "trigger-without-value", line: property.line, text: property.text, .triggerIsTime,
                "TRIGGER is a time without VALUE=DATE-TIME and was read as one.")
        }
        var instant = Instant(utc: wall)
        switch written.zone {
        case .utc: break
        case .offset(let seconds): instant = instant.adding(seconds: -seconds)
        case .none:
            if let tzid = Self.zoneName(property) {
                let number = context.zones.number(of: tzid, line: property.line, log: &context.log)
                if case .zone(let zone) = context.zones[number] { instant = zone.rules.instant(of: wall) }
            } else if case .zone(let zone) = context.zones.floatingZone(log: &context.log) {
                instant = zone.rules.instant(of: wall)
            }
        }
        return (";VALUE=DATE-TIME", instant.basic)
    }

    /// The alarms of the event, from the drafts and from libical's results, which are in the same order.
    func alarms(from children: [DecodedSlice]) -> [Alarm] {
        zip(draft.alarms, children).compactMap { draft, child in
            var trigger: Alarm.Trigger?
            var description: String?
            for property in child.properties {
                switch (property.field, property.value) {
                case (.trigger, .duration(let duration)):
                    trigger = draft.isRelativeToEnd ? .relativeToEnd(duration) : .relativeToStart(duration)
                case (.trigger, .dateTime(let wall, _)): trigger = .absolute(Instant(utc: wall))
                case (.description, .text(let text)): description = text
                default: break
                }
            }
            return trigger.map {
                Alarm(trigger: $0, action: draft.action, description: description, otherProperties: draft.others)
            }
        }
    }
}
