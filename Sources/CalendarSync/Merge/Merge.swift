// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// Three states of one item: the one that both sides last agreed on, ours, and theirs.
struct ThreeStates {
    /// The item, as the connection's configuration shows it.
    enum LocalState {
        /// The entry as the provider can express it.
        case shown(Entry)
        /// It should not be in the calendar: it is cancelled, or no longer shown.
        case hidden
        /// A person deleted it.
        case deleted
    }

    /// The item's event in the calendar.
    enum RemoteState {
        case present(Entry)
        /// The provider has confirmed that it is gone.
        case gone
        /// It exists, but cannot be expressed as an entry.
        case unreadable(String)
        /// There has never been an event of this generation.
        case none
    }

    var base: Agreement?
    var here: LocalState
    var there: RemoteState
}

/// The result of merging three states: what to write to the calendar, what to change here, and what to record.
struct Merged: Hashable {
    /// What has to be done in the calendar.
    enum Action: Hashable {
        /// Nothing: both sides now agree on this.
        case agree(Agreement)
        /// An event has to be created. `again`: an event of this generation existed, so the next generation is used.
        case create(Entry, again: Bool)
        /// - Parameter wanted: their entry, with the fields to write.
        case update(wanted: Entry, reason: Reason)
        case delete(Reason)
        /// Deleted in the calendar, and not created again. The base remains, because an edit here brings the event
        /// back.
        case stayAway
        /// Gone on both sides.
        case forget
        /// A person has to decide first.
        case wait
        /// The event cannot be read: nothing is done until it can be, or until a person decides.
        case holdBack(String)
    }

    enum Reason: String, Hashable {
        case new, edited
        case putBack = "put back"
        case editBeatsDeletion = "edited here, deleted there"
        case notShown = "not shown"
        case deletedHere = "deleted here"
    }

    var action: Action
    /// Changes from the calendar that have to be made here, before the action is decided again with `basis`.
    var incoming: [InboundChange.Edit] = []
    /// What both sides agree on once `incoming` is applied.
    var basis: Agreement?
    var findings: [Finding] = []
    /// Values that were typed in the calendar.
    var seen: [EditSeen] = []

    /// The fields that are written or taken over, to be shown to people.
    var fields: [EntryField] = []
}

/// A conflict, before it has an identity and a time.
struct Finding: Hashable {
    var kind: ConflictRecord.Kind
    /// The occurrences concerned, ascending; empty for the event as a whole.
    var occurrences: [Instant] = []
    var fields: [ConflictRecord.Field]
    var isOpen: Bool
}

extension ThreeStates {
    /// Decides first by whether the event exists, and then merges each field separately.
    ///
    /// - Parameter keepsEdits: whether an edit in the calendar outlives the item until a person decides.
    func merged(_ rule: FieldRule, isAppointment: Bool, keepsEdits: Bool = true) -> Merged {
        switch (here, there) {
        case (.shown(let ours), .present(let theirs)):
            return FieldMerge(base: base, ours: ours, theirs: theirs, rule: rule, isAppointment: isAppointment).merged()
        case (.shown(let ours), .none):
            return Merged(action: .create(ours, again: false), fields: [.existence])
        case (.shown(let ours), .gone):
            // An edit beats a deletion.
            if let base, ours.canonical == base.ours.canonical {
                return Merged(action: .stayAway, findings: isAppointment ? [missing(ours)] : [])
            }
            return Merged(action: .create(ours, again: true), fields: [.existence])
        case (.hidden, .present(let theirs)):
            return Merged(action: .delete(.notShown), findings: lost(theirs, isOpen: false), fields: [.existence])
        case (.deleted, .present(let theirs)):
            let findings = lost(theirs, isOpen: false)
            if keepsEdits, rule.mayMove, findings.contains(where: { $0.fields.contains { $0.field == .times } }) {
                return Merged(action: .wait, findings: lost(theirs, isOpen: true))
            }
            return Merged(action: .delete(.deletedHere), findings: findings, fields: [.existence])
        case (_, .unreadable(let reason)):
            if case .shown = here {} else if !keepsEdits { return Merged(action: .delete(.notShown)) }
            let field = ConflictRecord.Field(
                field: .existence, base: nil, kalends: nil, calendar: reason, kept: .calendar)
            return Merged(
                action: .holdBack(reason), findings: [Finding(kind: .unreadable, fields: [field], isOpen: true)])
        case (.hidden, .gone), (.hidden, .none), (.deleted, .gone), (.deleted, .none):
            return Merged(action: .forget)
        }
    }

    /// Returns the finding for an appointment whose event was deleted in the calendar.
    private func missing(_ ours: Entry) -> Finding {
        let field = ConflictRecord.Field(
            field: .existence, base: FieldValue.existence(true).text, kalends: FieldValue.existence(true).text,
            calendar: FieldValue.existence(false).text, kept: .kalends)
        return Finding(kind: .deletedThere, fields: [field], isOpen: true)
    }

    /// Returns the finding for a person's edits of an event whose item is gone.
    private func lost(_ theirs: Entry, isOpen: Bool) -> [Finding] {
        guard let base else { return [] }
        let theirs = theirs.canonical
        let before = base.theirs.canonical
        var fields = EntryField.ofEvents.filter { theirs[$0] != before[$0] }.map { field in
            ConflictRecord.Field(
                field: field, base: before[field].text, kalends: nil, calendar: theirs[field].text,
                kept: isOpen ? .calendar : .kalends)
        }
        for start in Set(theirs.occurrences.keys).union(before.occurrences.keys).sorted() {
            guard let now = theirs.effective(at: start), now != before.effective(at: start) else { continue }
            fields.append(
                ConflictRecord.Field(
                    field: .times, base: before.effective(at: start)?.span.text, kalends: nil, calendar: now.span.text,
                    kept: isOpen ? .calendar : .kalends))
        }
        return fields.isEmpty ? [] : [Finding(kind: .editedThere, fields: fields, isOpen: isOpen)]
    }
}
