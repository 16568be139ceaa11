// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

extension GraphCalendar {
    public func write(_ requests: [WriteRequest], in calendar: String) async -> [WriteAnswer] {
        var writer = GraphWriter(provider: self, requests: requests, calendar: calendar)
        await writer.sendFirst()
        await writer.fillSeries()
        await writer.adopt()
        await writer.findInstances()
        await writer.sendOccurrences()
        await writer.confirmCalendarExists()
        return writer.answers.map {
            $0 ?? .failed(ProviderFailure(.unanswered, "Microsoft's answer is not complete."))
        }
    }
}

/// Writes in progress, all of them in the same batches: first the events themselves, and then the occurrences of series
/// that differ, which have ids only once the series exists.
struct GraphWriter {
    let provider: GraphCalendar
    let requests: [WriteRequest]
    let calendar: String
    private(set) var answers: [WriteAnswer?]
    /// Writes that were answered with 404.
    private(set) var notFound: Set<Int> = []
    /// Creates whose identity is taken, with the id of the event that has it, if the answer named one.
    private var taken: [(index: Int, existing: String?)] = []
    /// Series that exist, but whose occurrences are not yet as wanted.
    var series: [GraphSeriesWrite] = []
    /// Series that were written, and whose answer says nothing about their occurrences.
    private var bare: [Bare] = []

    private struct Bare {
        var index: Int
        var wanted: GraphExpression
        var from: GraphExpression
        var event: GraphEvent
        var read: RemoteEvent
        var answer: RemoteEvent
    }

    init(provider: GraphCalendar, requests: [WriteRequest], calendar: String) {
        self.provider = provider
        self.requests = requests
        self.calendar = calendar
        answers = requests.map { _ in nil }
    }

    mutating func answer(_ index: Int, _ answer: WriteAnswer) { answers[index] = answer }

    private var events: String { "\(GraphCalendar.path(of: calendar))/events" }

    func path(of id: String) -> String { "\(events)/\(PercentEncoding.encode(id))" }

    func reading(_ id: String) -> GraphStep {
        GraphStep(method: "GET", path: GraphCalendar.path(of: id, in: calendar))
    }

    // MARK: - The events themselves

    mutating func sendFirst() async {
        var groups: [[GraphStep]] = []
        var positions: [Int] = []
        for index in requests.indices {
            let steps = steps(index)
            guard !steps.isEmpty else { continue }
            groups.append(steps)
            positions.append(index)
        }
        for (position, failure) in await keepMeetings(&groups) {
            answers[positions[position]] = .failed(failure)
            groups[position] = []
        }
        for (index, outcomes) in zip(positions, await provider.wire.batch(groups)) where !outcomes.isEmpty {
            settle(index, outcomes)
        }
    }

    /// Puts into bodies and places that will be written the online meetings of those that they replace. Returns the
    /// failures of groups whose events could not be read, and that must not be sent.
    ///
    /// - Parameter isNew: whether a group writes to an event that was made just now, and has no meeting.
    mutating func keepMeetings(
        _ groups: inout [[GraphStep]], isNew: (Int) -> Bool = { _ in false }
    ) async -> [Int: ProviderFailure] {
        var positions: [(group: Int, step: Int)] = []
        for (group, steps) in groups.enumerated() where !isNew(group) {
            for (step, each) in steps.enumerated()
            where each.method == "PATCH" && (each.body?["body"] != nil || each.body?["location"] != nil) {
                positions.append((group, step))
            }
        }
        let reads = positions.map { index in
            let path = "\(groups[index.group][index.step].path)?$select=id,body,location,isOnlineMeeting"
            return [GraphStep(method: "GET", path: path, wantsHTML: true)]
        }
        var failures: [Int: ProviderFailure] = [:]
        for (index, outcome) in zip(positions, await provider.wire.batch(reads)) {
            switch outcome.first?.success {
            case .success(let read):
                guard read.body["isOnlineMeeting"] == true,
                    case .object(var members)? = groups[index.group][index.step].body
                else { continue }
                if let notes = members["body"]?["content"]?.string, let html = read.body["body"]?["content"]?.string,
                    let kept = GraphMeeting.body(notes, meetingOf: html)
                {
                    members["body"] = ["contentType": "html", "content": .string(kept)]
                }
                if let place = members["location"]?["displayName"]?.string {
                    let present = read.body["location"]?["displayName"]?.string ?? ""
                    members["location"] = [
                        "displayName": .string(GraphMeeting.place(place, besideThatOf: GraphText.line(present)))
                    ]
                }
                groups[index.group][index.step].body = .object(members)
            // An event that is gone answers the write likewise.
            case .failure(let failure) where !(outcome.first?.has([404, 410]) ?? false):
                failures[index.group] = failure
            case .failure, nil: break
            }
        }
        return failures
    }

