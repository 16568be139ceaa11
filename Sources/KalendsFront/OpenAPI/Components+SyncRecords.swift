// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import KalendsCore
import Storage

extension Components {
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
        ("SyncedEvent", Entry.view.schema),
    ]
}
