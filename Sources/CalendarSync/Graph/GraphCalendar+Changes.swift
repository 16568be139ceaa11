// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

extension GraphCalendar {
    /// The result of a round of delta pages. If an event is on several pages, the last one wins.
    private struct Round {
        var events: [ByteString: GraphEvent] = [:]
        /// Ids, in order of first appearance.
        var order: [String] = []
        var removed: Set<ByteString> = []
        var link = ""

        /// Returns the round without the events that the caller already has: the echo of its own writes.
        func without(_ known: [ByteString: String]) -> Round {
            guard !known.isEmpty else { return self }
            var round = self
            var isChanged: Set<ByteString> = []
            for event in events.values where event.kind == .exception {
                if let master = event.seriesID { isChanged.insert(master) }
            }
            func isKnown(_ id: String) -> Bool {
                guard let event = events[id], let etag = event.etag else { return false }
                // The change key of a series may stay the same when one of its occurrences changes.
                return known[id] == etag && !isChanged.contains(id)
            }
            round.order = order.filter { id in
                guard let event = events[id] else { return true }
                return !isKnown(event.kind == .occurrence ? event.seriesID ?? id : id)
            }
            return round
        }
    }

    public func changes(
        in calendar: String, since cursor: String?, window: TimeRange, known: [ByteString: String]
    ) async throws(ProviderFailure) -> ChangeSet {
        if let cursor = cursor.flatMap(GraphCursor.init(_:)), cursor.covers(window, in: calendar),
            wire.trusts(cursor.link)
        {
            do throws(ProviderFailure) {
                let round = try await round(cursor.link).without(known)
                return try await changeSet(
                    round, in: calendar, window: cursor.window, series: cursor.series, isFull: false)
            } catch {
                guard error.kind == .cursorExpired else { throw error }
            }
        }
        let wide = GraphCursor.window(for: window)
        let first =
            "\(Self.path(of: calendar))/calendarView/delta?startDateTime=\(PercentEncoding.encode(wide.from.description))"
            + "&endDateTime=\(PercentEncoding.encode(wide.to.description))"
        do throws(ProviderFailure) {
            return try await changeSet(try await round(first), in: calendar, window: wide, series: [], isFull: true)
        } catch {
            // Graph asks for a new round while this one is under way: the next run begins one.
            guard error.kind == .cursorExpired else { throw error }
            throw ProviderFailure(.unavailable(retryAfter: nil), error.message, code: error.code)
        }
    }

    private func round(_ first: String) async throws(ProviderFailure) -> Round {
        var round = Round()
        var address = first
        var seen: Set<ByteString> = []
        while true {
            let answer = try await wire.send(
                "GET", address, prefer: "odata.maxpagesize=500, \(GraphWire.preferences)")
            guard answer.isSuccess else { throw answer.failure }
            guard let items = answer.body["value"]?.array else {
                throw ProviderFailure(.malformed, "Microsoft's answer to a listing lacks `value`.")
            }
            try await wire.http.keep(2 * answer.length)
            for item in items {
                guard let event = GraphEvent(item) else {
                    throw ProviderFailure(.malformed, "Microsoft lists an event without an id.")
                }
                if round.events[event.id] == nil, !round.removed.contains(event.id) { round.order.append(event.id) }
                if item["@removed"] != nil {
                    round.events[event.id] = nil
                    round.removed.insert(event.id)
                } else {
                    round.removed.remove(event.id)
                    round.events[event.id] = event
                }
            }
            if let link = answer.body["@odata.deltaLink"]?.string {
                try trust(link)
                round.link = link
                return round
            }
            guard let next = answer.body["@odata.nextLink"]?.string, round.order.count <= Self.mostItems,
                seen.count < Self.mostPages, seen.insert(next).inserted
            else { throw ProviderFailure(.malformed, "Microsoft's listing does not end.") }
            try trust(next)
            address = next
        }
    }

    /// The number of events in a round up to which each is looked at for its mark; for more, all our events are listed.
    private static let fewEvents = 20
    /// The number of seconds for which a new event may be missing from a search by its properties.
    private static let lag = 3600

