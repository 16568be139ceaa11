// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// The decision about one field.
enum Verdict: Hashable {
    /// Nothing: the sides are equal, or differ only as they did when they last agreed.
    case same
    /// The value here is written to the calendar. `lost`: it replaces a value that a person typed.
    case write(lost: Bool)
    /// The calendar's value is taken over here. `lost`: it replaces a value that a person typed.
    case take(lost: Bool)
    /// Both sides stay as they are until a person decides.
    case leave
}

/// Decides which side's value of a field is used.
struct FieldRule {
    /// Whether the item's times may be moved in the calendar: true for an appointment in a two-way connection.
    var mayMove: Bool
    /// When each side last changed, by its server's clock; nil where that is not known.
    var ours: Instant?
    var theirs: Instant?
    /// The number of seconds within which neither edit counts as the later one.
    var tie: Int
    /// Edits that were made again too often.
    var frozen: Set<EditSeen>

    /// Decides about a field from what both sides last agreed on; clocks only break ties.
    ///
    /// - Parameter base: nil when the sides never agreed, or when the base was lost; each difference is then an edit on
    ///   both sides.
    func verdict(
        _ field: EntryField, at occurrence: Instant?, base: (ours: FieldValue, theirs: FieldValue)?,
        ours: FieldValue, theirs: FieldValue
    ) -> Verdict {
        if ours == theirs { return .same }
        let changedHere = base.map { ours != $0.ours } ?? true
        let changedThere = base.map { theirs != $0.theirs } ?? true
        guard changedThere else { return changedHere ? .write(lost: false) : .same }
        if frozen.contains(EditSeen(field, at: occurrence, theirs)) { return .leave }
        if field == .times, mayMove {
            if !changedHere { return .take(lost: false) }
            return isLaterHere ? .write(lost: true) : .take(lost: true)
        }
        if !changedHere, case .recurrence(let rule?) = base?.theirs, case .recurrence(let cut?) = theirs,
            rule.isCut(to: cut)
        {
            return .leave
        }
        return .write(lost: true)
    }

    /// Whether the edit here is later than the one in the calendar by more than the tie; false if either time is
    /// unknown.
    private var isLaterHere: Bool {
        guard let ours, let theirs else { return false }
        return ours.seconds - theirs.seconds > tie
    }
}

/// A value that was typed into a field in the calendar.
struct EditSeen: Hashable {
    /// The field, with the occurrence if it belongs to one.
    var field: ByteString
    var value: ByteString

    init(_ field: EntryField, at occurrence: Instant?, _ value: FieldValue) {
        self.field = ByteString(occurrence.map { "\(field.rawValue)@\($0.seconds)" } ?? field.rawValue)
        self.value = ByteString(Digest.text(value.text))
    }

    init(_ flip: Flip) {
        field = ByteString(flip.field)
        value = ByteString(flip.value)
    }
}
