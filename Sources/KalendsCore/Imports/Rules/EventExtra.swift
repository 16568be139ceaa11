// SPDX-License-Identifier: Apache-2.0

package import ICalBridge

/// What an event of a file has in addition to what everybody may see of it.
package enum EventExtra: String, CaseIterable, Sendable {
    /// ATTENDEE, ORGANIZER and CONTACT, which are people's addresses.
    case attendees
    /// ATTACH: addresses of files, and files within the calendar.
    case attachments
    /// VALARM; an imported event always keeps its own.
    case reminders

    /// Those that somebody chooses to keep.
    package static let choices: [EventExtra] = [.attendees, .attachments]

    /// Reads the name of one that somebody can choose.
    package init?(choice name: String) {
        guard let extra = EventExtra(text: name), Self.choices.contains(extra) else { return nil }
        self = extra
    }

    /// The extra that a property is a part of; nil for any other property.
    package init?(property name: ByteString) {
        switch name {
        case "ATTENDEE", "ORGANIZER", "CONTACT": self = .attendees
        case "ATTACH": self = .attachments
        default: return nil
        }
    }
}

/// What an import turns to-dos into.
package enum ToDoChoice: String, CaseIterable, Sendable {
    /// To-dos, which exports and CalDAV show, and feeds that show tasks as to-dos.
    case keep
    /// Tasks of the circle, as far as a task can say what the to-do says.
    case tasks
}

/// What an importer chooses; nil for what the preview was asked for, or what is usual.
package struct ImportChoice: Hashable, Sendable {
    /// The people and files that are kept; usually none.
    package var extras: Set<EventExtra>?
    /// Usually `keep`.
    package var todos: ToDoChoice?

    package init(extras: Set<EventExtra>? = nil, todos: ToDoChoice? = nil) {
        (self.extras, self.todos) = (extras, todos)
    }
}

/// How often each property was left out.
typealias LeftOut = [ByteString: Int]

extension LeftOut {
    /// Counts a property; not libical's notes, which may have any name.
    mutating func count(_ line: ContentLine) {
        if !line.name.hasPrefix("X-LIC-") { self[ByteString(line.name), default: 0] += 1 }
    }
}

extension Event {
    /// The people and files that the event has.
    var extras: Set<EventExtra> {
        let lines = otherProperties + alarms.flatMap(\.otherProperties)
        return Set(lines.compactMap { EventExtra(property: ByteString($0.name)) })
    }

    /// The part of a file's event that is stored, without its revision, which is stored in the row.
    ///
    /// - Parameter leftOut: counts what is not stored, by property; a whole reminder counts as `VALARM`.
    func importable(keeping extras: Set<EventExtra>, leftOut: inout LeftOut) -> Event {
        var copy = publishable(with: extras, leftOut: &leftOut)
        if !extras.contains(.reminders), !copy.alarms.isEmpty {
            leftOut["VALARM", default: 0] += copy.alarms.count
            copy.alarms = []
        }
        copy.sequence = 0
        copy.timestamp = nil
        copy.lastModified = nil
        return copy
    }

    func importable(keeping extras: Set<EventExtra>) -> Event {
        var leftOut: LeftOut = [:]
        return importable(keeping: extras, leftOut: &leftOut)
    }
}

extension ICalendar {
    /// What an import that keeps no people and files leaves out of the events, by property.
    package var leftOutOfImports: [(property: String, count: Int)] {
        var leftOut: LeftOut = [:]
        for event in events where event.kind != .freeBusy {
            _ = event.importable(keeping: [.reminders], leftOut: &leftOut)
        }
        return leftOut.sorted { $0.key < $1.key }.map { ($0.key.string, $0.value) }
    }
}

extension Alarm {
    /// The reminder of an event in a form that strict readers accept, because Home Assistant refuses a whole calendar
    /// over one reminder: with a text, with REPEAT and DURATION both or neither (RFC 5545 section 3.6.6), and as a mail
    /// only with a recipient and a subject.
    func publishable(of event: Event, with extras: Set<EventExtra>, leftOut: inout LeftOut) -> Alarm {
        func count(_ name: String) -> Int { otherProperties.count { $0.name == name } }
        let repeats =
            count("REPEAT") == 1 && count("DURATION") == 1
            && otherProperties.allSatisfy { line in
                switch line.name {
                case "REPEAT": Int(line.value).map { $0 >= 0 } ?? false
                case "DURATION": ICalDuration(text: line.value) != nil
                default: true
                }
            }
        var copy = self
        var single: Set<ByteString> = ["ACTION", "TRIGGER", "DESCRIPTION"]
        copy.otherProperties = otherProperties.filter { line in
            let name = ByteString(line.name)
            let isKept =
                switch name {
                case "REPEAT", "DURATION": repeats
                case "ACTION", "TRIGGER", "DESCRIPTION", "SUMMARY", "UID": single.insert(name).inserted
                default: EventExtra(property: name).map(extras.contains) ?? !line.isUnpublished
                }
            if !isKept { leftOut.count(line) }
            return isKept
        }
        func has(_ name: String) -> Bool { copy.otherProperties.contains { $0.name == name } }
        if action == "EMAIL", !has("ATTENDEE") || !has("SUMMARY") { copy.action = "DISPLAY" }
        copy.description = copy.text(for: event.summary)
        return copy
    }
}
