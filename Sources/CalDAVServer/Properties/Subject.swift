// SPDX-License-Identifier: Apache-2.0

import KalendsCore

/// A resource whose properties are asked for.
enum Subject: Sendable {
    /// `/dav/`, and `/.well-known/caldav`.
    case root
    /// `/dav/principals/`
    case principals
    case principal(CalendarPerson)
    /// `/dav/calendars/`
    case calendars
    /// The container of a person's collections.
    case home
    case collection(CalendarCollection)
    case member(CalendarMember, of: CalendarCollection)

    /// The calendar collection that it is; nil for anything else.
    var collection: CalendarCollection? { if case .collection(let collection) = self { collection } else { nil } }
}
