// SPDX-License-Identifier: Apache-2.0

/// Merges two versions of an event that may both have changed since the sides last agreed.
///
/// Each side has its own base in its own form, so that a side's own form of a text does not count as a change.
struct UnitMerge: Hashable, Sendable {
    /// Decides which side wins where both changed the same part.
    enum Winner: Hashable, Sendable {
        case calendar, server
        /// The server wins, except for times: it receives the calendar's times and decides about them itself.
        case serverButTimes
    }

    private(set) var toCalendar: EventUnit
    private(set) var toServer: EventUnit
    /// Whether a value of the calendar, or of the server, was dropped.
    private(set) var losesCalendar = false
    private(set) var losesServer = false

    /// - Parameter keepsCalendar: whether the calendar must not be written, so that the server's changes are reverted.
    init(
        calendar: EventUnit, was oldCalendar: EventUnit?, server: EventUnit, was oldServer: EventUnit?,
        winner: Winner, keepsCalendar: Bool = false
    ) {
        (toCalendar, toServer) = (calendar, server)
        let mine = Change(oldCalendar, calendar)
        let theirs = Change(oldServer, server)
        func settle<Value>(
            _ path: WritableKeyPath<EventUnit, Value>, _ isMine: Bool, _ isTheirs: Bool, calendarWins: Bool,
            isSame: (Value, Value) -> Bool
        ) {
            guard !isSame(calendar[keyPath: path], server[keyPath: path]) else { return }
            if isMine, isTheirs {
                if calendarWins || keepsCalendar { losesServer = true } else { losesCalendar = true }
            } else if isTheirs, keepsCalendar {
                losesServer = true
            }
            if keepsCalendar ? (isMine || isTheirs) : isMine && (!isTheirs || calendarWins) {
                toServer[keyPath: path] = calendar[keyPath: path]
            } else if isTheirs, !keepsCalendar {
                toCalendar[keyPath: path] = server[keyPath: path]
            }
        }
        let wins = winner == .calendar
        // A generic comparison of texts would normalise them.
        settle(\.content.title, mine.title, theirs.title, calendarWins: wins) { $0 == $1 }
        settle(\.content.location, mine.location, theirs.location, calendarWins: wins) { $0 == $1 }
        settle(\.content.notes, mine.notes, theirs.notes, calendarWins: wins) { $0 == $1 }
        let timesWin = wins || winner == .serverButTimes
        if mine.frame || theirs.frame {
            // Original starts depend on the times of their series, so both are merged as a whole.
            settle(\.schedule, mine.schedule, theirs.schedule, calendarWins: timesWin) { $0 == $1 }
        } else {
            let moments = Set([calendar, server, oldCalendar, oldServer].compactMap { $0 }.flatMap(\.moments))
            for moment in moments {
                let now = calendar.occurrence(moment)
                let there = server.occurrence(moment)
                settle(
                    \.[occurrence: moment], oldCalendar.map { $0.occurrence(moment) != now } ?? true,
                    oldServer.map { $0.occurrence(moment) != there } ?? true, calendarWins: timesWin
                ) { $0 == $1 }
            }
        }
    }

    /// The parts of a unit that changed; all of them when no earlier version is known.
    private struct Change {
        let title: Bool
        let location: Bool
        let notes: Bool
        let frame: Bool
        let schedule: Bool

        init(_ old: EventUnit?, _ new: EventUnit) {
            title = old?.content.title != new.content.title
            location = old?.content.location != new.content.location
            notes = old?.content.notes != new.content.notes
            frame =
                old?.content.span != new.content.span
                || old?.content.recurrence?.rule != new.content.recurrence?.rule
                || old?.content.recurrence?.additions != new.content.recurrence?.additions
            schedule = old?.schedule != new.schedule
        }
    }
}

extension EventUnit {
    /// The state of one occurrence.
    enum OccurrenceState: Hashable, Sendable {
        case regular, leftOut
        case changed(EventContent)
    }

    /// A unit's times with the occurrences that they identify.
    struct Schedule: Hashable, Sendable {
        var span: EventSpan
        var recurrence: EventRecurrence?
        var changed: [EventMoment: EventContent]
    }

    var schedule: Schedule {
        get { Schedule(span: content.span, recurrence: content.recurrence, changed: changed) }
        set {
            content.span = newValue.span
            content.recurrence = newValue.recurrence
            changed = newValue.changed
        }
    }

    var moments: Set<EventMoment> { Set(changed.keys).union(content.recurrence?.exceptions ?? []) }

    func occurrence(_ moment: EventMoment) -> OccurrenceState {
        if content.recurrence?.exceptions.contains(moment) == true { return .leftOut }
        return changed[moment].map { .changed($0) } ?? .regular
    }

    subscript(occurrence moment: EventMoment) -> OccurrenceState {
        get { occurrence(moment) }
        set {
            content.recurrence?.exceptions.remove(moment)
            changed[moment] = nil
            switch newValue {
            case .regular: break
            case .leftOut: content.recurrence?.exceptions.insert(moment)
            case .changed(let content): changed[moment] = content
            }
        }
    }
}
