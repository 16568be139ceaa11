// SPDX-License-Identifier: Apache-2.0

extension Event {
    /// Why a server leaves the event out: its rules take more work than one event, or one file, may cause.
    ///
    /// - Parameters:
    ///   - line: the event's line in its file.
    ///   - budget: the budget of the whole file.
    /// - Returns: nil for an event whose rules can be expanded.
    public func excessiveWork(
        line: Int, floatingIn zone: any TimeZoneRules = FixedOffset.utc, budget: inout RecurrenceBudget
    ) -> Problem? {
        guard start != nil, !recurrence.isEmpty else { return nil }
        guard Series(master: self, overrides: []).followed(floatingIn: zone, budget: &budget) == nil else { return nil }
        return Problem(
            line: line, uid: uid, severity: .error, code: "rule-too-costly",
            sentence: budget.isSpent
                ? Sentence(
                    .fileTooCostly,
                    "The rules of the file take more work together than a server spends on one; this event is left out."
                )
                : Sentence(
                    .ruleTooCostly,
                    "Following its rule takes more work than a server spends on one event; the event is left out."),
            text: recurrence.rules.first?.description)
    }
}
