// SPDX-License-Identifier: Apache-2.0

extension GoogleCalendar {
    public func look(
        at ids: [String], in calendar: String
    ) async throws(ProviderFailure) -> [(id: String, look: RemoteLookup)] {
        try await looked(at: ids, in: calendar, listed: [])
    }

    /// Looks at events, each series with all its occurrences.
    ///
    /// - Parameter listed: events that a listing or a write has returned. They count where the occurrences of a series,
    ///   which come from an index, are older.
    func looked(
        at ids: [String], in calendar: String, listed: [GoogleEvent]
    ) async throws(ProviderFailure) -> [(id: String, look: RemoteLookup)] {
        guard !ids.isEmpty else { return [] }
        let answers = await wire.send(ids.map { GoogleCall(method: "GET", path: Self.path(calendar, $0)) })
        var masters: [Int: GoogleEvent] = [:]
        var isCalendarDoubtful = false
        for (index, result) in answers.enumerated() {
            let answer = try result.get()
            switch answer.status {
            case 404: isCalendarDoubtful = true
            case 410: break
            default:
                guard let event = GoogleEvent(try object(answer)), event.id == ids[index] else { throw Self.malformed }
                if !event.isCancelled { masters[index] = event }
            }
        }
        // When a calendar is gone, each of its events answers 404 although none of them was deleted.
        if isCalendarDoubtful { try await find(calendar) }
        let exceptions = try await exceptions(of: masters, in: calendar, listed: listed)
        return ids.enumerated().map { index, id in
            guard let master = masters[index] else { return (id, .gone) }
            return (id, .present(GoogleUnit(master: master, exceptions: exceptions[index] ?? []).event))
        }
    }

    /// Checks that a calendar answers; throws when it does not.
    func find(_ calendar: String) async throws(ProviderFailure) {
        let call = GoogleCall(method: "GET", path: Self.path(calendar), query: [("maxResults", "1")])
        _ = try object(try await wire.send(call))
    }

    /// Returns the changed and deleted occurrences of the series among some events.
    private func exceptions(
        of masters: [Int: GoogleEvent], in calendar: String, listed: [GoogleEvent]
    ) async throws(ProviderFailure) -> [Int: [GoogleEvent]] {
        let series = masters.filter { $0.value.isSeries && $0.value.seriesID == nil }.sorted { $0.key < $1.key }
        guard !series.isEmpty else { return [:] }
        func call(_ uid: String, _ pages: GooglePages) -> GoogleCall {
            GoogleCall(
                method: "GET", path: Self.path(calendar),
                query: [("iCalUID", uid), ("maxResults", "2500"), ("showDeleted", "true")] + pages.query)
        }
        let uids = series.compactMap { $0.value.iCalUID }
        guard uids.count == series.count else { throw Self.malformed }
        let first = GooglePages(most: 40)
        let answers = await wire.send(uids.map { call($0, first) })
        var found: [Int: [GoogleEvent]] = [:]
        for (index, result) in answers.enumerated() {
            var list = try object(try result.get())
            var pages = first
            var byID: [ByteString: GoogleEvent] = [:]
            let id = series[index].value.id
            while true {
                for item in try items(list) {
                    guard let event = GoogleEvent(item) else { throw Self.malformed }
                    if event.seriesID == id { byID[event.id] = event }
                }
                try pages.turn(list)
                guard pages.hasNext else { break }
                list = try object(try await wire.send(call(uids[index], pages)))
            }
            for event in listed where event.seriesID == id {
                if let other = byID[event.id], let stamp = other.updatedAt, stamp > event.updatedAt ?? stamp {
                    continue
                }
                byID[event.id] = event
            }
            found[series[index].key] = byID.values.sorted { $0.id < $1.id }
        }
        return found
    }

    /// Finds events by the ids that follow from their marks.
    public func find(_ marks: [EventMark], in calendar: String) async throws(ProviderFailure) -> [RemoteEvent] {
        let looks = try await looked(at: marks.map(GoogleMark.eventID), in: calendar, listed: [])
        return zip(marks, looks).compactMap { mark, found in
            if case .present(let event) = found.look, event.mark == mark { event } else { nil }
        }
    }
}
