// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCompanion
import OfficeDays

/// One file of a calendar: an event, or a series with its changed occurrences.
struct VdirEvent {
    /// The content of a file.
    enum Reading {
        case event(VdirEvent)
        /// A task, a journal entry, or a cancelled event, which counts as deleted.
        case other
        /// A file that cannot be read as one event. It may be half written, so its event must not count as deleted.
        case unreadable
    }

    var master: Event
    var overrides: [Event]
    let unit: EventUnit

    /// - Parameter zones: the zones for times without their own zone.
    static func read(_ bytes: [UInt8], _ zones: Zones) -> Reading {
        var options = CalendarReader.Options()
        options.mendsTexts = false
        options.keepsAttachments = true
        options.threads = 1
        options.limits.bytes = VdirFile.longest
        let reading = CalendarReader(options: options).read(bytes)
        guard reading.refusal == nil, reading.skipped == 0, reading.calendars.count == 1 else { return .unreadable }
        let events = reading.events.map(\.onKnownClocks)
        guard !events.isEmpty else { return .unreadable }
        let own = events.filter { $0.kind == .event }
        guard !own.isEmpty else { return .other }
        let masters = own.filter { $0.recurrenceID == nil }
        guard own.count == events.count, masters.count == 1, let master = masters.first,
            own.allSatisfy({ $0.uid == master.uid && !$0.appliesToFuture })
        else { return .unreadable }
        if master.isCancelled { return .other }
        let overrides = own.filter { $0.recurrenceID != nil }
        guard let unit = VdirTimes(zones).unit(master, overrides) else { return .unreadable }
        return .event(VdirEvent(master: master, overrides: overrides, unit: unit))
    }

    /// Whether other people take part.
    var hasAttendees: Bool {
        ([master] + overrides).contains { event in
            event.otherProperties.contains { $0.name == "ATTENDEE" || $0.name == "ORGANIZER" }
        }
    }

    /// The file's text.
    var text: [UInt8] { ICalendar(events: [master] + overrides).serialized() }

    /// Returns the occurrences that overlap a span.
    func occurrences(in window: TimeRange, _ zones: Zones) -> [(title: String, range: TimeRange, isAllDay: Bool)] {
        let rules = TimeZoneReference(zones.device())?.rules ?? FixedOffset.utc
        let found = Series(master: master, overrides: overrides).occurrences(
            from: window.from, to: window.to, floatingIn: rules)
        return found.occurrences.filter { !$0.isCancelled }.map { occurrence in
            (
                occurrence.event.summary ?? "",
                TimeRange(
                    from: occurrence.start.instant(floatingIn: rules), to: occurrence.end.instant(floatingIn: rules)),
                occurrence.start.isDate
            )
        }
    }
}

extension Event {
    /// The same event in tzdata's zones, where its file defines only a part of the zone of the same name.
    ///
    /// khal writes a zone with the changes of only one year, but a series continues beyond it.
    fileprivate var onKnownClocks: Event {
        var event = self
        event.start = start?.onKnownClock
        if case .time(let time) = end { event.end = .time(time.onKnownClock) }
        event.recurrenceID = recurrenceID?.onKnownClock
        event.recurrence.exclusions = recurrence.exclusions.map(\.onKnownClock)
        event.recurrence.additions = recurrence.additions.map { addition in
            var known = addition
            known.start = addition.start.onKnownClock
            return known
        }
        return event
    }
}

extension EventTime {
    /// The time in tzdata's zone of the same name, if both mean the same instant.
    fileprivate var onKnownClock: EventTime {
        guard case .zoned(let wall, let zone) = self, zone.definition != nil,
            let known = TimeZoneReference(zone.identifier),
            known.rules.instant(of: wall) == zone.rules.instant(of: wall)
        else { return self }
        return .zoned(wall, known)
    }
}
