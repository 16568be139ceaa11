// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// What is done about one field.
enum Verdict: Hashable {
    /// Nothing: the sides are equal, or differ as they did when they last agreed.
    case same
    /// The value here goes there. `lost`: somebody typed the value that it replaces.
    case write(lost: Bool)
    /// The value there comes here. `lost`: somebody typed the value that it replaces.
    case take(lost: Bool)
    /// Both stay as they are until a person decides.
    case leave
}

/// Who is right about one field.
struct FieldRule {
    /// Whether the times of this item may be moved in the calendar: an appointment, in a connection of both ways.
    var mayMove: Bool
    /// When each side last changed, by its server's clock; nil where that is not known.
    var ours: Instant?
    var theirs: Instant?
    /// Seconds within which neither is the later one.
    var tie: Int
    /// Edits that have come back too often.
    var frozen: Set<EditSeen>

    /// The direction comes from what both sides last agreed on; clocks only break ties.
    ///
    /// - Parameter base: nil when the two never agreed, or when that was lost. Each difference is an edit on both sides then.
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

    /// Whether the edit here is later than the one there by more than the tie. Without a stamp there it is not.
    private var isLaterHere: Bool {
        guard let ours, let theirs else { return false }
        return ours.seconds - theirs.seconds > tie
    }
}

/// A value that was typed into a field there.
struct EditSeen: Hashable {
    /// The field, and the occurrence where it is one's.
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
