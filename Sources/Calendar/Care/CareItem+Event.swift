// SPDX-License-Identifier: Apache-2.0

/// The UID, sequence and times of an item's stored change, as its event shows them (RFC 5545 section 3.8.7).
public struct Revision: Hashable, Sendable {
    /// Created once and never reused.
    public var uid: String
    public var sequence: Int
    public var createdAt: Instant
    /// The last visible change; it becomes DTSTAMP and LAST-MODIFIED, which never show the time of writing.
    public var updatedAt: Instant

    public init(uid: String, sequence: Int, createdAt: Instant, updatedAt: Instant) {
        self.uid = uid
        self.sequence = sequence
        self.createdAt = createdAt
        self.updatedAt = updatedAt
    }
}

extension Event {
    /// Takes over the sequence and the time of a stored change.
    package mutating func take(_ revision: Revision) {
        (sequence, timestamp, lastModified) = (revision.sequence, revision.updatedAt, revision.updatedAt)
    }
}

/// How items are shown in a calendar.
public struct CareStyle: Hashable, Sendable {
    /// The text before every title; `CK` unless configured.
    public var titlePrefix: String
    public var detail: DetailLevel
    public var includesReminders: Bool
    /// Whether tasks become to-dos (VTODO), which most calendar apps do not show, rather than events.
    public var showsTasksAsToDos: Bool
    /// Whether handoffs become to-dos, too.
    public var showsHandoffsAsToDos: Bool

    public init(
        titlePrefix: String = "CK", detail: DetailLevel = .full, includesReminders: Bool = true,
        showsTasksAsToDos: Bool = false, showsHandoffsAsToDos: Bool = false
    ) {
        self.titlePrefix = titlePrefix
        self.detail = detail
        self.includesReminders = includesReminders
        self.showsTasksAsToDos = showsTasksAsToDos
        self.showsHandoffsAsToDos = showsHandoffsAsToDos
    }
}

extension CareItem {
    /// The item as a calendar event.
    ///
    /// An item that is due at a time is an event too, because Google, Apple Calendar and Outlook show no to-dos; without
    /// a time it can only be a to-do. Times are on the clock of `zone`.
    ///
    /// - Parameter isOwn: whether the reader of the calendar does the item and is therefore busy while it lasts.
    public func event(_ revision: Revision, in zone: TimeZoneReference, style: CareStyle, isOwn: Bool = false) -> Event
    {
        func zoned(_ instant: Instant) -> EventTime { .zoned(zone.rules.civil(at: instant), zone) }
        var event: Event
        // Its place on the time line; nil for whole days.
        var instants: (start: Instant, end: Instant)?
        switch span {
        case nil: event = Event(kind: .toDo, uid: revision.uid, start: nil)
        case .timed(let start, _, _)
        where isToDo && style.showsTasksAsToDos || isHandoff && style.showsHandoffsAsToDos:
            event = Event(kind: .toDo, uid: revision.uid, start: nil, end: .time(zoned(start)))
            instants = (start, start)
        case .timed(let start, let end, _):
            event = Event(uid: revision.uid, start: zoned(start), end: .time(zoned(end)))
            instants = (start, end)
        case .days(let first, let until):
            event = Event(uid: revision.uid, start: .date(first), end: .time(.date(until)))
        }
        event.recurrence = recurrence
        if let instants { event.keepInstants(zone, exactly: instants) }
        let mark = status == .completed && event.kind == .event ? "✓ " : ""
        event.summary = titleBeginning(style) + mark + title.joined(separator: " - ")
        if event.kind == .toDo {
            event.note(progress: status, revision)
        } else {
            event.status =
                switch status {
                case .planned, .completed: "CONFIRMED"
                case .tentative: "TENTATIVE"
                case .cancelled: "CANCELLED"
                }
            // A to-do does not make the reader busy, and has no TRANSP.
            event.mark(free: availability == .free || availability == .busyForOwner && !isOwn)
        }
        event.description = notes
        event.location = location
        event.recurrenceID = recurrenceID
        event.take(revision)
        event.created = revision.createdAt
        event.categories = [category]
        if style.includesReminders, status == .planned || status == .tentative, span != nil {
            event.alarms = Set(reminders).sorted().map { minutes in
                let before = ICalDuration(seconds: -60 * minutes)
                return Alarm(
                    trigger: event.kind == .toDo ? .relativeToEnd(before) : .relativeToStart(before),
                    description: event.summary)
            }
        }
        return event.reduced(to: style)
    }
}

extension Event {
    /// Sets the status of a to-do, which itself says whether it is done (RFC 5545 section 3.6.2).
    fileprivate mutating func note(progress: CareItem.Status, _ revision: Revision) {
        switch progress {
        case .planned, .tentative: status = "NEEDS-ACTION"
        case .cancelled: status = "CANCELLED"
        case .completed:
            status = "COMPLETED"
            otherProperties.append(ContentLine(name: "COMPLETED", value: revision.updatedAt.basic))
        }
    }

    /// Writes the times in UTC where the zone's clock shows them twice: the RFC means the first occurrence, but libical
    /// and ical.js take the second.
    fileprivate mutating func keepInstants(_ zone: TimeZoneReference, exactly instants: (start: Instant, end: Instant))
    {
        func isPlain(_ instant: Instant) -> Bool { zone.rules.isPlain(zone.rules.civil(at: instant)) }
        guard recurrence.isEmpty, !isPlain(instants.start) || !isPlain(instants.end) else { return }
        start = start.map { _ in .utc(instants.start) }
        end = .time(.utc(instants.end))
    }

    /// Sets whether the reader is free during the event, also for Outlook, which may ignore TRANSP.
    public mutating func mark(free: Bool) {
        isTransparent = free
        otherProperties.removeAll { $0.name == "X-MICROSOFT-CDO-BUSYSTATUS" }
        otherProperties.append(ContentLine(name: "X-MICROSOFT-CDO-BUSYSTATUS", value: free ? "FREE" : "BUSY"))
    }

    /// The event with no more than the style's detail level shows.
    ///
    /// It is built from what may be shown, not stripped of what may not, so that a property nobody thought of stays
    /// private.
    public func reduced(to style: CareStyle) -> Event {
        guard style.detail != .full else {
            guard !style.includesReminders else { return self }
            var copy = self
            copy.alarms = []
            return copy
        }
        var shown = Event(kind: kind, uid: uid, recurrenceID: recurrenceID, start: start, end: end)
        shown.appliesToFuture = appliesToFuture
        shown.sequence = sequence
        shown.timestamp = timestamp
        shown.created = created
        shown.lastModified = lastModified
        shown.recurrence = recurrence
        shown.status = status
        switch style.detail {
        case .full, .titles:
            shown.summary = summary
            if kind == .event { shown.mark(free: isTransparent ?? false) }
        case .minimal:
            shown.summary = "\(style.titlePrefix) Event"
            if kind == .event { shown.mark(free: isTransparent ?? false) }
        case .busy:
            shown.summary = "Busy"
            if kind == .event { shown.mark(free: false) }
        }
        return shown
    }
}
