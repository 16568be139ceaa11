// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

extension GraphEvent {
    /// The maximum number of changed and cancelled occurrences of one series.
    private static let mostOccurrences = 5000

    /// The event's content, in the form that all providers share.
    ///
    /// A series needs `exceptionOccurrences` and `cancelledOccurrences` in the same answer; unless it has both, its
    /// content is only that of the master.
    var content: RemoteEvent.Content {
        do throws(NotExpressible) {
            switch kind {
            case .singleInstance: return .entry(try entry())
            case .occurrence, .exception: throw NotExpressible("This is an occurrence of a series.")
            case .seriesMaster:
                var entry = try entry()
                guard let exceptions = json["exceptionOccurrences"]?.array,
                    let cancelled = json["cancelledOccurrences"]?.array
                else { return .master(entry) }
                guard exceptions.count + cancelled.count <= Self.mostOccurrences else {
                    throw NotExpressible("The series has too many changed occurrences.")
                }
                let exdates = try Self.cancelled(cancelled, of: entry)
                entry.repetition?.exdates = exdates
                entry.occurrences = try changed(exceptions, of: entry)
                return .entry(entry)
            }
        } catch {
            return .unreadable(error.reason)
        }
    }

    /// - Parameter mark: the event's mark, if it is known from elsewhere.
    func remote(mark known: EventMark? = nil) -> RemoteEvent {
        RemoteEvent(
            id: id, etag: etag, mark: mark ?? known, content: content, updatedAt: updatedAt, isUnfinished: isUnfinished,
            hasGuests: (json["attendees"]?.array).map { !$0.isEmpty })
    }

    private func entry() throws(NotExpressible) -> Entry {
        var entry = Entry(
            title: try title(), notes: try notes(), location: try place(), span: try span(zone: nil),
            reminders: reminders, status: status, availability: availability)
        guard kind == .seriesMaster else { return entry }
        guard case .timed(let start, let end, _) = entry.span else {
            throw NotExpressible("It repeats on whole days, which no item of a circle does.")
        }
        guard let json = json["recurrence"], json.object != nil else {
            throw NotExpressible("The series does not say how it repeats.")
        }
        let recurrence = try GraphRecurrence(json: json)
        let name = zoneName ?? json["range"]?["recurrenceTimeZone"]?.string ?? ""
        guard
            let zone = GraphZones.identifier(of: name)
                ?? (json["range"]?["recurrenceTimeZone"]?.string).flatMap(GraphZones.identifier(of:)),
            let clock = SystemTimeZones.shared.zone(zone)
        else { throw NotExpressible("The series repeats in a time zone that is not known.") }
        let first = clock.civil(at: start)
        let rule = try recurrence.rule(first: first, clock: clock)
        entry.span = .timed(start: start, end: end, zone: zone)
        entry.repetition = Repetition(rrule: rule.description)
        // The same test as for a series that we send: a start outside the rule would be counted differently.
        _ = try GraphRecurrence(rule, first: first, clock: clock)
        return entry
    }

    /// Reads ids such as `OID.<id of the master>.2026-12-10`, with the day in the series' local time.
    private static func cancelled(_ ids: [JSONValue], of entry: Entry) throws(NotExpressible) -> [Instant] {
        guard case .timed(let start, _, let zone) = entry.span, let clock = SystemTimeZones.shared.zone(zone) else {
            return []
        }
        let first = clock.civil(at: start)
        var starts: [Instant] = []
        for id in ids {
            guard let text = id.string,
                let date = CivilDate(iso: String(fromOutside: text.utf8.suffix(10))),
                let wall = CivilDateTime(date: date, hour: first.hour, minute: first.minute, second: first.second)
            else { throw NotExpressible("A cancelled occurrence does not say on which day it was.") }
            starts.append(clock.instant(of: wall))
        }
        return Set(starts).sorted()
    }

    private func changed(_ exceptions: [JSONValue], of entry: Entry) throws(NotExpressible) -> [Instant: Occurrence] {
        guard case .timed(_, _, let zone) = entry.span else { return [:] }
        var occurrences: [Instant: Occurrence] = [:]
        for json in exceptions {
            guard let event = GraphEvent(json), let original = event.originalStart else {
                throw NotExpressible("A changed occurrence does not say which one it was.")
            }
            guard !event.isCancelled else { continue }
            let changed = Entry(
                title: try event.title(), notes: try event.notes(), location: try event.place(),
                span: try event.span(zone: zone), status: event.status)
            // An occurrence that was restored is still an exception to Graph.
            if changed != entry.plain(at: original) { occurrences[original] = .changed(changed) }
        }
        return occurrences
    }
}
