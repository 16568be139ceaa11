// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// Merges an item and its event field by field, and each occurrence of a series separately.
struct FieldMerge {
    private var base: Agreement?
    private var ours: Entry
    private let theirs: Entry
    private let rule: FieldRule
    private let isAppointment: Bool

    /// Their entry, with the changes to write.
    private var result: Entry
    /// The base, with the changes to take over.
    private var basis: Agreement
    private var incoming: [InboundChange.Edit] = []
    private var findings: [Finding] = []
    /// The places of the findings: what happened to several occurrences alike is one.
    private var positions: [Alike: Int] = [:]
    private var seen: [EditSeen] = []
    private var fields: Set<EntryField> = []
    private var putsBack = false

    private struct Alike: Hashable {
        var kind: ConflictRecord.Kind
        var isOpen: Bool
        /// The side whose values all occurrences keep; nil for the event as a whole.
        var kept: EditSide?
    }

    init(base: Agreement?, ours: Entry, theirs: Entry, rule: FieldRule, isAppointment: Bool) {
        self.base = base.map { Agreement(ours: $0.ours.canonical, theirs: $0.theirs.canonical) }
        self.ours = ours.canonical
        self.theirs = theirs.canonical
        self.rule = rule
        self.isAppointment = isAppointment
        result = self.theirs
        // Without a base, any difference that remains once the times are taken over counts as an edit here.
        basis = self.base ?? Agreement(ours: self.theirs, theirs: self.theirs)
    }

    func merged() -> Merged {
        if let base, ours == base.ours, theirs == base.theirs { return Merged(action: .agree(base)) }
        var merge = self
        merge.mergeEvent()
        merge.mergeOccurrences()
        return merge.outcome
    }

    private var outcome: Merged {
        let action: Merged.Action =
            result == theirs
            ? .agree(Agreement(ours: ours, theirs: theirs))
            : .update(wanted: result, reason: putsBack ? .putBack : .edited)
        return Merged(
            action: action, incoming: incoming, basis: incoming.isEmpty ? nil : basis, findings: findings, seen: seen,
            fields: EntryField.allCases.filter(fields.contains))
    }

    // MARK: The event as a whole

    private mutating func mergeEvent() {
        let merged = merged(
            Sides(here: ours, there: theirs, wasHere: base?.ours, wasThere: base?.theirs), EntryField.ofEvents, at: nil)
        result = merged.there
        guard merged.here.span != ours.span else { return }
        incoming.append(.times(theirs.span))
        (basis.ours.span, basis.theirs.span) = (theirs.span, theirs.span)
    }

    /// Only times are ever taken over here.
    private mutating func merged(
        _ sides: Sides<Entry>, _ fields: [EntryField], at start: Instant?
    ) -> (here: Entry, there: Entry) {
        sides.merged(
            fields, reading: { $0[$1] }, taking: { $0.take($1, of: $2) },
            by: { field, values in
                let verdict = rule.verdict(field, at: start, values)
                note(
                    verdict, field, at: start, base: values.wasHere, ours: values.here, theirs: values.there,
                    isEditThere: values.wasThere != nil && values.isChangedThere)
                return verdict
            })
    }

    // MARK: Occurrences

    private mutating func mergeOccurrences() {
        guard ours.repetition != nil || theirs.repetition != nil else { return }
        let movesHere = incoming.contains { if case .times = $0 { true } else { false } }
        let unmoved = base.flatMap {
            ours.span.start == $0.ours.span.start && theirs.span.start == $0.theirs.span.start && !movesHere
                && result.span.start == ours.span.start ? $0 : nil
        }
        if let base, ours.hasOccurrences(like: base.ours), theirs.hasOccurrences(like: base.theirs) {
            mergeOccurrences(since: base, among: ours.hasOccurrences(like: theirs) ? nil : shared(since: base))
        } else if let unmoved, result.rule == ours.rule {
            mergeRemainingOccurrences(since: unmoved)
        } else if let unmoved, result.rule == theirs.rule {
            // The series was cut there, and a person has yet to say which rule holds.
            mergeOccurrences(since: unmoved, among: shared(since: unmoved))
        } else if ours.hasOccurrences(like: theirs) {
            mergeOccurrences(since: nil)
        } else if movesHere {
            mergeMovedOccurrences()
        } else if result.span.start == ours.span.start, result.rule == ours.rule {
            // The series has new times, so its occurrences have new keys and are written to the calendar as a whole.
            recordLostOccurrences()
            result.occurrences = ours.occurrences
        }
    }

