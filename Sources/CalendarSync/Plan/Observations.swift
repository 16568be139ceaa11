// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// What one run has seen of a calendar.
struct Observations {
    struct Observation {
        enum Content {
            case entry(Entry)
            case unreadable(String)
        }

        var id: String
        var etag: String?
        var mark: EventMark?
        var content: Content
        var updatedAt: Instant?
        /// Whether we created the event, but have not written its occurrences yet.
        var isUnfinished = false
        /// Whether nobody has changed it since we wrote it.
        var isAsWritten = false
        /// Whether a person invited others to it; nil when nobody said.
        var hasGuests: Bool?

        var entry: Entry? { if case .entry(let entry) = content { entry } else { nil } }
    }

    private(set) var events: [ByteString: Observation] = [:]
    /// Events that the provider has confirmed to be gone.
    private(set) var gone: Set<ByteString> = []
    /// Events that were reported gone, or were not named, or were not reported completely: each needs a look.
    private(set) var unproven: Set<ByteString> = []
    /// Whether a full listing named no event at all.
    private(set) var isEmpty = false
    /// Whether the listing was full: an event that is not in `events` was not listed, rather than not changed.
    private(set) var isFull = false
    /// The number of events with marks of this connection that no link and no operation accounts for.
    private(set) var unaccounted = 0

    /// Adds a listing.
    ///
    /// - Parameters:
    ///   - links: the links with an event, by the event's id.
    ///   - judged: the window in which an event that a full listing does not name needs a look.
    mutating func add(_ set: ChangeSet, links: [ByteString: Link], judged: TimeRange) {
        for change in set.changes {
            switch change {
            case .event(let event): add(event, known: links[event.id]?.agreed?.theirs)
            case .occurrence(let series, let start, let occurrence, _, let updatedAt):
                add(occurrence, at: start, of: series, updatedAt: updatedAt, link: links[series])
            case .removed(let id):
                events.removeValue(forKey: id)
                if links[id] != nil { unproven.insert(id) }
            }
        }
        isFull = set.isFull
        guard set.isFull else { return }
        isEmpty = events.isEmpty
        for (id, link) in links where events[id] == nil && link.state != .untracked {
            if link.agreed?.theirs.overlaps(judged) ?? true { unproven.insert(id) }
        }
    }

    private mutating func add(_ event: RemoteEvent, known: Entry?) {
        let content: Observation.Content
        switch event.content {
        case .entry(let entry): content = .entry(entry.canonical)
        case .master(var entry):
            guard let known = events[event.id]?.entry ?? known else {
                unproven.insert(event.id)
                return
            }
            entry.occurrences.merge(known.occurrences) { said, _ in said }
            content = .entry(entry.canonical)
        case .unreadable(let reason): content = .unreadable(reason)
        }
        gone.remove(event.id)
        events[event.id] = Observation(
            id: event.id, etag: event.etag, mark: event.mark, content: content, updatedAt: event.updatedAt,
            isUnfinished: event.isUnfinished, isAsWritten: event.isAsWritten,
            hasGuests: event.hasGuests)
    }

    private mutating func add(
        _ occurrence: Occurrence?, at start: Instant, of series: String, updatedAt: Instant?, link: Link?
    ) {
        guard
            var sight = events[series]
                ?? link?.agreed.map({ Observation(id: series, etag: link?.etag, content: .entry($0.theirs)) })
        else {
            if link != nil { unproven.insert(series) }
            return
        }
        guard var entry = sight.entry else { return }
        entry.occurrences[start] = occurrence
        sight.content = .entry(entry.canonical)
        sight.updatedAt = [sight.updatedAt, updatedAt].compactMap(\.self).max()
        events[series] = sight
    }

    /// Adds looks at single events, which are newer than any listing.
    mutating func add(_ looks: [(id: String, look: RemoteLookup)]) {
        for (id, look) in looks {
            unproven.remove(id)
            switch look {
            case .present(let event):
                var event = event
                if case .master(let entry) = event.content { event.content = .entry(entry) }
                event.id = id
                add(event, known: nil)
            case .gone:
                events.removeValue(forKey: id)
                gone.insert(id)
            }
        }
    }

    /// Adds an event that a write or a search returned.
    mutating func add(_ event: RemoteEvent) { add([(event.id, .present(event))]) }

    /// Forgets an event: from now on its state is the one in the link.
    mutating func forget(_ id: String) {
        events.removeValue(forKey: id)
        gone.remove(id)
    }

    mutating func count(unaccounted number: Int) { unaccounted = number }
}
