// SPDX-License-Identifier: Apache-2.0

import OfficeDays
import Storage

/// The events of a user's office days, for whatever carries them into a calendar: a connection, or a phone.
///
/// What carries them compares these with what it wrote before, by `identity` and `revision`: one that is `managed` must
/// be there as it is here, one that is no longer among them must be removed, and the others must not be touched.
enum OfficeDayEvents {
    /// What a calendar's side says of one event.
    struct Report: Sendable {
        enum Kind: Sendable {
            /// A person edited it there.
            case edited
            /// A person deleted it there.
            case deleted
        }

        var date: OfficeDate
        var kind: Kind
    }

    /// A user's events that belong to a calendar, in order of date.
    static func entries(
        of user: String, for target: OfficeSettings.Target, after: OfficeDate? = nil, limit: Int = 1000,
        in transaction: any ReadTransaction
    ) throws -> [OfficeEvent] {
        try transaction.officeDaysWithEvent(
            of: user, target: target.name, after: after?.dayNumber ?? Int.min / 2, limit: limit
        ).compactMap(event)
    }

    /// The same for a span of dates, in days from 1970.
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

    /// Notes what the calendar's side reports: which events are now a person's own, how writing went, and what prevents
    /// it.
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
