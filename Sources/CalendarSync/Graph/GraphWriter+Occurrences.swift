// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

extension GraphWriter {
    /// Requests the ids of the occurrences that have to be changed or deleted.
    mutating func findInstances() async {
        var allMissing: [(series: Int, original: Instant)] = []
        for (index, write) in series.enumerated() { allMissing += write.unknown.map { (index, $0) } }
        guard !allMissing.isEmpty else { return }
        let outcomes = await provider.wire.batch(
            allMissing.map { missing in
                let path = self.path(of: series[missing.series].id)
                let end = missing.original.adding(seconds: 1).description
                return [
                    GraphStep(
                        method: "GET",
                        path: "\(path)/instances?startDateTime=\(PercentEncoding.encode(missing.original.description))"
                            + "&endDateTime=\(PercentEncoding.encode(end))&$top=50"
                            + "&$select=id,type,start,end,isAllDay,originalStart,seriesMasterId,changeKey")
                ]
            })
        for (missing, outcome) in zip(allMissing, outcomes) {
            switch outcome.first?.success {
            case .failure(let failure): answer(series[missing.series].index, .failed(failure))
            case nil: break
            case .success(let found):
                for event in (found.body["value"]?.array ?? []).compactMap({ GraphEvent($0) }) {
                    let begins = try? GraphTimes.instant(event.json["start"])
                    guard event.kind == .occurrence || event.kind == .exception,
                        (event.originalStart ?? begins) == missing.original
                    else { continue }
                    series[missing.series].instances[missing.original] = .init(id: event.id, etag: event.etag)
                }
            }
        }
    }

    /// Deletes and changes occurrences, one after the other within a series, and reads the result.
    mutating func sendOccurrences() async {
        var groups: [[GraphStep]] = []
        var open: [GraphSeriesWrite] = []
        for write in series where answers[write.index] == nil {
            var steps: [GraphStep] = []
            for original in write.cancellations {
                // An occurrence that Outlook does not list does not take place.
                guard let instance = write.instances[original] else { continue }
                steps.append(GraphStep(method: "DELETE", path: path(of: instance.id), etag: instance.etag))
            }
            var isMissing = false
            for change in write.changes {
                guard let instance = write.instances[change.original] else {
                    isMissing = true
                    continue
                }
                let members = write.wanted.changes(of: change.to, from: change.from)
                steps.append(
                    GraphStep(method: "PATCH", path: path(of: instance.id), etag: instance.etag, body: .object(members))
                )
            }
            if isMissing {
                answer(write.index, .failed(Self.needsNewGeneration))
                continue
            }
            // The occurrences of a series share its change key: the first write changes it for all that follow.
            for index in steps.indices.dropFirst() { steps[index].etag = nil }
            if write.finishes {
                // This comes last: until then, everyone can see that something is missing.
                let finished = GraphMark.property(of: requests[write.index].mark, isUnfinished: false)
                steps.append(
                    GraphStep(method: "PATCH", path: path(of: write.id), etag: nil, body: .object(finished)))
            }
            groups.append(steps + [reading(write.id)])
            open.append(write)
        }
        for (position, failure) in await keepMeetings(&groups, isNew: { open[$0].from == nil }) {
            answer(open[position].index, .failed(failure))
            groups[position] = []
        }
        for (write, outcomes) in zip(open, await provider.wire.batch(groups)) where !outcomes.isEmpty {
            answer(write.index, settled(write, outcomes))
        }
    }

    /// When a calendar is gone, each of its events answers 404: before events count as gone, the calendar has to
    /// answer.
    mutating func confirmCalendarExists() async {
        let doubtful = requests.indices.filter { index in
            switch (requests[index].kind, answers[index]) {
            case (.update, .gone), (.delete, .deleted): notFound.contains(index)
            default: false
            }
        }
        guard !doubtful.isEmpty else { return }
        let outcome = await provider.wire.batch([[provider.reading(calendar)]]).first?.first
        if case .failure(let failure)? = outcome?.success {
            for index in doubtful { answer(index, .failed(failure)) }
        }
    }

    private func settled(_ write: GraphSeriesWrite, _ outcomes: [GraphOutcome]) -> WriteAnswer {
        var last: GraphAnswer?
        for outcome in outcomes {
            switch outcome {
            case .failed(let failure): return .failed(failure)
            case .answered(let answer):
                // An occurrence was changed or deleted since it was read: the series is looked at again.
                if [404, 409, 410, 412].contains(answer.status) {
                    if case .create = requests[write.index].kind {
                        return .failed(ProviderFailure(.unanswered, "Outlook changed the series meanwhile."))
                    }
                    return .mismatch
                }
                guard answer.isSuccess else { return .failed(answer.failure) }
                last = answer
            }
        }
        guard let event = last.flatMap({ GraphEvent($0.body) }) else {
            return .failed(ProviderFailure(.unanswered, "Microsoft's answer is not the event."))
        }
        var remote = event.remote(mark: requests[write.index].mark)
        remote.id = write.id
        return .written(remote.agreed(after: write.answer, write.wanted))
    }
}
