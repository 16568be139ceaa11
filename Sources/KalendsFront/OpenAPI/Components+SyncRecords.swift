// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import KalendsCore
import Storage

extension Components {
    private static let shownTimes = Schema.output(
        .required("start", .string), .required("end", .string), .required("timeZone", .string.orNull),
        .required("allDay", .bool))

    static func syncRecords(_ kinds: ItemKinds) -> [(String, Schema)] {
        [
            ("Authorization", ConnectionAccountRoutes.authorization.schema),
            ("AccountInput", Connections.AccountDraft.schema(kinds)),
            ("AuthorizationCode", ConnectionAccountRoutes.authorizationCode.schema),
            ("CalDAVAccount", CalDAVAccount.view.schema),
            ("RemoteCalendar", RemoteCalendar.view.schema),
            ("CalendarChoice", Connections.CalendarChoice.body.schema),
            ("SyncRun", Connections.Listed<SyncRunRow, RunRecord>.view.schema),
            ("Mapping", CalendarSync.Link.view.schema),
            ("Conflict", Connections.Listed<SyncConflictRow, ConflictRecord>.view.schema),
            ("JournalEntry", Connections.Listed<SyncJournalRow, JournalEntry>.view.schema),
            (
                "SyncedEvent",
                .output(
                    .required("title", .string), .required("notes", .string), .required("location", .string),
                    .required("times", shownTimes),
                    .required(
                        "recurrence",
                        Schema.output(
                            .required("rrule", .string.orNull), .required("exdates", .array(of: .instant)),
                            .required("rdates", .array(of: .instant))
                        ).orNull),
                    .required(
                        "occurrences",
                        .array(
                            of: .output(
                                .required("start", .instant), .required("status", .string), .optional("title", .string),
                                .optional("notes", .string), .optional("location", .string),
                                .optional("times", shownTimes)))),
                    .required("reminders", .array(of: .count)), .required("status", .string),
                    .required("availability", .string))
            ),
        ]
    }
}
