// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import KalendsCore
import Storage

extension Components {
    private static let shownTimes = Schema.output(
        .required("start", .string), .required("end", .string), .required("timeZone", .string.orNull),
        .required("allDay", .bool))

    static let syncRecords: [(String, Schema)] = [
        (
            "Authorization",
            .input(
                .optional(
                    "returnTo",
                    Schema.optionalText(2000).described(
                        "A path below /app/, or an address of an origin in KALENDS_RETURN_ORIGINS.")),
                example: ["returnTo": "/app/connections"])
        ),
        (
            "AccountInput",
            .input(
                .required("url", Schema.text(8192).described("The server's address, or the account's domain.")),
                .required("username", .text()),
                .required("password", .string.described("An app password, if the server supports them.")),
                example: ["url": "https://dav.example", "username": "jane", "password": "app-password"])
        ),
        (
            "AuthorizationCode",
            .input(
                .required("code", Schema.string.described("The code that the sign-in brought.")),
                example: ["code": "kal_cc_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"])
        ),
        ("CalDAVAccount", CalDAVAccount.view.schema),
        ("RemoteCalendar", RemoteCalendar.view.schema),
        (
            "CalendarChoice",
            .input(
                .optional("calendarId", .text(8192)),
                .optional(
                    "create",
                    Schema.object([.optional("name", .optionalText(200).orNull)]).described(
                        "Creates a calendar, or uses the one that was created earlier.")),
                .optional(
                    "shareWith",
                    .bool.described(
                        "Whether another connection may write the same circle into the calendar, too; 409 otherwise.")),
                example: ["create": ["name": "Our family"]])
        ),
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
