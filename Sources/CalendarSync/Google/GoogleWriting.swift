// SPDX-License-Identifier: Apache-2.0

/// The writes of one call, and their progress.
struct GoogleWriting {
    let calendar: String
    let provider: GoogleCalendar
    let requests: [WriteRequest]
    var answers: [WriteAnswer?]
    var taken: [Int] = []
    /// Creates that were cut short earlier, and are continued.
    var resumed: Set<Int> = []
    /// Series that have to be read completely, with the answers to their writes and to those of their occurrences.
    var series: [Int] = []
    private(set) var masters: [Int: GoogleEvent] = [:]
    var written: [GoogleEvent] = []

    init(calendar: String, provider: GoogleCalendar, requests: [WriteRequest]) {
        self.calendar = calendar
        self.provider = provider
        self.requests = requests
        answers = Array(repeating: nil, count: requests.count)
    }

    private var path: String { GoogleCalendar.path(calendar) }
    // Nobody is invited to our events, and nobody should get mail about them.
    static let quietly = [("sendUpdates", "none")]

    func eventID(_ index: Int) -> String {
        switch requests[index].kind {
        case .create: GoogleMark.eventID(requests[index].mark)
        case .update(let id, _, _, _), .delete(let id, _): id
        }
    }

    // MARK: Events

    mutating func sendMasters() async {
        var calls: [(index: Int, call: GoogleCall)] = []
        for (index, request) in requests.enumerated() where answers[index] == nil {
            switch request.kind {
            case .create(let entry):
                let body = GoogleBody.created(
                    entry.atGoogle().entry, mark: request.mark, isUnfinished: needsOccurrences(index))
                calls.append(
                    (index, GoogleCall(method: "POST", path: path, query: Self.quietly, body: body)))
            case .update(let id, let etag, let from, let to):
                guard let etag = etag.flatMap(GoogleETag.init) else {
                    // An event whose version is unknown is not overwritten.
                    answers[index] = .mismatch
                    continue
                }
                // A series that is moved may lose its changed occurrences, which are written again afterwards.
                let isOpened = needsOccurrences(index) && Self.moves(from.atGoogle().entry, to.atGoogle().entry)
                let change = GoogleBody.changes(
                    from: from.atGoogle().entry, to: to.atGoogle().entry, isUnfinished: isOpened)
                guard let body = change else { continue }
                calls.append(
                    (
                        index,
                        GoogleCall(
                            method: "PATCH", path: GoogleCalendar.path(calendar, id), query: Self.quietly, body: body,
                            ifMatch: etag.own)
                    ))
            case .delete: break
            }
        }
        for ((index, _), result) in zip(calls, await provider.wire.send(calls.map(\.call))) {
            do throws(ProviderFailure) {
                try take(try result.get(), index)
            } catch {
                answers[index] = .failed(error)
            }
        }
        await confirmCalendarExists(calls.map(\.index).filter { answers[$0] == .gone })
    }

    /// When a calendar is gone, each of its events answers 404: before events count as gone, the calendar has to
    /// answer.
    private mutating func confirmCalendarExists(_ indices: [Int]) async {
        guard !indices.isEmpty else { return }
        do throws(ProviderFailure) {
            try await provider.find(calendar)
        } catch {
            for index in indices { answers[index] = .failed(error) }
        }
    }

    /// Records the answer to the write of an event itself.
    private mutating func take(_ answer: GoogleAnswer, _ index: Int) throws(ProviderFailure) {
        let isCreation = if case .create = requests[index].kind { true } else { false }
        switch answer.status {
        case 200:
            guard let event = answer.json.flatMap(GoogleEvent.init), event.id == eventID(index) else {
                // The write was done; an event that cannot be read is looked at again.
                throw ProviderFailure(.unanswered, "Google's answer to a write cannot be read.")
            }
            if needsOccurrences(index) || (!isCreation && event.isSeries) {
                series.append(index)
                masters[index] = event
            } else {
                answers[index] = .written(GoogleUnit(master: event, exceptions: []).event)
            }
        case 409 where isCreation && answer.reason != "conflict": taken.append(index)
        case 412: answers[index] = .mismatch
        case 404, 410:
            if isCreation { throw answer.status == 404 ? answer.failure : Self.refused(answer) }
            answers[index] = .gone
        default: throw answer.failure
        }
    }

