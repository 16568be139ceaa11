// SPDX-License-Identifier: Apache-2.0

import Calendar

/// Merges two versions of an event that may both have changed since the sides last agreed.
///
/// Each side has its own base in its own form, so that a side's own form of a text does not count as a change.
struct UnitMerge: Hashable, Sendable {
    /// Whose edits of a unit count.
    struct Rule: Hashable, Sendable {
        var texts: Precedence
        var times: Precedence

        init(texts: Precedence, times: Precedence) { (self.texts, self.times) = (texts, times) }

        /// - Parameter edited: when the calendar's event was last changed, in milliseconds of the server's clock; nil where
        ///   that is not known.
        init(_ link: Link, _ view: RemoteView, edited: Int?) {
            switch link.origin {
            // The calendar's own event is not written, so that the server's changes are reverted.
            case .calendar: self.init(texts: .only(.calendar), times: .only(.calendar))
            // The server receives the calendar's times of an item and decides about them itself.
            case .server where view.isItem: self.init(texts: .either(.kalends), times: .either(.calendar))
            case .server:
                let later = Precedence.either(.later(kalends: view.updatedAt, calendar: edited))
                self.init(texts: later, times: later)
            }
        }
    }

    private(set) var toCalendar: EventUnit
    private(set) var toServer: EventUnit
    /// Whether a value of the calendar, or of the server, was dropped.
    private(set) var losesCalendar = false
    private(set) var losesServer = false

    init(
        calendar: EventUnit, was oldCalendar: EventUnit?, server: EventUnit, was oldServer: EventUnit?, rule: Rule
    ) {
        (toCalendar, toServer) = (calendar, server)
        let mine = Change(oldCalendar, calendar)
        let theirs = Change(oldServer, server)
        func settle<Value>(
            _ path: WritableKeyPath<EventUnit, Value>, _ isMine: Bool, _ isTheirs: Bool, by precedence: Precedence,
            isSame: (Value, Value) -> Bool
        ) {
            let isSame = isSame(calendar[keyPath: path], server[keyPath: path])
            switch precedence.verdict(isSame: isSame, isChangedHere: isTheirs, isChangedThere: isMine) {
            case .same, .leave: break
            case .write(let lost):
                toCalendar[keyPath: path] = server[keyPath: path]
                losesCalendar = losesCalendar || lost
            case .take(let lost):
                toServer[keyPath: path] = calendar[keyPath: path]
                losesServer = losesServer || lost
            }
        }
        // A generic comparison of texts would normalise them.
        settle(\.content.title, mine.title, theirs.title, by: rule.texts) { $0 == $1 }
        settle(\.content.location, mine.location, theirs.location, by: rule.texts) { $0 == $1 }
        settle(\.content.notes, mine.notes, theirs.notes, by: rule.texts) { $0 == $1 }
        if mine.frame || theirs.frame {
            // Original starts depend on the times of their series, so both are merged as a whole.
            settle(\.schedule, mine.schedule, theirs.schedule, by: rule.times) { $0 == $1 }
        } else {
            let moments = Set([calendar, server, oldCalendar, oldServer].compactMap { $0 }.flatMap(\.moments))
            for moment in moments {
                let now = calendar.occurrence(moment)
                let there = server.occurrence(moment)
                settle(
                    \.[occurrence: moment], oldCalendar.map { $0.occurrence(moment) != now } ?? true,
                    oldServer.map { $0.occurrence(moment) != there } ?? true, by: rule.times
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
