// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import KalendsCore

extension RemoteCalendar: Viewed {
    static let view = View<RemoteCalendar>([
        .text("calendarId", \.id), .text("name", \.name), .text("color", \.color).described("#RRGGBB."),
        .flag("isPrimary", \.isPrimary), .flag("canWrite", \.canWrite),
        .flag("isOurs", \.isOurs).described("Whether a Kalends server created the calendar, whatever its name is now."),
    ])
}

extension CalDAVAccount: Viewed {
    /// The account that was found, without its credentials.
    static let view = View<CalDAVAccount>([
        .text("principal", \.principal),
        .init("homes", .array(of: .string)) { .array($0.homes.map(JSONValue.string)) }, .text("name", \.name),
    ])
}
