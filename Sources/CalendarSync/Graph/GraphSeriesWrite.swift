// SPDX-License-Identifier: Apache-2.0

internal import ICalBridge

/// An existing series whose occurrences are to become what is wanted.
struct GraphSeriesWrite {
    enum State { case asWanted, open, changedMeanwhile, bringsBack }

    /// The id and version of an occurrence at Graph.
    struct Instance {
        var id: String
        var etag: String?
    }

    let index: Int
    let id: String
    let wanted: GraphExpression
    let from: GraphExpression?
    /// The series as it is in the calendar now.
    let present: Entry
    /// Whether the event is marked as lacking occurrences, which has to be removed at the end.
    let finishes: Bool
    /// The series as it was answered when it was written or first read, before its occurrences are written.
    let answer: RemoteEvent
    /// The occurrences whose ids are known.
    var instances: [Instant: Instance] = [:]

    init(
        index: Int, id: String, wanted: GraphExpression, from: GraphExpression?, present: Entry, event: GraphEvent,
        answer: RemoteEvent
    ) {
        self.index = index
        self.id = id
        self.wanted = wanted
        self.from = from
        self.present = present
        self.answer = answer
        finishes = from == nil || event.isUnfinished
        for exception in (event.json["exceptionOccurrences"]?.array ?? []).compactMap({ GraphEvent($0) }) {
            guard let original = exception.originalStart else { continue }
            instances[original] = Instance(id: exception.id, etag: exception.etag)
        }
    }

    private var isCancelled: Set<Instant> { Set(present.repetition?.exdates ?? []) }
    private var isUnwanted: Set<Instant> { Set(wanted.entry.repetition?.exdates ?? []) }

    /// Occurrences that have to be cancelled.
    var cancellations: [Instant] { isUnwanted.subtracting(isCancelled).sorted() }

    /// Occurrences that have to be changed or made equal to the series again, each with its old and new contents.
    var changes: [(original: Instant, from: Entry, to: Entry)] {
        let originals = Set(present.occurrences.keys).union(wanted.entry.occurrences.keys).subtracting(isUnwanted)
        return originals.sorted().compactMap { original in
            let old = present.shown(at: original)
            let new = wanted.entry.shown(at: original)
            return old == new ? nil : (original, old, new)
        }
    }

    var state: State {
        if let from, !wanted.movesAll(from: from) {
            // Someone changed an occurrence after we looked.
            for original in present.occurrences.keys {
                let there = present.shown(at: original)
                let before = from.entry.shown(at: original)
                // A change of the whole series also reaches the changed occurrence.
                let isReached =
                    !wanted.changes(from: from).isEmpty && from.entry.occurrences[original] != nil
                    && there.span == before.span
                let isKnown = there == before || there == wanted.entry.shown(at: original) || isReached
                if !isKnown { return .changedMeanwhile }
            }
            if !isCancelled.subtracting(from.entry.repetition?.exdates ?? []).subtracting(isUnwanted).isEmpty {
                return .changedMeanwhile
            }
        }
        if wanted.bringsBack(what: isCancelled) { return .bringsBack }
        return cancellations.isEmpty && changes.isEmpty ? .asWanted : .open
    }

    /// Occurrences whose ids have to be requested.
    var unknown: [Instant] {
        (cancellations + changes.map(\.original)).filter { instances[$0] == nil }.sorted()
    }
}

extension RemoteEvent {
    /// Returns a series as this last read shows it, or as our writes left it when somebody has given it or one of its
    /// occurrences other times since.
    ///
    /// The returned value becomes what both sides agree on. An edit has to differ from it, and its version too, so that
    /// the next run reads the series and merges the edit. Only times count: Exchange may have given texts its own form,
    /// but moves nothing.
    ///
    /// - Parameter answer: the series in the answer to our write of the series itself.
    func agreed(after answer: RemoteEvent, _ wanted: GraphExpression) -> RemoteEvent {
        guard etag != answer.etag, var left = answer.series, var there = series else { return self }
        left.repetition?.exdates = wanted.entry.repetition?.exdates ?? []
        left.occurrences = wanted.entry.occurrences
        if case .master = content {
            there.repetition?.exdates = left.repetition?.exdates ?? []
            there.occurrences = left.occurrences
        }
        guard !there.showsAll(of: left) else { return self }
        var event = self
        event.content = .entry(left)
        event.etag = answer.etag
        event.updatedAt = answer.updatedAt
        return event
    }

    /// The content of a series; nil for a single event, and for one that cannot be read.
    private var series: Entry? {
        switch content {
        case .entry(let entry), .master(let entry): entry.repetition == nil ? nil : entry
        case .unreadable: nil
        }
    }
}

extension Entry {
    /// Reports whether each occurrence of another form of the series takes place at the same times here. Those that the
    /// other one leaves out do not count, because nobody can bring them back.
    fileprivate func showsAll(of other: Entry) -> Bool {
        let (here, there) = (canonical, other.canonical)
        return repeats(like: other)
            && Set(here.occurrences.keys).union(there.occurrences.keys).allSatisfy {
                there.effective(at: $0) == nil || here.takesPlace(like: there, at: $0)
            }
    }

    /// Returns an occurrence as a person sees it, changed or not.
    func shown(at original: Instant) -> Entry {
        if case .changed(let changed)? = occurrences[original] { changed } else { plain(at: original) }
    }
}

extension GraphExpression {
    /// Reports whether an occurrence that is gone from the calendar should take place.
    func bringsBack(what cancelled: Set<Instant>) -> Bool {
        let wanted = cancelled.subtracting(entry.repetition?.exdates ?? [])
        guard !wanted.isEmpty, let series = GraphSeries(entry) else { return false }
        // If that takes too much work to find out, the answer is the one that loses nothing.
        guard let starts = series.starts(among: Array(wanted)) else { return true }
        return !starts.isEmpty
    }
}
