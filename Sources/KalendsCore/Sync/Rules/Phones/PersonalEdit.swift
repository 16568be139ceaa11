// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// An edit of a personal event's content; fields that are not given stay as they are.
package struct PersonalEdit: Sendable {
    /// The title that replaces an empty one.
    static let untitled = "Untitled"

    var title: String?
    var date: CivilDate?
    /// HH:MM or HH:MM:SS.
    var startTime = Edit<String>.keep
    var endTime = Edit<String>.keep
    var endDate = Edit<CivilDate>.keep
    var isAllDay: Bool?
    var timeZone = Edit<String>.keep
    var description = Edit<String>.keep
    var location = Edit<String>.keep
    var recurrence = Edit<PersonalRecurrence>.keep

    /// Returns the edited content, for nil the content of a new event; throws `Refusal` for contradictory values.
    ///
    /// A new date moves the last day with it. An end time that is earlier than the start time is on the next day,
    /// unless the last day is given too.
    func applied(to old: PersonalEvent.Content?, at pointer: String) throws(Refusal) -> PersonalEvent.Content {
        let date = date ?? old.flatMap { CivilDate(iso: $0.date) } ?? CivilDate(daysSinceEpoch: 0)
        var content = old ?? PersonalEvent.Content(title: Self.untitled, date: date.description)
        var faults = FaultList()
        func fault(_ name: String, _ code: Fault.Code, _ message: String) {
            faults.append(Fault(pointer: "\(pointer)/\(name)", code: code, message: message))
        }
        content.title = title ?? content.title
        content.date = date.description
        var last = content.endDate.flatMap { CivilDate(iso: $0) }
        if let old, let before = CivilDate(iso: old.date) {
            last = last?.adding(days: date.daysSinceEpoch - before.daysSinceEpoch)
        }
        last = endDate.applied(to: last)
        content.startTime = startTime.applied(to: content.startTime)
        content.endTime = endTime.applied(to: content.endTime)
        if isAllDay == true { (content.startTime, content.endTime) = (nil, nil) }
        if content.startTime == nil, content.endTime != nil {
            if case .set = endTime { fault("endTime", .required, "An end needs a startTime.") }
            content.endTime = nil
        }
        if let start = content.startTime, let end = content.endTime, last ?? date == date,
            Self.seconds(end) < Self.seconds(start)
        {
            if case .set = endTime, last == nil {
                last = date.adding(days: 1)
            } else {
                fault("endTime", .order, "The end must not be before the start.")
            }
        }
        if let last, last < date { fault("endDate", .order, "The last day must not be before the first.") }
        content.endDate = last?.description
        content.timeZone = timeZone.applied(to: content.timeZone)
        content.description = description.applied(to: content.description)
        content.location = location.applied(to: content.location)
        switch recurrence {
        case .keep: break
        case .clear: content.recurrence = nil
        case .set(let recurrence): content.recurrence = recurrence.stored
        }
        if !faults.isEmpty { throw Refusal.invalid(faults) }
        return content
    }

    /// Follows the rule of this edit outside any transaction; nil when that takes no more work than allowed.
    ///
    /// The work depends on the rule, and hardly on the start, which may be only in the stored event.
    ///
    /// - Parameter budget: the budget of the whole request.
    func fault(at pointer: String, following budget: inout RecurrenceBudget) -> Fault? {
        guard case .set(let recurrence) = recurrence, let text = recurrence.rule, let rule = try? RecurrenceRule(text)
        else { return nil }
        let first = CivilDateTime(startOf: date ?? CivilDate(daysSinceEpoch: 0))
        var start = EventTime.date(first.date)
        if isAllDay != true, case .set(let time) = startTime {
            start = .floating(first.adding(seconds: Self.seconds(time)))
        }
        var event = Event(uid: "series", start: start)
        event.recurrence = Recurrence(rules: [rule])
        let end = Series(master: event, overrides: []).followed(floatingIn: FixedOffset.utc, budget: &budget)
        return end == nil ? .unfollowed(at: "\(pointer)/recurrence/rrule", budget) : nil
    }

    /// Whether a text is a time of day in the stored form.
    static func isTime(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let isFormed = parts.allSatisfy { part in part.count == 2 && part.allSatisfy { (48...57).contains($0) } }
        return isFormed && (2...3).contains(parts.count) && seconds(text) < 86_400
    }

    /// Returns the seconds after midnight of a time in the stored form.
    static func seconds(_ time: String) -> Int {
        let parts = time.split(separator: ":").map { Int($0) ?? 0 }
        return zip(parts, [3600, 60, 1]).reduce(0) { $0 + $1.0 * $1.1 }
    }
}

extension PersonalEvent {
    /// Returns the days that the content touches, by its own dates, as days since 1970; the last is nil for a series.
    static func days(of content: Content) -> (first: Int, last: Int?) {
        let first = CivilDate(iso: content.date)?.daysSinceEpoch ?? 0
        let last = content.endDate.flatMap { CivilDate(iso: $0)?.daysSinceEpoch } ?? first
        return (first, content.recurrence == nil ? last : nil)
    }
}
