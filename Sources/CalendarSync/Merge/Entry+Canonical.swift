// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension Entry {
    /// The one form in which entries are merged: a cancelled occurrence is among `occurrences` and never an EXDATE,
    /// and an occurrence that is as the series has it is not named.
    var canonical: Entry {
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

    /// What an occurrence is that nobody changed.
    func plain(at start: Instant) -> ChangedEntry {
        ChangedEntry(title: title, notes: notes, location: location, span: span.moved(to: start), status: status)
    }

    /// What an occurrence is; nil when it is cancelled.
    func effective(at start: Instant) -> ChangedEntry? {
        switch occurrences[start] {
        case .cancelled: nil
        case .changed(let changed): changed
        case nil: plain(at: start)
        }
    }
}
