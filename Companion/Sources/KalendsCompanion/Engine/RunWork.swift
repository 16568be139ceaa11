// SPDX-License-Identifier: Apache-2.0

import Calendar
import OfficeDays

/// One run: the state of both sides, and what has to be done about it.
struct RunWork: Sendable {
    var state: EngineState
    let settings: CompanionSettings
    let zones: Zones
    /// Milliseconds since 1970.
    let now: Int
    /// The span in which events are kept in step; a wider span is read.
    let window: TimeRange
    var counts = SyncReport.Counts()
    var pause: SyncPause?
    var calendars: [ByteString: StoreCalendar] = [:]
    /// The current ids, after calendars with new ids were found again.
    var own: [String] = []
    var mirror: StoreCalendar?
    var local = LocalView()
    var remote = RemoteIndex()
    /// Whether this run includes the server's changes.
    var isFresh = false
    /// Whether the person has switched off the writing of events.
    var isWriteOff = false
    /// Whether the server says that the connection was ended there.
    var isEnded = false
    /// Whether missing events may count as deleted; false in the first run after a change of the settings.
    var judgesAbsence = true
    var claimed: Set<EventKey> = []
    var findings: [Int: Finding] = [:]
    /// The ids of calendars in which none of our events has its mark any more.
    var unmarking: Set<ByteString> = []
    var plans: [SyncPlan] = []
    /// Links that have ended.
    var ended: Set<Int> = []

    /// The result of the search for a link's event.
    enum Finding: Sendable {
        case found(StoreEvent)
        /// The event exists without the mark.
        case released(StoreEvent)
        /// The event was searched for everywhere and does not exist.
        case missing
        /// The event was not in the calendar before either.
        case absent
        /// The result is unknown: the event's calendar is unavailable, or the event is outside the span that is read.
        case unknown
        /// The event is no longer in the calendars that the person chose.
        case outOfScope
    }

    init(_ state: EngineState, _ settings: CompanionSettings, _ zones: Zones, now: Int) {
        self.state = state
        self.settings = settings
        self.zones = zones
        self.now = now
        let clock = zones.clock(of: nil)
        let today = clock.date(at: now / 1000)
        window = TimeRange(
            seconds: clock.start(
                of: today.adding(days: -settings.pastDays))..<clock.start(
                    of: today.adding(days: settings.futureDays + 1)))
    }

    /// The span that is read, wider than the window, so that a zone's offset cannot make an event at its edge look
    /// missing.
    var seen: TimeRange { window.widened(by: 2 * 86_400) }

    /// Returns the current id of a calendar in the settings.
    func resolved(_ id: String) -> String {
        if calendars[id] != nil { return id }
        return state.calendarAliases[id].map { $0 } ?? id
    }

    func mark(of event: StoreEvent) -> EventMark? { EventMark(url: event.url) }

    func isOurs(_ event: StoreEvent, for link: Link) -> Bool {
        guard let mark = mark(of: event) else { return false }
        return mark.identity == link.mark
    }

    /// Returns the URL with the mark of a server's event.
    func address(of view: RemoteView, generation: Int) -> String {
        view.main.mark
            ?? EventMark.url(
                of: view.main.id, user: state.user ?? "", generation: generation, at: settings.serverURL)
    }

    func identity(of view: RemoteView) -> String? {
        EventMark(url: address(of: view, generation: 0))?.identity
    }

    /// Whether an event is in the window; a series is if it may have an occurrence there.
    func isInWindow(_ unit: EventUnit) -> Bool {
        let span = zones.window(of: unit.content.span)
        guard let recurrence = unit.content.recurrence else { return window.overlaps(span) }
        guard span.from < window.to else { return false }
        guard recurrence.additions.isEmpty, let rule = recurrence.rule, let last = Self.end(of: rule) else {
            return true
        }
        return last + 86_400 + span.seconds.count >= window.from.seconds
            || unit.changed.values.contains { window.overlaps(zones.window(of: $0.span)) }
    }

    /// Returns the end of the day of a rule's UNTIL, in seconds since 1970; nil for a rule without UNTIL.
    private static func end(of rule: String) -> Int? {
        for part in rule.split(separator: ";") where part.hasPrefix("UNTIL=") {
            let digits = part.dropFirst(6).prefix(8)
            let bytes = Array(digits.utf8)
            guard bytes.count == 8 else { return nil }
            let text =
                String(decoding: bytes[..<4], as: UTF8.self) + "-" + String(decoding: bytes[4..<6], as: UTF8.self)
                + "-" + String(decoding: bytes[6...], as: UTF8.self)
            return Day(iso: text).map { ($0.daysSinceEpoch + 1) * 86_400 }
        }
        return nil
    }
}

extension RunWork {
    /// After the end of the connection only the server's own removals are carried out, and nothing is sent.
    mutating func leave() {
        for index in plans.indices {
            if plans[index].write != .remove || plans[index].view?.isDeleted != true { plans[index].write = nil }
            plans[index].sending = nil
        }
        pause = .disconnectedThere
    }
}
