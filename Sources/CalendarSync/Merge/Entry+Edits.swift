// SPDX-License-Identifier: Apache-2.0

import ICalBridge

extension Entry {
    /// Returns the edits that turn this entry into another one: those of the event as a whole, then those of its occurrences
    /// in order.
    ///
    /// Another zone with the same times is not an edit: some programs write every time in UTC.
    package func edits(to other: Entry) -> [InboundChange.Edit] {
        var (old, new) = (canonical, other.canonical)
        var edits: [InboundChange.Edit] = []
        if new.title != old.title { edits.append(.title(new.title)) }
        if new.notes != old.notes { edits.append(.notes(new.notes)) }
        if new.location != old.location { edits.append(.location(new.location)) }
        if new.status != old.status { edits.append(.status(new.status)) }
        if new.span.bounds != old.span.bounds || new.span.isDays != old.span.isDays {
            edits.append(.times(new.span))
            old = old.applying([.times(new.span)])
        }
        if new.rule != old.rule,
            new.repetition?.rrule != old.repetition?.rrule || old.repetition == nil
                || new.repetition?.rdates != old.repetition?.rdates
        {
            edits.append(.repetition(new.repetition))
        }
        guard new.repetition != nil, old.repetition != nil else { return edits }
        let starts = Set(old.occurrences.keys).union(new.occurrences.keys)
        for start in new.remaining(of: starts).sorted() {
            switch (old.effective(at: start), new.effective(at: start)) {
            case (nil, nil): break
            case (.some, nil): edits.append(.occurrenceCancelled(start))
            case (nil, .some(let event)):
                edits.append(.occurrenceRestored(start))
                if event != new.plain(at: start) { edits.append(.occurrence(start, event)) }
            case (.some(let item), .some(let event)):
                var compared = event
                if item.span.bounds == event.span.bounds { compared.span = item.span }
                if compared != item { edits.append(.occurrence(start, event)) }
            }
        }
        return edits
    }

    /// Whether a series is this one with an end, or with an earlier end.
    package func isCut(to repetition: Repetition?) -> Bool {
        guard let repetition, let rule else { return false }
        return rule.isCut(to: SeriesRule(span: span, rrule: repetition.rrule, rdates: repetition.rdates))
    }
}

extension TimeSpan {
    fileprivate var isDays: Bool { if case .days = self { true } else { false } }
}
