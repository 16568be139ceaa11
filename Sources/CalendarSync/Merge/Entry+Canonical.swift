// SPDX-License-Identifier: Apache-2.0

package import ICalBridge

extension Entry {
    /// The canonical form in which entries are merged: a cancelled occurrence is in `occurrences` and never an EXDATE,
    /// and an occurrence that equals the series is left out.
    package var canonical: Entry {
        guard repetition != nil else {
            guard !occurrences.isEmpty else { return self }
            var single = self
            single.occurrences = [:]
            return single
        }
        var entry = self
        for start in entry.repetition?.exdates ?? [] { entry.occurrences[start] = .cancelled }
        entry.repetition?.exdates = []
        for (start, occurrence) in entry.occurrences {
            if case .changed(let changed) = occurrence, changed == entry.plain(at: start) {
                entry.occurrences[start] = nil
            }
        }
        return entry
    }

    /// Reports whether a canonical entry takes place exactly when another one does.
    func takesPlace(like other: Entry) -> Bool {
        repeats(like: other)
            && Set(occurrences.keys).union(other.occurrences.keys).allSatisfy { takesPlace(like: other, at: $0) }
    }

    /// Reports the same of one occurrence.
    func takesPlace(like other: Entry, at start: Instant) -> Bool {
        switch (effective(at: start), other.effective(at: start)) {
        case (nil, nil): true
        case (let own?, let others?): own.span.bounds == others.span.bounds
        default: false
        }
    }

    /// Reports the same of the event without what differs from its rule.
    func repeats(like other: Entry) -> Bool { span.bounds == other.span.bounds && hasOccurrences(like: other) }

    /// How many parts of a canonical entry equal those of another one; the occurrences together are one.
    func likeness(to other: Entry) -> Int {
        EntryField.ofEvents.count { self[$0] == other[$0] } + (occurrences == other.occurrences ? 1 : 0)
    }

    /// Returns an occurrence as the series defines it.
    package func plain(at start: Instant) -> Entry {
        Entry(title: title, notes: notes, location: location, span: span.moved(to: start), status: status)
    }

    /// Returns an occurrence of a canonical entry with its changes; nil when it is cancelled.
    package func effective(at start: Instant) -> Entry? {
        switch occurrences[start] {
        case .cancelled: nil
        case .changed(let changed): changed
        case nil: plain(at: start)
        }
    }
}
