// SPDX-License-Identifier: Apache-2.0

/// A reminder of vCalendar 1.0: `DALARM:19960415T235000;PT5M;2;Your taxes are due`.
struct OldAlarm {
    var action: String
    var time: WrittenTime
    var text: String?

    /// The reminder as an alarm for an event; nil when there is no start that it could be relative to.
    func alarm(from start: EventTime?) -> Alarm? {
        let wall = time.time ?? CivilDateTime(startOf: time.date)
        let trigger: Alarm.Trigger
        switch time.zone {
        case .utc: trigger = .absolute(Instant(utc: wall))
        case .offset(let seconds): trigger = .absolute(Instant(utc: wall).adding(seconds: -seconds))
        case .none:
            guard let start else { return nil }
            let seconds = wall.wallSeconds - start.civil.wallSeconds
            guard abs(seconds) < ComponentReader.longestDays * 86_400 else { return nil }
            // More seconds than a length may have would not be read again.
            let days = abs(seconds) > ComponentReader.longestSeconds ? seconds / 86_400 : 0
            trigger = .relativeToStart(ICalDuration(days: days, seconds: seconds - days * 86_400))
        }
        return Alarm(trigger: trigger, action: action, description: text)
    }
}

extension ComponentReader {
    /// Reads a reminder that shows a text or plays a sound; one that sends mail or starts a program is left out.
    mutating func oldAlarm(_ property: Property, _ context: inout ReadingContext) {
        let parts = TextValue.split(Self.plain(property), at: UInt8(ascii: ";"))
        guard property.name == "DALARM" || property.name == "AALARM", let first = parts.first,
            let time = try? WrittenTime(first.trimmingSpaces),
            draft.alarms.count + draft.oldAlarms.count < context.options.limits.alarms
        else {
            context.log.add(
                .warning, "alarm-refused", line: property.line, text: property.text, .oldReminderLost,
                "A reminder of vCalendar 1.0 was left out.")
            return
        }
        let isSound = property.name == "AALARM"
        let text = parts.count > 3 && !isSound ? TextValue.decoded(parts[3].trimmingSpaces) : ""
        draft.oldAlarms.append(
            OldAlarm(action: isSound ? "AUDIO" : "DISPLAY", time: time, text: text.isEmpty ? nil : text))
        context.log.add(
            .repaired, "vcalendar-1-alarm", line: property.line, text: property.text, .oldReminderRead,
            "A reminder of vCalendar 1.0 was read as a VALARM; its repetition was left out.")
    }
}
