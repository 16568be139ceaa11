// SPDX-License-Identifier: Apache-2.0

extension CalendarReading {
    /// The events that a server leaves out because of the work that their rules take.
    public func excessiveWork(budget: inout RecurrenceBudget) -> [Problem] {
        zip(calendars, lines).flatMap { calendar, lines in
            zip(calendar.events, lines).compactMap { event, span in
                event.kind != .freeBusy ? event.excessiveWork(line: span.lowerBound, budget: &budget) : nil
            }
        }
    }
}
