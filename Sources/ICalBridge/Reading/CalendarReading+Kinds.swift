// SPDX-License-Identifier: Apache-2.0

extension CalendarReading {
    /// Gives each to-do or journal entry another UID if a component of another kind has its UID, because what is stored
    /// is known by its UID; and notes the free/busy blocks, which nothing stores.
    public mutating func settleKinds() {
        var kinds: [ByteString: Event.Kind] = [:]
        for kind in [Event.Kind.event, .toDo, .journal] {
            for event in calendars.lazy.flatMap(\.events) where event.kind == kind {
                let uid = ByteString(event.uid)
                if kinds[uid] == nil { kinds[uid] = kind }
            }
        }
        for calendar in calendars.indices {
            for (index, event) in calendars[calendar].events.enumerated() where event.kind != .event {
                let line = lines[calendar][index].lowerBound
                if event.kind == .freeBusy {
                    problems.append(
                        Problem(
                            line: line, uid: event.uid, severity: .warning, code: "not-an-event",
                            sentence: Sentence(
                                .kindNotImported,
                                "A \(event.kind.rawValue, .kind) is not imported: calendar apps do not show it.")))
                } else if kinds[ByteString(event.uid)] != event.kind {
                    calendars[calendar].events[index].uid += "-" + event.kind.rawValue
                    problems.append(
                        Problem(
                            line: line, uid: calendars[calendar].events[index].uid, severity: .repaired,
                            code: "duplicate-uid",
                            sentence: Sentence(
                                .uidOfOtherKind,
                                "The file has another kind of entry with its UID; it was given another UID.")))
                }
            }
        }
    }
}