    /// Merges the occurrences of a series that was moved in the calendar as they will be once it is moved here.
    private mutating func mergeMovedOccurrences() {
        guard let before = base else {
            basis.ours.occurrences = theirs.occurrences
            basis.theirs.occurrences = theirs.occurrences
            return
        }
        let move = [InboundChange.Edit.times(theirs.span)]
        let moved = Agreement(ours: before.ours.applying(move), theirs: before.theirs.applying(move))
        ours = ours.applying(move)
        base = moved
        basis.ours.occurrences = moved.ours.occurrences
        basis.theirs.occurrences = moved.theirs.occurrences
        mergeOccurrences(since: moved)
    }

    /// Merges the occurrences of a series if only its rule has changed: those that both rules have keep their keys, and what
    /// each side did to them. The others are new in the calendar.
    private mutating func mergeRemainingOccurrences(since base: Agreement) {
        let remaining = shared(since: base)
        mergeOccurrences(since: base, among: remaining)
        recordLostOccurrences(except: remaining)
        result.occurrences = result.occurrences.filter { remaining.contains($0.key) }
            .merging(ours.occurrences.filter { !remaining.contains($0.key) }) { $1 }
    }

    /// Records the edits made in the calendar to occurrences of a series whose times are replaced.
    private mutating func recordLostOccurrences(except kept: Set<Instant> = []) {
        let before = base?.theirs.occurrences ?? [:]
        for (start, occurrence) in theirs.occurrences.sorted(by: { $0.key < $1.key })
        where before[start] != occurrence && !kept.contains(start) {
            let times = FieldValue.times(theirs.effective(at: start)?.span ?? theirs.span.moved(to: start))
            let field: EntryField = occurrence == .cancelled ? .existence : .times
            let value = occurrence == .cancelled ? FieldValue.existence(false) : times
            note(
                .write(lost: true), field, at: start, base: nil, ours: .existence(false), theirs: value,
                isEditThere: true, isTie: false)
        }
    }

    private func keys(since base: Agreement?) -> Set<Instant> {
        [ours, theirs, base?.ours, base?.theirs].reduce(into: []) { $0.formUnion(($1?.occurrences ?? [:]).keys) }
    }

    /// The occurrences that differ from their series on either side and that both series have.
    private func shared(since base: Agreement) -> Set<Instant> {
        theirs.remaining(of: ours.remaining(of: keys(since: base)))
    }

    private mutating func mergeOccurrences(since base: Agreement?, among starts: Set<Instant>? = nil) {
        for start in (starts ?? keys(since: base)).sorted() {
            if let base, ours.occurrences[start] == base.ours.occurrences[start],
                theirs.occurrences[start] == base.theirs.occurrences[start]
            {
                continue
            }
            merge(start, since: base)
        }
    }

    private mutating func merge(_ start: Instant, since base: Agreement?) {
        let before = base.map { (ours: $0.ours.effective(at: start), theirs: $0.theirs.effective(at: start)) }
        switch (ours.effective(at: start), theirs.effective(at: start)) {
        case (nil, nil): break
        case (nil, .some(let event)): cancelled(start, event, before: before)
        case (.some(let item), nil): deletedThere(start, item, since: base)
        case (.some(let item), .some(let event)): merge(start, item, event, before: before)
        }
    }

    /// Removes an occurrence that is cancelled here, even if it was restored in the calendar: only Kalends decides
    /// whether an occurrence takes place.
    private mutating func cancelled(
        _ start: Instant, _ event: Entry, before: (ours: Entry?, theirs: Entry?)?
    ) {
        let isNewHere = before.map { $0.ours != nil } ?? true
        let isBackThere = before.map { $0.theirs == nil } ?? false
        guard isNewHere || isBackThere else { return }
        result.occurrences[start] = .cancelled
        fields.insert(.existence)
        if isBackThere {
            note(
                .write(lost: true), .existence, at: start, base: .existence(false), ours: .existence(false),
                theirs: .existence(true), isEditThere: true)
        } else {
            for field in EntryField.ofOccurrences where event[field] != before?.theirs?[field] {
                guard theirs.occurrences[start] != nil else { continue }
                note(
                    .write(lost: true), field, at: start, base: before?.theirs?[field], ours: .existence(false),
                    theirs: event[field], isEditThere: true, isTie: false)
            }
        }
    }

