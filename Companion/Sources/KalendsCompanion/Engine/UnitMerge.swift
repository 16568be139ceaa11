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
        let sides = Sides(here: server, there: calendar, wasHere: oldServer, wasThere: oldCalendar)
        // Original starts depend on the times of their series, so both are merged as a whole.
        let isMoved = !calendar.hasOccurrences(like: oldCalendar) || !server.hasOccurrences(like: oldServer)
        let moments = Set([calendar, server, oldCalendar, oldServer].compactMap { $0 }.flatMap(\.moments))
        let fields: [EventUnit.Field] =
            [.title, .location, .notes] + (isMoved ? [.schedule] : moments.map { .occurrence($0) })
        var (losesCalendar, losesServer) = (false, false)
        (toServer, toCalendar) = sides.merged(
            fields, reading: { $0.part($1) }, taking: { $0.take($1, of: $2) },
            by: { field, values in
                let verdict = (field.isText ? rule.texts : rule.times).verdict(
                    isSame: values.isSame, isChangedHere: values.isChangedHere, isChangedThere: values.isChangedThere)
                if verdict == .write(lost: true) { losesCalendar = true }
                if verdict == .take(lost: true) { losesServer = true }
                return verdict
            })
        (self.losesCalendar, self.losesServer) = (losesCalendar, losesServer)
    }
}

extension EventUnit {
    /// A part that is merged by itself.
    enum Field: Hashable, Sendable {
        case title, location, notes
        /// The times, with the occurrences that they identify.
        case schedule
        case occurrence(EventMoment)

        var isText: Bool { [.title, .location, .notes].contains(self) }
    }

    /// The value that a unit has in a field.
    enum Part: Hashable, Sendable {
        case text(ByteString)
        case schedule(EventSpan, EventRecurrence?, [EventMoment: EventContent])
        case regular, leftOut
        case changed(EventContent)
    }

    func part(_ field: Field) -> Part {
        switch field {
        case .title: .text(ByteString(content.title))
        case .location: .text(ByteString(content.location))
        case .notes: .text(ByteString(content.notes))
        case .schedule: .schedule(content.span, content.recurrence, changed)
        case .occurrence(let moment):
            isLeftOut(moment) ? .leftOut : changed[moment].map { .changed($0) } ?? .regular
        }
    }

    fileprivate mutating func take(_ field: Field, of other: EventUnit) {
        switch field {
        case .title: content.title = other.content.title
        case .location: content.location = other.content.location
        case .notes: content.notes = other.content.notes
        case .schedule:
            (content.span, content.recurrence) = (other.content.span, other.content.recurrence)
            changed = other.changed
        case .occurrence(let moment):
            content.recurrence?.exceptions.remove(moment)
            if other.isLeftOut(moment) { content.recurrence?.exceptions.insert(moment) }
            changed[moment] = other.isLeftOut(moment) ? nil : other.changed[moment]
        }
    }

    private func isLeftOut(_ moment: EventMoment) -> Bool { content.recurrence?.exceptions.contains(moment) == true }

    /// The original starts of occurrences that are changed or left out.
    fileprivate var moments: Set<EventMoment> { Set(changed.keys).union(content.recurrence?.exceptions ?? []) }

    /// Whether its occurrences have the same original starts.
    fileprivate func hasOccurrences(like other: EventUnit?) -> Bool {
        content.span == other?.content.span && content.recurrence?.rule == other?.content.recurrence?.rule
            && content.recurrence?.additions == other?.content.recurrence?.additions
    }
}