    /// Returns the first requests of a write; none when it is refused before anything is sent.
    private mutating func steps(_ index: Int) -> [GraphStep] {
        let mark = requests[index].mark
        switch requests[index].kind {
        case .create(let entry):
            let wanted = GraphExpression(entry)
            if let refusal = wanted.refusal { return refuse(index, refusal) }
            return [
                GraphStep(
                    method: "POST", path: events, body: wanted.creation(mark: mark, calendar: calendar))
            ]
        case .delete(let id, let etag):
            guard GraphEvent.isID(id) else { return refuse(index, "The event's id is not one of Outlook's.") }
            guard let etag else { return mismatch(index) }
            return [GraphStep(method: "DELETE", path: path(of: id), etag: etag)]
        case .update(let id, let etag, let old, let new):
            guard GraphEvent.isID(id) else { return refuse(index, "The event's id is not one of Outlook's.") }
            guard let etag else { return mismatch(index) }
            let (from, wanted) = (GraphExpression(old), GraphExpression(new))
            if let refusal = wanted.refusal { return refuse(index, refusal) }
            if wanted.bringsBack(what: Set(from.entry.repetition?.exdates ?? [])) {
                answers[index] = .failed(Self.needsNewGeneration)
                return []
            }
            var members = wanted.changes(from: from)
            if wanted.recurrence != nil, wanted.movesAll(from: from), wanted.hasOccurrences || from.hasOccurrences {
                // Exchange drops the changes to a series that is moved; they are written again afterwards.
                members.merge(GraphMark.property(of: mark, isUnfinished: true)) { _, new in new }
            }
            var steps: [GraphStep] = []
            if !members.isEmpty {
                steps.append(GraphStep(method: "PATCH", path: path(of: id), etag: etag, body: .object(members)))
            }
            // The result for a series is known only with its occurrences.
            if members.isEmpty || wanted.recurrence != nil { steps.append(reading(id)) }
            return steps
        }
    }

    static let needsNewGeneration = ProviderFailure(
        .needsNewGeneration, "Outlook cannot bring back a deleted occurrence; the series is made again.")

    private mutating func refuse(_ index: Int, _ reason: String) -> [GraphStep] {
        answers[index] = .failed(ProviderFailure(.refused, reason))
        return []
    }

    /// Answers with a mismatch: an event whose version is unknown is not overwritten.
    private mutating func mismatch(_ index: Int) -> [GraphStep] {
        answers[index] = .mismatch
        return []
    }

    private mutating func settle(_ index: Int, _ outcomes: [GraphOutcome]) {
        let request = requests[index]
        var last: GraphAnswer?
        for outcome in outcomes {
            switch outcome {
            case .failed(let failure):
                answers[index] = .failed(failure)
                return
            case .answered(let answer):
                guard answer.isSuccess else {
                    if case .create = request.kind, answer.has("ErrorDuplicateTransactionId") {
                        taken.append((index, answer.existingID))
                    } else {
                        answers[index] = Self.refused(request.kind, answer)
                        if answer.status == 404 { notFound.insert(index) }
                    }
                    return
                }
                last = answer
            }
        }
        if case .delete = request.kind {
            answers[index] = .deleted
            return
        }
        guard let event = last.flatMap({ GraphEvent($0.body) }) else {
            // The write was done, but the id is unknown: the event has to be found by its mark.
            answers[index] = .failed(ProviderFailure(.unanswered, "Microsoft's answer is not the event."))
            return
        }
        switch request.kind {
        case .delete: break
        case .create(let entry):
            let wanted = GraphExpression(entry)
            var remote = event.remote(mark: request.mark)
            // A new series has no changed occurrences yet.
            if case .master(let entry) = remote.content { remote.content = .entry(entry) }
            begin(index, wanted, from: nil, event, remote, answer: remote)
        case .update(let id, let etag, let old, let new):
            var remote = event.remote(mark: request.mark)
            remote.id = id
            let (from, wanted) = (GraphExpression(old), GraphExpression(new))
            if outcomes.count == 1, wanted.changes(from: from).isEmpty, let etag, event.etag != etag {
                answers[index] = .mismatch
                return
            }
            // The read comes after the write, and somebody may have edited the event between the two.
            var answer = remote
            if outcomes.count > 1, case .success(let first)? = outcomes.first?.success,
                let patched = GraphEvent(first.body)
            {
                answer = patched.remote()
            }
            if case .master = remote.content, wanted.hasOccurrences || from.hasOccurrences {
                bare.append(
                    Bare(index: index, wanted: wanted, from: from, event: event, read: remote, answer: answer))
            } else {
                begin(index, wanted, from: from, event, remote, answer: answer)
            }
        }
    }