    /// Accepts that an occurrence was deleted in the calendar, unless it was edited here.
    private mutating func deletedThere(_ start: Instant, _ item: Entry, since base: Agreement?) {
        let isEdited = base.map { ours.occurrences[start] != $0.ours.occurrences[start] } ?? false
        if isEdited {
            // An occurrence that equals the series here becomes equal to the series in the calendar, however the server
            // writes that.
            let isPlain = [ours, result].contains { item == $0.plain(at: start) }
            result.occurrences[start] = isPlain ? nil : .changed(item)
            fields.insert(.existence)
        } else if isAppointment, base.map({ $0.theirs.occurrences[start] != .cancelled }) ?? true {
            // The finding is recorded once: when incoming changes are merged, the basis already has the deletion.
            basis.theirs.occurrences[start] = .cancelled
            let text = item.span.text
            record(
                .deletedThere, start, isOpen: true,
                ConflictRecord.Field(field: .existence, base: text, kalends: text, calendar: nil, kept: .kalends))
        }
    }

    private mutating func merge(
        _ start: Instant, _ item: Entry, _ event: Entry,
        before: (ours: Entry?, theirs: Entry?)?
    ) {
        var sides = Sides(here: item, there: event, wasHere: before?.ours, wasThere: before?.theirs)
        // An occurrence that one side did not have has no base.
        if sides.wasHere == nil || sides.wasThere == nil { (sides.wasHere, sides.wasThere) = (nil, nil) }
        let merged = merged(sides, EntryField.ofOccurrences, at: start)
        if merged.here.span != item.span { take(start, event) }
        guard merged.there != event else { return }
        result.occurrences[start] = merged.there == result.plain(at: start) ? nil : .changed(merged.there)
    }

    private mutating func take(_ start: Instant, _ event: Entry) {
        let isPlain = event.span == theirs.span.moved(to: start)
        incoming.append(isPlain ? .occurrenceRestored(start) : .occurrenceTimes(start, event.span))
        for side in [\Agreement.ours, \Agreement.theirs] {
            var occurrence = basis[keyPath: side].effective(at: start) ?? event
            occurrence.span = event.span
            let plain = basis[keyPath: side].plain(at: start)
            basis[keyPath: side].occurrences[start] = occurrence == plain ? nil : .changed(occurrence)
        }
    }

    // MARK: Records

    /// - Parameter isTie: whether a lost value is one of two that either side may have set.
    private mutating func note(
        _ verdict: Verdict, _ field: EntryField, at occurrence: Instant?, base: FieldValue?, ours: FieldValue,
        theirs: FieldValue, isEditThere: Bool, isTie: Bool = true
    ) {
        let kind: ConflictRecord.Kind = field == .times && rule.mayMove && isTie ? .bothChanged : .editedThere
        switch verdict {
        case .same: return
        case .write(let lost):
            fields.insert(field)
            guard lost else { return }
            putsBack = true
            record(kind, field, occurrence, base, ours, theirs, kept: .kalends, isOpen: kind == .bothChanged)
        case .take(let lost):
            fields.insert(field)
            if lost { record(.bothChanged, field, occurrence, base, ours, theirs, kept: .calendar, isOpen: true) }
        case .leave: record(.editedThere, field, occurrence, base, ours, theirs, kept: .calendar, isOpen: true)
        }
        if isEditThere { seen.append(EditSeen(field, at: occurrence, theirs)) }
    }

    private mutating func record(
        _ kind: ConflictRecord.Kind, _ field: EntryField, _ occurrence: Instant?, _ base: FieldValue?,
        _ ours: FieldValue, _ theirs: FieldValue, kept: EditSide, isOpen: Bool
    ) {
        let values = ConflictRecord.Field(
            field: field, base: base?.text, kalends: ours.text, calendar: theirs.text, kept: kept)
        record(kind, occurrence, isOpen: isOpen, values)
    }

    private mutating func record(
        _ kind: ConflictRecord.Kind, _ occurrence: Instant?, isOpen: Bool, _ values: ConflictRecord.Field
    ) {
        var values = values
        values.occurrence = occurrence
        let alike = Alike(kind: kind, isOpen: isOpen, kept: occurrence == nil ? nil : values.kept)
        let index = positions[alike] ?? findings.count
        if index == findings.count {
            positions[alike] = index
            findings.append(Finding(kind: kind, fields: [], isOpen: isOpen))
        }
        findings[index].fields.append(values)
        if let occurrence, findings[index].occurrences.last != occurrence {
            findings[index].occurrences.append(occurrence)
        }
    }
}
