// SPDX-License-Identifier: Apache-2.0

import Calendar
import OfficeDays

extension RemoteEvent {
    /// The content of the server's event in the form of calendars; nil when its times cannot be read.
    var content: EventContent? {
        guard let first = Day(iso: date) else { return nil }
        var span: EventSpan
        if let startTime {
            guard let from = WallTime.seconds(startTime) else { return nil }
            let start = WallTime(first, second: from)
            var end = start
            if let endTime {
                guard let until = WallTime.seconds(endTime) else { return nil }
                end = WallTime(endDate.flatMap { Day(iso: $0) } ?? first, second: until)
                if end < start, endDate == nil { end.day = end.day.adding(days: 1) }
            } else if let last = endDate.flatMap({ Day(iso: $0) }) {
                end.day = last
            }
            guard end >= start else { return nil }
            span = .timed(start: start, end: end, zone: timeZone)
        } else {
            let last = endDate.flatMap { Day(iso: $0) } ?? first
            span = .allDay(first: first, last: max(first, last))
        }
        var content = EventContent(
            title: title, span: span, location: location ?? "", notes: description ?? "", recurrence: nil)
        if let recurrence, recurrence.rrule != nil || recurrence.rdates?.isEmpty == false {
            func moments(_ texts: [String]?) -> Set<EventMoment> { Set((texts ?? []).compactMap { EventMoment($0) }) }
            content.recurrence = EventRecurrence(
                rule: recurrence.rrule, exceptions: moments(recurrence.exdates), additions: moments(recurrence.rdates))
        }
        return content
    }

    /// Returns the event with other contents, as the server will show it.
    func showing(_ content: EventContent) -> RemoteEvent {
        var event = self
        let sent = SentEvent(content, externalID: "", changedFrom: nil)
        event.title = content.title
        event.date = sent.date
        event.startTime = sent.startTime
        event.endTime = sent.endTime
        event.endDate = sent.endDate
        event.timeZone = content.span.isAllDay ? timeZone : sent.timeZone.flatMap { $0.isEmpty ? nil : $0 }
        event.allDay = content.span.isAllDay
        event.description = content.notes
        event.location = content.location
        event.recurrence = content.recurrence == nil ? nil : sent.recurrence
        if event.isDeleted { event.syncState = "linked" }
        event.deletedAt = nil
        return event
    }
}

extension SentEvent {
    /// Makes an event with the differences from the server's contents, or with all fields when the server has none.
    init(_ content: EventContent, externalID: String, changedFrom old: EventContent?) {
        self.init(externalId: externalID, title: content.title, date: content.span.firstDay.description)
        if old?.span != content.span {
            endDate = content.span.lastDay.description
            switch content.span {
            case .allDay: allDay = true
            case .timed(let start, let end, let zone):
                allDay = false
                startTime = WallTime.text(start.second)
                endTime = WallTime.text(end.second)
                timeZone = zone ?? ""
            }
        }
        if old?.location != content.location { location = content.location }
        if old?.notes != content.notes { description = content.notes }
        if old.map({ $0.recurrence != content.recurrence }) ?? (content.recurrence != nil) {
            recurrence = RemoteRecurrence(
                rrule: content.recurrence?.rule, exdates: Self.texts(content.recurrence?.exceptions),
                rdates: Self.texts(content.recurrence?.additions))
        }
    }

    private static func texts(_ moments: Set<EventMoment>?) -> [String] { (moments ?? []).sorted().map(\.text) }
}