    private static func refused(_ answer: GoogleAnswer) -> ProviderFailure {
        ProviderFailure(.refused, "Google refused the event.", code: answer.reason)
    }

    /// Resolves identities that are taken: by our event, because an answer was lost, or by the tombstone of a deleted
    /// one.
    mutating func resolveTaken() async {
        do throws(ProviderFailure) {
            let looks = try await provider.look(at: taken.map(eventID), in: calendar)
            for (index, (_, look)) in zip(taken, looks) {
                if case .present(let event) = look {
                    if event.isUnfinished, event.mark == requests[index].mark {
                        // Its occurrences are written next, as for a new series.
                        resumed.insert(index)
                        continue
                    }
                    answers[index] = .taken(event)
                } else {
                    answers[index] = .taken(nil)
                }
            }
        } catch {
            for index in taken { answers[index] = .failed(error) }
        }
    }

    // MARK: Series, and deletions

    mutating func readSeries() async {
        let open = series.filter { answers[$0] == nil }
        guard !open.isEmpty else { return }
        do throws(ProviderFailure) {
            let looks = try await provider.looked(at: open.map(eventID), in: calendar, listed: written)
            for (index, (_, look)) in zip(open, looks) {
                answers[index] =
                    if case .present(let event) = look { .written(agreed(event, index)) } else { .gone }
            }
            try await finish(open)
        } catch {
            // The series was written; its present state is not known.
            for index in open where answers[index] == nil {
                answers[index] = .failed(ProviderFailure(.unanswered, error.message, code: error.code))
            }
        }
    }

    /// Removes the note from series whose last occurrence has now been written.
    private mutating func finish(_ indices: [Int]) async throws(ProviderFailure) {
        var open: [(index: Int, event: RemoteEvent)] = []
        for index in indices {
            if case .written(let event)? = answers[index], event.isUnfinished { open.append((index, event)) }
        }
        let versions = open.map { $0.event.etag.flatMap(GoogleETag.init)?.own }
        var results = await provider.wire.send(zip(open, versions).map { finishing($0.event.id, ifMatch: $1) })
        // The series is ours, so that an edit since does not keep the note in it; but our version stays the one before
        // the edit, which reveals the edit.
        let edited = results.indices.filter { (try? results[$0].get())?.status == 412 }
        let again = await provider.wire.send(edited.map { finishing(open[$0].event.id, ifMatch: nil) })
        for (position, result) in zip(edited, again) { results[position] = result }
        for (position, result) in results.enumerated() {
            let index = open[position].index
            var event = open[position].event
            answers[index] = nil
            guard let now = GoogleEvent(try provider.object(try result.get())), let own = now.etag else {
                throw GoogleCalendar.malformed
            }
            if !edited.contains(position) {
                var etag = event.etag.flatMap(GoogleETag.init)
                etag?.own = own
                event.etag = etag?.text
                event.updatedAt = [event.updatedAt, now.updatedAt].compactMap(\.self).max()
            }
            event.isUnfinished = now.isUnfinished
            answers[index] = .written(event)
        }
    }

    func finishing(_ id: String, ifMatch: String?) -> GoogleCall {
        GoogleCall(
            method: "PATCH", path: GoogleCalendar.path(calendar, id), query: Self.quietly, body: GoogleBody.finished,
            ifMatch: ifMatch)
    }

    mutating func sendDeletions() async {
        var calls: [(index: Int, call: GoogleCall)] = []
        var doubtful: [Int] = []
        for (index, request) in requests.enumerated() {
            guard case .delete(let id, let etag) = request.kind else { continue }
            guard let etag = etag.flatMap(GoogleETag.init) else {
                answers[index] = .mismatch
                continue
            }
            calls.append(
                (
                    index,
                    GoogleCall(
                        method: "DELETE", path: GoogleCalendar.path(calendar, id), query: Self.quietly,
                        ifMatch: etag.own)
                ))
        }
        for ((index, _), result) in zip(calls, await provider.wire.send(calls.map(\.call))) {
            do throws(ProviderFailure) {
                let answer = try result.get()
                switch answer.status {
                case 200...299, 410: answers[index] = .deleted
                case 404:
                    answers[index] = .deleted
                    doubtful.append(index)
                case 412: answers[index] = .mismatch
                default: throw answer.failure
                }
            } catch {
                answers[index] = .failed(error)
            }
        }
        await confirmCalendarExists(doubtful)
    }
}
