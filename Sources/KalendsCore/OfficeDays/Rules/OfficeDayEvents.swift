// SPDX-License-Identifier: Apache-2.0

import Calendar
import OfficeDays
import Storage

/// The events of a user's office days, for the connection or phone that writes them to a calendar.
///
/// The writer compares them with what it wrote before, by `identity` and `revision`: an event that is `managed` must be
/// in the calendar as it is here, one that is no longer here must be removed, and all others must not be touched.
enum OfficeDayEvents {
    /// What the calendar's side reports about one event.
    struct Report: Sendable {
        enum Kind: Sendable {
            /// A person edited it in the calendar.
            case edited
            /// A person deleted it in the calendar.
            case deleted
        }

        var date: CivilDate
        var kind: Kind
    }

    /// Returns a user's events that belong in a calendar, in order of date.
    static func entries(
        of user: String, for target: OfficeSettings.Target, after: CivilDate? = nil, limit: Int = 1000,
        in transaction: any ReadTransaction
    ) throws -> [OfficeEvent] {
        try transaction.officeDaysWithEvent(
            of: user, target: target.name, after: after?.daysSinceEpoch ?? Int.min / 2, limit: limit
        ).compactMap(event)
    }

    /// Returns the same for a span of dates, in days since 1970.
    static func entries(
        of user: String, for target: OfficeSettings.Target, on days: ClosedRange<Int>,
        in transaction: any ReadTransaction
    ) throws -> [OfficeEvent] {
        try transaction.officeDays(of: user, from: days.lowerBound, through: days.upperBound)
            .filter { $0.eventTarget == target.name }.compactMap(event)
    }

    private static func event(_ row: OfficeDayRecord) throws -> OfficeEvent? {
        guard let decision = row.decision else { return nil }
        let day: DecidedDay = try OfficeStored.read(decision)
        return day.event
    }

    /// Stores what the calendar's side reports: which events are now a person's own, how many writes succeeded and
    /// failed, and what prevents writing.
    static func note(
        _ reports: [Report], written: Int, failed: Int, problem: OfficeProblem?, of user: String, now: Int,
        in transaction: any WriteTransaction
    ) throws {
        guard try transaction.officeProfile(of: user) != nil else { return }
        var book = try OfficeBook(of: user, seed: "", now: now, in: transaction)
        for report in reports {
            var log = try book.log(report.date...report.date, in: transaction)
            let writes =
                switch report.kind {
                case .edited: log.wasEdited(report.date)
                case .deleted: log.wasDeleted(report.date)
                }
            try book.keep(log, writes, now: now, in: transaction)
        }
        try book.report(written: written, failed: failed, problem: problem, now: now, in: transaction)
    }
}
