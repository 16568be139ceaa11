// SPDX-License-Identifier: Apache-2.0

import ICalBridge

/// Decides which side's value of a field is used.
struct FieldRule {
    /// Whether the item's times may be moved in the calendar: true for an appointment in a two-way connection.
    var mayMove: Bool
    /// When each side last changed, by its server's clock; nil where that is unknown.
    var ours: Instant?
    var theirs: Instant?
    /// The number of seconds within which neither edit counts as the later one.
    var tie: Int
    /// Edits that were made again too often.
    var frozen: Set<EditSeen>

    /// Decides about a field from what both sides last agreed on; clocks only break ties.
    ///
    /// Where the sides never agreed, or the base was lost, each difference is an edit on both sides.
    func verdict(_ field: EntryField, at occurrence: Instant?, _ values: Sides<FieldValue>) -> Verdict {
        if values.isSame { return .same }
        let (isChangedHere, isChangedThere) = (values.isChangedHere, values.isChangedThere)
        if isChangedThere, frozen.contains(EditSeen(field, at: occurrence, values.there)) { return .leave }
        if isChangedThere, !isChangedHere, case .recurrence(let rule?) = values.wasThere,
            case .recurrence(let cut?) = values.there, rule.isCut(to: cut)
        {
            return .leave
        }
        let later = EditSide.later(kalends: ours?.seconds, calendar: theirs?.seconds, tie: tie)
        let precedence = field == .times && mayMove ? Precedence.either(later) : .only(.kalends)
        return precedence.verdict(isSame: false, isChangedHere: isChangedHere, isChangedThere: isChangedThere)
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

    init(_ flip: ObservedFieldEdit) {
        field = ByteString(flip.field)
        value = ByteString(flip.value)
    }
}