    /// Makes the changes of a round: delta expands series and never returns a mark, so events are looked at again.
    private func changeSet(
        _ round: Round, in calendar: String, window: TimeRange, series known: [String], isFull: Bool
    ) async throws(ProviderFailure) -> ChangeSet {
        var singles: [String] = []
        var series: Set<ByteString> = []
        for id in round.order {
            guard let event = round.events[id] else { continue }
            switch event.kind {
            case .singleInstance: singles.append(id)
            case .seriesMaster: series.insert(id)
            case .occurrence, .exception:
                guard let master = event.seriesID else {
                    throw ProviderFailure(.malformed, "Microsoft lists an occurrence without its series.")
                }
                series.insert(master)
            }
        }
        var removed = round.order.filter { round.removed.contains($0) }
        // A removed id may belong to an occurrence of a series, or to a series with all its occurrences.
        if !removed.isEmpty { series.formUnion(Set(known)) }
        series.subtract(round.removed)

        var changes: [RemoteChange] = []
        var looked: [String] = []
        if singles.count + series.count <= Self.fewEvents {
            looked = singles + series.sortedTexts()
        } else {
            let marks = try await marked(in: calendar)
            let newest = round.events.values.compactMap(\.updatedAt).max() ?? Instant(seconds: 0)
            for id in singles {
                guard let event = round.events[id] else { continue }
                let isNew = (event.createdAt ?? newest) > newest.adding(seconds: -Self.lag)
                if let mark = marks[id] {
                    changes.append(.event(event.remote(mark: mark)))
                } else if isNew {
                    looked.append(id)
                } else {
                    changes.append(.event(event.remote()))
                }
            }
            for id in series.sortedTexts() {
                // A series that is not ours is not assembled, because nobody compares it.
                if marks[id] == nil, let master = round.events[id], master.kind == .seriesMaster,
                    (master.createdAt ?? newest) <= newest.adding(seconds: -Self.lag)
                {
                    changes.append(.event(master.remote()))
                } else {
                    looked.append(id)
                }
            }
        }
        var ours = Set(known).subtracting(round.removed)
        for (id, found) in try await events(looked, in: calendar) {
            guard var event = found else {
                removed.append(id)
                ours.remove(id)
                continue
            }
            if series.contains(id), event.mark != nil { ours.insert(id) }
            if case .master(let entry) = event.content, event.mark != nil {
                event.content = try await filled(entry, id: id, window: window)
            }
            changes.append(.event(event))
        }
        changes += removed.map { .removed(id: $0) }
        let cursor = GraphCursor(
            calendar: calendar, window: window, link: round.link, series: ours.map(\.string))
        return ChangeSet(changes: changes, isFull: isFull, cursor: cursor.text)
    }

    /// Completes a series whose master says nothing about its occurrences, by comparing what its rule yields with what
    /// takes place.
    ///
    /// Beyond the window, nothing is known about its occurrences.
    func filled(
        _ entry: Entry, id: String, window: TimeRange
    ) async throws(ProviderFailure) -> RemoteEvent.Content {
        let listed = try await pages(
            "/me/events/\(PercentEncoding.encode(id))/instances?startDateTime=\(PercentEncoding.encode(window.from.description))"
                + "&endDateTime=\(PercentEncoding.encode(window.to.description))&$top=500"
                + "&$select=\(GraphEvent.selection)")
        var entry = entry
        guard case .timed(_, _, let zone) = entry.span, let series = GraphSeries(entry),
            let starts = series.starts(from: window.from, to: window.to)
        else { return .master(entry) }
        do throws(NotExpressible) {
            var takePlace: Set<Instant> = []
            for event in listed.compactMap({ GraphEvent($0) }) {
                let span = try event.span(zone: zone)
                guard case .timed(let begins, _, _) = span else { continue }
                let original = event.originalStart ?? begins
                takePlace.insert(original)
                guard event.kind == .exception else { continue }
                let changed = Entry(
                    title: try event.title(), notes: try event.notes(), location: try event.place(), span: span,
                    status: event.status)
                if changed != entry.plain(at: original) { entry.occurrences[original] = .changed(changed) }
            }
            entry.repetition?.exdates = starts.filter { !takePlace.contains($0) }
            return .entry(entry)
        } catch {
            return .unreadable(error.reason)
        }
    }
}