    /// Asks for the occurrences of series whose answer does not have them, as far as they can differ.
    mutating func fillSeries() async {
        for write in bare {
            guard case .master(let entry) = write.read.content else { continue }
            let starts = [write.wanted, write.from].flatMap { Array($0.entry.canonical.occurrences.keys) }
            let window = TimeRange(
                from: starts.min() ?? entry.span.start, to: (starts.max() ?? entry.span.start).adding(seconds: 86_400))
            var filled = write.read
            do throws(ProviderFailure) {
                filled.content = try await provider.filled(entry, id: filled.id, window: window)
                begin(write.index, write.wanted, from: write.from, write.event, filled, answer: write.answer)
            } catch {
                answers[write.index] = .failed(ProviderFailure(.unanswered, error.message, code: error.code))
            }
        }
    }

    /// Answers a write whose event is as wanted, or continues with its occurrences.
    private mutating func begin(
        _ index: Int, _ wanted: GraphExpression, from: GraphExpression?, _ event: GraphEvent, _ remote: RemoteEvent,
        answer: RemoteEvent
    ) {
        let agreed = remote.agreed(after: answer, wanted)
        guard wanted.recurrence != nil, case .entry(let present) = remote.content else {
            answers[index] = .written(agreed)
            return
        }
        let write = GraphSeriesWrite(
            index: index, id: remote.id, wanted: wanted, from: from, present: present, event: event, answer: answer)
        switch write.state {
        case .asWanted where !write.finishes: answers[index] = .written(agreed)
        case .asWanted where from == nil && !wanted.hasOccurrences: answers[index] = .written(agreed)
        case .changedMeanwhile: answers[index] = .mismatch
        case .bringsBack: answers[index] = .failed(Self.needsNewGeneration)
        case .open, .asWanted: series.append(write)
        }
    }

    private static func refused(_ kind: WriteRequest.Kind, _ answer: GraphAnswer) -> WriteAnswer {
        switch (kind, answer.status) {
        case (.update, 404), (.update, 410): .gone
        case (.delete, 404), (.delete, 410): .deleted
        case (.update, 409), (.update, 412), (.delete, 409), (.delete, 412): .mismatch
        default: .failed(answer.failure)
        }
    }

    // MARK: - Identities that are taken

    /// Finds the events whose identity is taken: by the id that the refusal named, otherwise by mark, first in the
    /// index and then in the calendar itself, because the index may lag behind.
    mutating func adopt() async {
        guard !taken.isEmpty else { return }
        do throws(ProviderFailure) {
            var found: [Int: RemoteEvent] = [:]
            let named = taken.filter { $0.existing != nil }
            let events = try await provider.events(named.compactMap(\.existing), in: calendar)
            for (pending, event) in zip(named, events) { found[pending.index] = event.event }
            let unnamed = taken.filter { $0.existing == nil }
            if !unnamed.isEmpty {
                var ids: [Int: String] = [:]
                for event in try await provider.find(unnamed.map { requests[$0.index].mark }, in: calendar) {
                    for pending in unnamed
                    where event.mark == requests[pending.index].mark && found[pending.index] == nil {
                        found[pending.index] = event
                    }
                }
                if unnamed.contains(where: { found[$0.index] == nil }) {
                    let seen = try await provider.markedBySight(in: calendar)
                    for pending in unnamed where found[pending.index] == nil {
                        ids[pending.index] = seen.first { $0.value == requests[pending.index].mark }?.key.string
                    }
                    let order = ids.keys.sorted()
                    let events = try await provider.events(order.compactMap { ids[$0] }, in: calendar)
                    for (index, event) in zip(order, events) { found[index] = event.event }
                }
            }
            for pending in taken {
                guard var event = found[pending.index] else {
                    answers[pending.index] = .taken(nil)
                    continue
                }
                // The refusal itself says whose event it is, even where its mark was removed.
                if event.mark == nil { event.mark = requests[pending.index].mark }
                answers[pending.index] = .taken(event)
                if event.isUnfinished { await complete(pending.index, event.id) }
            }
        } catch {
            for pending in taken { answers[pending.index] = .failed(error) }
        }
    }
    /// Continues a creation that was cut short.
    private mutating func complete(_ index: Int, _ id: String) async {
        guard case .create(let entry) = requests[index].kind,
            case .answered(let answer)? = await provider.wire.batch([[reading(id)]]).first?.first, answer.isSuccess,
            let event = GraphEvent(answer.body), case .entry(let present) = event.content
        else { return }
        let write = GraphSeriesWrite(
            index: index, id: id, wanted: GraphExpression(entry), from: nil, present: present, event: event,
            answer: event.remote())
        // An occurrence that a person has deleted since stays deleted, and is reported so.
        guard write.state != .bringsBack else { return }
        answers[index] = nil
        series.append(write)
    }
}
