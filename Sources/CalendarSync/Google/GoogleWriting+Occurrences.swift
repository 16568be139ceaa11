// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

extension GoogleWriting {
    private struct Wanted {
        var index: Int
        var original: Instant
        var seriesID: String
        /// The occurrence as it should be.
        var to: Entry
        /// The occurrence as the series itself has it.
        var asSeries: Entry
        /// The occurrence as it may be now; nil when the series itself was moved, and its occurrences with it.
        var from: Set<Entry>?
        /// Whether it may have been deleted in the calendar.
        var comesBack = true
        var etag: String?
    }

    func needsOccurrences(_ index: Int) -> Bool { !wanted(index).isEmpty }

    /// Reports whether the times of a whole series change.
    static func moves(_ from: Entry, _ to: Entry) -> Bool {
        from.span != to.span || from.repetition?.rrule != to.repetition?.rrule
    }

    /// Returns the occurrences of a request that have to be written one by one. Deleted ones are exception dates of the
    /// series, and are not included.
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
        guard to.repetition != nil, case .timed = to.span else { return [] }
        let isMoved = from.map { Self.moves($0, to) } ?? true
        // Keep only those that the series still has: a moved series leaves some of its exceptions behind.
        var back = to
        back.repetition?.exdates = Set(from?.repetition?.exdates ?? []).subtracting(to.repetition?.exdates ?? [])
            .sorted()
        let comesBack = Set(back.settled().entry.repetition?.exdates ?? [])
        var starts = Set(to.occurrences.keys).union(comesBack)
        let differed = Set(from?.occurrences.keys.map { $0 } ?? [])
        starts.formUnion(isMoved ? to.remaining(of: differed) : differed)
        starts.subtract(to.repetition?.exdates ?? [])
        let known = isMoved ? from.map { $0.repetition == nil ? [] : $0.remaining(of: starts) } : nil
        return starts.sorted().compactMap { original in
            let asSeries = to.plain(at: original)
            var wanted = asSeries
            if case .changed(let changed)? = to.occurrences[original] { wanted = changed }
            guard let from, from.span.start == to.span.start else {
                return Wanted(index: index, original: original, seriesID: id, to: wanted, asSeries: asSeries)
            }
            var before: Set<Entry> = [asSeries, from.plain(at: original), wanted]
            if case .changed(let changed)? = from.occurrences[original] {
                guard isMoved || changed != wanted else { return nil }
                before.insert(changed)
            } else if !isMoved, wanted == asSeries, !comesBack.contains(original) {
                return nil
            }
            // Another rule may give occurrences other versions.
            return Wanted(
                index: index, original: original, seriesID: id, to: wanted, asSeries: asSeries, from: before,
                comesBack: comesBack.contains(original) || known.map { !$0.contains(original) } ?? false,
                etag: isMoved ? nil : etags[original])
        }
    }

    /// Looks at the changed occurrences of series that get other times: one that somebody has put back since is then like one
    /// that Google dropped because of its times.
    mutating func checkOccurrences() async {
        var known: [(index: Int, version: String, call: GoogleCall)] = []
        for (index, request) in requests.enumerated() {
            guard case .update(let id, let etag, let before, let after) = request.kind,
                let versions = etag.flatMap(GoogleETag.init)?.occurrences, !versions.isEmpty
            else { continue }
            let from = before.atGoogle().entry
            // Google has other ids for the occurrences of whole days.
            guard case .timed = from.span, Self.moves(from, after.atGoogle().entry) else { continue }
            for case (let original, .changed) in from.occurrences.sorted(by: { $0.key < $1.key }) {
                guard let version = versions[original] else { continue }
                let path = GoogleCalendar.path(calendar, id + "_" + original.basic)
                known.append((index, version, GoogleCall(method: "GET", path: path)))
            }
        }
        for (known, result) in zip(known, await provider.wire.send(known.map(\.call))) {
            do throws(ProviderFailure) {
                let found = try result.get()
                // A missing occurrence is dealt with when it is written.
                if found.status == 404 || found.status == 410 { continue }
                guard let now = GoogleEvent(try provider.object(found))?.etag else { throw GoogleCalendar.malformed }
                if now != known.version { answers[known.index] = .mismatch }
            } catch {
                answers[known.index] = .failed(error)
            }
        }
    }

    mutating func sendOccurrences() async {
        var open: [Wanted] = []
        for index in requests.indices where answers[index] == nil {
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
        // A series with an occurrence that was changed is looked at first, and not written in part.
        calls = calls.filter { answers[$0.wanted.index] == nil }
        let left = Set(open.map(\.index)).filter { masters[$0] != nil && answers[$0] == .mismatch }
        _ = await provider.wire.send(left.sorted().map { finishing(eventID($0), ifMatch: nil) })
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

    /// Returns the current occurrences. Their ids follow from the series' id and the original start; where Google does
    /// not have such an id, it is asked for the instance at that start.
    private func instances(_ wanted: [Wanted]) async -> [Result<GoogleEvent, ProviderFailure>] {
        let calls = wanted.map {
            GoogleCall(method: "GET", path: GoogleCalendar.path(calendar, $0.seriesID + "_" + $0.original.basic))
        }
        var found: [Result<GoogleEvent, ProviderFailure>] = []
        var unknown: [Int] = []
        for (index, result) in await provider.wire.send(calls).enumerated() {
            do throws(ProviderFailure) {
                let answer = try result.get()
                if answer.status == 404 {
                    unknown.append(index)
                    found.append(.failure(Self.noOccurrence))
                } else {
                    found.append(.success(try instance(try provider.object(answer), wanted[index])))
                }
            } catch {
                found.append(.failure(error))
            }
        }
        let others = unknown.map { index in
            GoogleCall(
                method: "GET", path: GoogleCalendar.path(calendar, wanted[index].seriesID) + "/instances",
                query: [("originalStart", wanted[index].original.description), ("showDeleted", "true")])
        }
        for (index, result) in zip(unknown, await provider.wire.send(others)) {
            do throws(ProviderFailure) {
                let items = try provider.items(try provider.object(try result.get()))
                guard let item = items.first else { continue }
                found[index] = .success(try instance(item, wanted[index]))
            } catch {
                found[index] = .failure(error)
            }
        }
        return found
    }

    private static let noOccurrence = ProviderFailure(.refused, "Google has no such occurrence of the series.")

    private func instance(_ json: JSONValue, _ wanted: Wanted) throws(ProviderFailure) -> GoogleEvent {
        guard let event = GoogleEvent(json), event.seriesID == wanted.seriesID,
            (try? event.originalStart()) == wanted.original
        else { throw GoogleCalendar.malformed }
        return event
    }

    /// Returns the call that makes an occurrence what is wanted; nil when it already is.
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
            // When a create is continued, an occurrence that is neither missing nor ours belongs to a person, and is
            // left to the comparison.
            if resumed.contains(wanted.index), changed != wanted.asSeries { return nil }
            if let from = wanted.from, wanted.etag == nil, !from.contains(changed) {
                answers[wanted.index] = .mismatch
                return nil
            }
        case .cancelled? where resumed.contains(wanted.index): return nil
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
}
