// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

extension GoogleCalendar {
    /// Masters and single events first, in batches; then occurrences, which need their series; then each series that
    /// was written in parts is read whole. Deletions go last, because a batch has no order.
    public func write(_ requests: [WriteRequest], in calendar: String) async -> [WriteAnswer] {
        var writing = GoogleWriting(calendar: calendar, provider: self, requests: requests)
        await writing.sendMasters()
        await writing.resolveTaken()
        await writing.sendOccurrences()
        await writing.readSeries()
        await writing.sendDeletions()
        return writing.answers.map {
            $0 ?? .failed(ProviderFailure(.unanswered, "It is not known what became of this event."))
        }
    }
}

/// The writes of one call, and how far each of them is.
struct GoogleWriting {
    let calendar: String
    let provider: GoogleCalendar
    let requests: [WriteRequest]
    var answers: [WriteAnswer?]
    /// What Google has answered for the event itself.
    private var masters: [Int: GoogleEvent] = [:]
    private var taken: [Int] = []
    /// Those that are to be read whole, and what was written of their occurrences.
    private var series: [Int] = []
    private var written: [GoogleEvent] = []

    init(calendar: String, provider: GoogleCalendar, requests: [WriteRequest]) {
        self.calendar = calendar
        self.provider = provider
        self.requests = requests
        answers = Array(repeating: nil, count: requests.count)
    }

    private var path: String { GoogleCalendar.path(calendar) }
    // Nobody is invited to what we write, and nobody is to get mail about it.
    private static let quietly = [("sendUpdates", "none")]

    private func eventID(_ index: Int) -> String {
        switch requests[index].kind {
        case .create: GoogleMark.eventID(requests[index].mark)
        case .update(let id, _, _, _), .delete(let id, _): id
        }
    }

    // MARK: Events

