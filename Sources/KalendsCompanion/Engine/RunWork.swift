// SPDX-License-Identifier: Apache-2.0

import OfficeDays

/// One run: what was seen on both sides, and what has to be done about it.
struct RunWork: Sendable {
    var state: EngineState
    let settings: CompanionSettings
    let zones: Zones
    /// Milliseconds since 1970.
    let now: Int
    /// The span in which events are kept in step; more than it is looked at.
    let window: TimeWindow
    var counts = SyncReport.Counts()
    var pause: SyncPause?
    var calendars: [ByteString: StoreCalendar] = [:]
    /// Ids that are in use now, after a calendar was found again under another one.
    var own: [String] = []
    var mirror: StoreCalendar?
    var local = LocalView()
    var remote = RemoteIndex()
    /// Whether the server's changes were taken along in this run.
    var isFresh = false
    /// Whether events that are missing count as such: not in the first run after another choice.
    var judgesAbsence = true
    var claimed: Set<EventKey> = []
    var findings: [Int: Finding] = [:]
    var plans: [SyncPlan] = []
    /// Links that are over.
    var ended: Set<Int> = []

    /// Where a link's event is.
    enum Finding: Sendable {
        case found(StoreEvent)
        /// It is there, without our mark.
        case released(StoreEvent)
        /// It was looked for everywhere, and is not there.
        case missing
        /// It was not in the calendar before either.
        case absent
        /// Nobody can say: its calendar is not there, or it is outside of what is looked at.
        case unknown
        /// It is no longer among what the person chose.
        case outOfScope
    }

    init(_ state: EngineState, _ settings: CompanionSettings, _ zones: Zones, now: Int) {
        self.state = state
        self.settings = settings
        self.zones = zones
        self.now = now
        let clock = zones.clock(of: nil)
        let today = clock.date(at: now / 1000)
        window = TimeWindow(
            start: clock.start(of: today.adding(days: -settings.pastDays)),
            end: clock.start(of: today.adding(days: settings.futureDays + 1)))
    }

    /// Wider than the window, so that an event at its edge is never missing by a zone's offset.
    var seen: TimeWindow { TimeWindow(start: window.start - 2 * 86_400, end: window.end + 2 * 86_400) }

    /// The id under which a calendar of the settings is found now.
    func resolved(_ id: String) -> String {
        if calendars[id] != nil { return id }
        return state.calendarAliases[id].map { $0 } ?? id
    }

    func mark(of event: StoreEvent) -> EventMark? { EventMark(url: event.url) }

    func isOurs(_ event: StoreEvent, for link: Link) -> Bool {
        guard let mark = mark(of: event) else { return false }
        return mark.identity == link.mark
    }

    /// The address with the mark of a server's event.
    func address(of view: RemoteView, generation: Int) -> String {
        view.main.mark
            ?? EventMark.url(
                of: view.main.id, user: state.user ?? "", generation: generation, at: settings.serverURL)
    }

    func identity(of view: RemoteView) -> String? {
        EventMark(url: address(of: view, generation: 0))?.identity
    }

    /// Whether an event is within the window; a series is when it may have an occurrence there.
    func isInWindow(_ unit: EventUnit) -> Bool {
        let span = zones.window(of: unit.content.span)
        guard let recurrence = unit.content.recurrence else { return window.overlaps(span) }
        guard span.start < window.end else { return false }
        guard recurrence.additions.isEmpty, let rule = recurrence.rule, let last = Self.end(of: rule) else {
            return true
        }
        return last + 86_400 + (span.end - span.start) >= window.start
            || unit.changed.values.contains { window.overlaps(zones.window(of: $0.span)) }
    }

    /// The second until which a rule goes by its UNTIL, a day more at most; nil for a rule without one.
    private static func end(of rule: String) -> Int? {
        for part in rule.split(separator: ";") where part.hasPrefix("UNTIL=") {
            let digits = part.dropFirst(6).prefix(8)
            let bytes = Array(digits.utf8)
            guard bytes.count == 8 else { return nil }
            let text =
                String(decoding: bytes[..<4], as: UTF8.self) + "-" + String(decoding: bytes[4..<6], as: UTF8.self)
                + "-" + String(decoding: bytes[6...], as: UTF8.self)
            return Day(text).map { ($0.dayNumber + 1) * 86_400 }
        }
        return nil
    }
}
