// SPDX-License-Identifier: Apache-2.0

/// A side of a calendar that is kept in step.
public enum EditSide: String, Hashable, Sendable, Codable, CaseIterable {
    case kalends, calendar

    /// Returns the side with the later edit: Kalends only if its edit is later by more than `tie`, and the calendar also
    /// if either time is unknown. Times and tie are in the same unit.
    public static func later(kalends: Int?, calendar: Int?, tie: Int = 0) -> EditSide {
        guard let kalends, let calendar else { return .calendar }
        return kalends - calendar > tie ? .kalends : .calendar
    }
}

/// Whose edit of a value counts. The server's runs, what phones send, and phones themselves all decide by this.
public enum Precedence: Hashable, Sendable {
    /// This side's; an edit on the other side is put back.
    case only(EditSide)
    /// Either side's, and this side's where both have changed the value.
    case either(EditSide)

    /// Decides about a value from what each side has changed since both last agreed on it.
    public func verdict(isSame: Bool, isChangedHere: Bool, isChangedThere: Bool) -> Verdict {
        guard !isSame, isChangedHere || isChangedThere else { return .same }
        let side =
            switch self {
            case .only(let side): side
            case .either(let side): isChangedHere && isChangedThere ? side : isChangedHere ? .kalends : .calendar
            }
        return side == .kalends ? .write(lost: isChangedThere) : .take(lost: isChangedHere)
    }
}

/// The decision about one value.
public enum Verdict: Hashable, Sendable {
    /// Nothing: the sides are equal, or differ only as they did when they last agreed.
    case same
    /// The value here is written to the calendar. `lost`: it replaces a value that a person typed.
    case write(lost: Bool)
    /// The calendar's value is taken over here. `lost`: it replaces a value that a person typed.
    case take(lost: Bool)
    /// Both sides stay as they are until a person decides.
    case leave
}