    mutating func sendMasters() async {
        var calls: [(index: Int, call: GoogleCall)] = []
        for (index, request) in requests.enumerated() {
            switch request.kind {
            case .create(let entry):
                let body = GoogleBody.created(entry.atGoogle().entry, mark: request.mark)
                calls.append(
                    (index, GoogleCall(method: "POST", path: path, query: Self.quietly, body: body)))
            case .update(let id, let etag, let from, let to):
                guard let etag = etag.flatMap(GoogleETag.init) else {
                    // Nothing is overwritten whose version is unknown.
                    answers[index] = .mismatch
                    continue
                }
                guard let body = GoogleBody.changes(from: from.atGoogle().entry, to: to.atGoogle().entry) else {
                    continue
                }
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
        await doubt(calls.map(\.index).filter { answers[$0] == .gone })
    }

    /// Every event of a calendar that is gone answers 404: before events count as gone, the calendar has to answer.
    private mutating func doubt(_ indices: [Int]) async {
        guard !indices.isEmpty else { return }
        do throws(ProviderFailure) {
            try await provider.find(calendar)
        } catch {
            for index in indices { answers[index] = .failed(error) }
        }
    }

    /// What an answer to the write of an event itself means.
    private mutating func take(_ answer: GoogleAnswer, _ index: Int) throws(ProviderFailure) {
        let isCreation = if case .create = requests[index].kind { true } else { false }
        switch answer.status {
        case 200:
            guard let event = answer.json.flatMap(GoogleEvent.init), event.id == eventID(index) else {
                // It was done: what cannot be read is looked at.
                throw ProviderFailure(.unanswered, "Google's answer to a write cannot be read.")
            }
            masters[index] = event
            if needsOccurrences(index) || (!isCreation && event.isSeries) {
                series.append(index)
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

    /// An identity that is taken: by our event, because an answer was lost, or by the tombstone of a deleted one.
    mutating func resolveTaken() async {
        do throws(ProviderFailure) {
            let looks = try await provider.look(at: taken.map(eventID), in: calendar)
            for (index, (_, look)) in zip(taken, looks) {
                if case .present(let event) = look {
                    answers[index] = .taken(event)
                } else {
                    answers[index] = .taken(nil)
                }
            }
        } catch {
            for index in taken { answers[index] = .failed(error) }
        }
    }

    // MARK: Occurrences

    private struct Wanted {
        var index: Int
        var original: Instant
        var seriesID: String
        /// What the occurrence is to be.
        var to: ChangedEntry
        /// What it may be now; nil when the series itself was moved, and its occurrences with it.
        var from: Set<ChangedEntry>?
        /// Whether it may have been deleted there.
        var comesBack = true
        var etag: String?
    }

    private func needsOccurrences(_ index: Int) -> Bool { !wanted(index).isEmpty }

    /// The occurrences of a request that have to be written one by one. Those that are deleted are exception dates
    /// of the series, and not among them.
    private func wanted(_ index: Int) -> [Wanted] {
        let id = eventID(index)
        let from: Entry?
        let to: Entry
        var etags: [Instant: String] = [:]
        switch requests[index].kind {
        case .create(let entry): (from, to) = (nil, entry.atGoogle().entry)
        case .update(_, let etag, let before, let after):
            (from, to) = (before.atGoogle().entry, after.atGoogle().entry)
            etags = etag.flatMap(GoogleETag.init)?.occurrences ?? [:]
        case .delete: return []
        }
        guard to.repetition != nil, case .timed(let start, let end, let zone) = to.span else { return [] }
        let length = end.seconds - start.seconds
        let isMoved = from == nil || from?.span != to.span || from?.repetition?.rrule != to.repetition?.rrule
        let comesBack = Set(from?.repetition?.exdates ?? []).subtracting(to.repetition?.exdates ?? [])
        var starts = Set(to.occurrences.keys).union(comesBack)
        if !isMoved { starts.formUnion(from?.occurrences.keys.map { $0 } ?? []) }
        starts.subtract(to.repetition?.exdates ?? [])
        return starts.sorted().compactMap { original in
            let asSeries = to.derived(at: original, length: length, zone: zone)
            var wanted = asSeries
            if case .changed(let changed)? = to.occurrences[original] { wanted = changed }
            guard let from, !isMoved else {
                return Wanted(index: index, original: original, seriesID: id, to: wanted)
            }
            var before: Set<ChangedEntry> = [
                asSeries, from.derived(at: original, length: length, zone: zone), wanted,
            ]
            if case .changed(let changed)? = from.occurrences[original] {
                guard changed != wanted else { return nil }
                before.insert(changed)
            } else if wanted == asSeries, !comesBack.contains(original) {
                return nil
            }
            return Wanted(
                index: index, original: original, seriesID: id, to: wanted, from: before,
                comesBack: comesBack.contains(original), etag: etags[original])
        }
    }

    mutating func sendOccurrences() async {
        var open: [Wanted] = []
        for index in requests.indices where answers[index] == nil && !taken.contains(index) {
            guard case .delete = requests[index].kind else {
                open += wanted(index)
                if !series.contains(index) { series.append(index) }
                continue
            }
        }
        guard !open.isEmpty else { return }
        let found = await instances(open)
        var calls: [(wanted: Wanted, call: GoogleCall)] = []
        for (wanted, result) in zip(open, found) where answers[wanted.index] == nil {
            do throws(ProviderFailure) {
                let event = try result.get()
                if let call = try call(for: wanted, at: event) { calls.append((wanted, call)) }
            } catch {
                answers[wanted.index] = .failed(error)
            }
        }
        // A series of which one occurrence has changed is looked at first, and not written in part.
        calls = calls.filter { answers[$0.wanted.index] == nil }
        for ((wanted, _), result) in zip(calls, await provider.wire.send(calls.map(\.call))) {
            do throws(ProviderFailure) {
                let answer = try result.get()
                guard answer.status != 412 else {
                    answers[wanted.index] = .mismatch
                    continue
                }
                guard let event = GoogleEvent(try provider.object(answer)) else { throw GoogleCalendar.malformed }
                written.append(event)
            } catch {
                answers[wanted.index] = .failed(error)
            }
        }
    }

    /// The occurrences as they are. Their ids follow from the series' id and the original start; where Google says
    /// otherwise, it is asked for the instance at that start.
    private func instances(_ wanted: [Wanted]) async -> [Result<GoogleEvent, ProviderFailure>] {
        let calls = wanted.map {
            GoogleCall(method: "GET", path: GoogleCalendar.path(calendar, $0.seriesID + "_" + $0.original.basic))
        }
        var found: [Result<GoogleEvent, ProviderFailure>] = []
        var unknown: [Int] = []
        for (place, result) in await provider.wire.send(calls).enumerated() {
            do throws(ProviderFailure) {
                let answer = try result.get()
                if answer.status == 404 {
                    unknown.append(place)
                    found.append(.failure(Self.noOccurrence))
                } else {
                    found.append(.success(try instance(try provider.object(answer), wanted[place])))
                }
            } catch {
                found.append(.failure(error))
            }
        }
        let others = unknown.map { place in
            GoogleCall(
                method: "GET", path: GoogleCalendar.path(calendar, wanted[place].seriesID) + "/instances",
                query: [("originalStart", wanted[place].original.description), ("showDeleted", "true")])
        }
        for (place, result) in zip(unknown, await provider.wire.send(others)) {
            do throws(ProviderFailure) {
                let items = try provider.items(try provider.object(try result.get()))
                guard let item = items.first else { continue }
                found[place] = .success(try instance(item, wanted[place]))
            } catch {
                found[place] = .failure(error)
            }
        }
        return found
    }

    private static let noOccurrence = ProviderFailure(.refused, "Google knows no such occurrence of the series.")

    private func instance(_ json: JSONValue, _ wanted: Wanted) throws(ProviderFailure) -> GoogleEvent {
        guard let event = GoogleEvent(json), event.seriesID == wanted.seriesID,
            (try? event.originalStart()) == wanted.original
        else { throw GoogleCalendar.malformed }
        return event
    }

    /// The call that makes an occurrence what is wanted, nil when it is so already.
    private mutating func call(
        for wanted: Wanted, at event: GoogleEvent
    ) throws(ProviderFailure) -> GoogleCall? {
        if let etag = wanted.etag, etag != event.etag {
            answers[wanted.index] = .mismatch
            return nil
        }
        switch try? event.occurrence() {
        case .changed(let changed)?:
            if changed == wanted.to { return nil }
            if let from = wanted.from, wanted.etag == nil, !from.contains(changed) {
                answers[wanted.index] = .mismatch
                return nil
            }
        case .cancelled? where !wanted.comesBack:
            answers[wanted.index] = .mismatch
            return nil
        default: break
        }
        guard let etag = event.etag else { throw GoogleCalendar.malformed }
        return GoogleCall(
            method: "PATCH", path: GoogleCalendar.path(calendar, event.id), query: Self.quietly,
            body: GoogleBody.occurrence(wanted.to), ifMatch: etag)
    }

    // MARK: Series, and deletions

    mutating func readSeries() async {
        let open = series.filter { answers[$0] == nil }
        guard !open.isEmpty else { return }
        do throws(ProviderFailure) {
            let looks = try await provider.looked(at: open.map(eventID), in: calendar, listed: written)
            for (index, (_, look)) in zip(open, looks) {
                if case .present(let event) = look { answers[index] = .written(event) } else { answers[index] = .gone }
            }
        } catch {
            // It was written; how it is now is not known.
            for index in open {
                answers[index] = .failed(ProviderFailure(.unanswered, error.message, code: error.code))
            }
        }
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
        await doubt(doubtful)
    }
}
