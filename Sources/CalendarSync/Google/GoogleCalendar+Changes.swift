// SPDX-License-Identifier: Apache-2.0

public import ICalBridge

extension GoogleCalendar {
    private static let pageSize = 2500
    private static let mostPages = 400

    /// Returns the changes. The window is not sent: a listing limited to it would lack the changed occurrences outside,
    /// as if they had been reverted. A sync token is also bound to the parameters of its first listing.
    ///
    /// A series whose etag is in `known` needs no further requests: this side wrote it last.
    public func changes(
        in calendar: String, since cursor: String?, window: TimeRange, known: [ByteString: String]
    ) async throws(ProviderFailure) -> ChangeSet {
        if let cursor {
            do throws(ProviderFailure) {
                let (events, next) = try await list(calendar, since: cursor)
                return ChangeSet(
                    changes: try await changed(events, in: calendar, known: known), isFull: false, cursor: next)
            } catch {
                // Google reports an expired token with 410, and refuses a token that it cannot read.
                guard error.kind == .cursorExpired || error.kind == .refused else { throw error }
            }
        }
        let (events, next) = try await list(calendar, since: nil)
        return ChangeSet(changes: Self.whole(events), isFull: true, cursor: next)
    }

    /// Returns the events of all pages of a listing, each as on the last page that has it, and where the next listing
    /// begins.
    private func list(
        _ calendar: String, since cursor: String?
    ) async throws(ProviderFailure) -> (events: [GoogleEvent], next: String) {
        var events: [GoogleEvent] = []
        var positions: [ByteString: Int] = [:]
        var pages = GooglePages(most: Self.mostPages)
        var fixed = [("maxResults", String(Self.pageSize))]
        if let cursor { fixed.append(("syncToken", cursor)) }
        while true {
            let call = GoogleCall(method: "GET", path: Self.path(calendar), query: fixed + pages.query)
            let answer = try await wire.send(call)
            let page = try object(answer)
            try await wire.http.keep(2 * answer.length)
            for item in try items(page) {
                guard let event = GoogleEvent(item) else { throw Self.malformed }
                // The calendar may change between two pages, so an event may appear twice.
                if let index = positions.updateValue(events.count, forKey: ByteString(event.id)) {
                    positions[event.id] = index
                    events[index] = event
                } else {
                    events.append(event)
                }
            }
            try pages.turn(page)
            guard !pages.hasNext else { continue }
            guard let next = page["nextSyncToken"]?.string, (1...8192).contains(next.utf8.count) else {
                throw Self.malformed
            }
            return (events, next)
        }
    }

    /// Returns a complete listing as units, without deleted events.
    private static func whole(_ events: [GoogleEvent]) -> [RemoteChange] {
        let masters = events.filter { $0.seriesID == nil && !$0.isCancelled }
        let known = Set<ByteString>(masters.map(\.id))
        let exceptions = Dictionary(
            grouping: events.filter { $0.seriesID != nil }, by: { ByteString($0.seriesID ?? "") })
        let strays = events.filter { event in
            event.seriesID.map { !known.contains($0) } ?? false && !event.isCancelled
        }
        return masters.map { .event(GoogleUnit(master: $0, exceptions: exceptions[$0.id] ?? []).event) }
            + strays.map { .event(GoogleUnit(master: $0, exceptions: []).event) }
    }

    /// Returns the changes that an incremental listing means. It names occurrences without their series and series
    /// without their occurrences, so each series that it touches is read as a whole.
    private func changed(
        _ events: [GoogleEvent], in calendar: String, known: [ByteString: String]
    ) async throws(ProviderFailure) -> [RemoteChange] {
        var changes: [RemoteChange] = []
        var series: [String] = []
        var asked: Set<ByteString> = []
        let removed = Set<ByteString>(events.filter { $0.seriesID == nil && $0.isCancelled }.map(\.id))
        let touched = Set<ByteString>(events.compactMap(\.seriesID))
        for event in events {
            if let id = event.seriesID {
                if !removed.contains(id), asked.insert(id).inserted { series.append(id) }
            } else if event.isCancelled {
                changes.append(.removed(id: event.id))
            } else if event.isSeries {
                // The series has the known version, and none of its occurrences is listed: nothing has changed.
                let isKnown =
                    !touched.contains(event.id)
                    && known[event.id].flatMap(GoogleETag.init).map { $0.own == event.etag } ?? false
                if !isKnown, asked.insert(event.id).inserted { series.append(event.id) }
            } else {
                changes.append(.event(GoogleUnit(master: event, exceptions: []).event))
            }
        }
        for (id, look) in try await looked(at: series, in: calendar, listed: events) {
            switch look {
            case .present(let event): changes.append(.event(event))
            case .gone: changes.append(.removed(id: id))
            }
        }
        return changes
    }
}
