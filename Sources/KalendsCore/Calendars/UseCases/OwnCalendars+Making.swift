// SPDX-License-Identifier: Apache-2.0

import Calendar
import FeedTokens
package import Storage

extension OwnCalendars {
    package func make(
        _ segment: String, components: [CalendarComponent], properties: [StoredProperty],
        for caller: CalDAVCaller
    ) async throws -> CalendarCollection {
        guard caller.own, caller.mayWrite else { throw CollectionFault.needsPrivileges }
        guard (1...Self.longestName).contains(segment.utf8.count),
            !segment.utf8.contains(where: { $0 == 0 || $0 == 47 }), segment != ".", segment != ".."
        else {
            throw CollectionFault.forbidden(
                Sentence(.calendarName, "The name of a calendar must have 1 to \(Self.longestName, .most) bytes."))
        }
        let id = FeedLedger.makeID()
        let kinds = CalendarComponent.allCases.filter { components.isEmpty || components.contains($0) }
        return try await acts.act(
            on: .user(caller.userID, touchingNoCircle: "A new calendar has nothing that feeds could show."),
            for: caller.caller
        ) { act in
            let (transaction, user) = (act.transaction, caller.userID)
            guard try transaction.ownCalendar(segment, of: user) == nil,
                try !Self.isOfCircle(segment, of: user, in: transaction)
            else { throw CollectionFault.exists }
            guard try transaction.ownCalendars(of: user).count < quotas.ownCalendarsPerUser else {
                throw CollectionFault.insufficientStorage(
                    Sentence(
                        .ownCalendarsFull,
                        """
                        You have \(quotas.ownCalendarsPerUser, .most) calendars of your own, the most that are possible \
                        here.
                        """))
            }
            let calendar = try transaction.insertOwnCalendar(
                OwnCalendar(id: id, userID: user, segment: segment, components: kinds, now: act.now))
            try CollectionProperties.set(properties, removing: [], of: .own(id), user: user, in: transaction)
            return ActResult(
                try Self.shown(calendar, to: caller, in: transaction), noting: AuditNote(.ownCalendarCreated, id))
        }
    }

    package func remove(_ collection: CalendarCollection, for caller: CalDAVCaller) async throws {
        try await acts.act(on: .ownCalendar(of: caller.userID), for: caller.caller) { act in
            try Self.delete(try Self.calendar(collection, of: caller, in: act.transaction), act)
        }
        if case .own(let id) = collection.kind { tidying.afterDeleting(ownCalendar: id) }
    }

    /// Whether a segment is that of a collection of one of a person's circles.
    private static func isOfCircle(
        _ segment: String, of user: String, in transaction: any ReadTransaction
    ) throws -> Bool {
        try transaction.circles(of: user, after: "", limit: .max).contains { circle in
            CircleSegment.lists.contains { CircleSegment(circle: circle.id, list: $0).segment.isSameText(as: segment) }
        }
    }
}
