// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// An own calendar as pages list it.
package struct ListedOwnCalendar: Sendable {
    package let id: String
    /// As the person called it in a calendar app.
    package let name: String
    /// The number of its resources.
    package let entries: Int
}

extension AuthorizedUser {
    /// Returns the user's own calendars.
    package func ownCalendars() throws -> [ListedOwnCalendar] {
        try transaction.ownCalendars(of: id).map { calendar in
            let properties = try CollectionProperties.properties(of: .own(calendar.id), user: id, in: transaction)
            let element = properties.first { $0.namespace == "DAV:" && $0.name == "displayname" }
                .flatMap { try? XMLReader.read($0.xml) }
            let chosen = element.map { String(String(fromOutside: $0.bytes).withoutOuterBlanks) }
            return ListedOwnCalendar(
                id: calendar.id, name: chosen.flatMap { $0.isEmpty ? nil : $0 } ?? OwnCalendars.name(of: calendar),
                entries: calendar.usage.count)
        }
    }
}

extension OwnCalendars {
    /// The server's name for a calendar.
    static func name(of calendar: OwnCalendar) -> String {
        let prefix = "own~"
        guard calendar.segment.hasPrefix(prefix), calendar.segment.utf8.count > prefix.utf8.count else {
            return calendar.segment
        }
        return String(calendar.segment.dropFirst(prefix.count))
    }

    /// Deletes one of the caller's own calendars with everything in it.
    package func delete(_ id: String, for caller: Caller) async throws {
        let user = try Rights.user(caller.identity)
        try await acts.act(on: .ownCalendar(of: user), for: caller) { act in
            guard let calendar = try act.transaction.ownCalendar(id), calendar.userID.isSameText(as: user) else {
                throw Refusal(.missing, detail: "There is no such calendar, or you may not see it.")
            }
            return try Self.delete(calendar, act)
        }
        tidying.afterDeleting(ownCalendar: id)
    }

    static func delete(_ calendar: OwnCalendar, _ act: Act<Void>) throws -> ActResult<Void> {
        try act.transaction.deleteOwnCalendar(calendar, now: act.now)
        try act.transaction.touchOwnFeeds(of: calendar.userID, now: act.now)
        return ActResult(noting: AuditNote(.ownCalendarDeleted, calendar.id))
    }
}
