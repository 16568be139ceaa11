// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import KalendsCore
import Storage

extension Components {
    private static let collection = Schema.choice(ItemKey.Collection.self)

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
        (
            "CalDAVAccount",
            .output(
                .required("principal", .string), .required("homes", .array(of: .string)),
                .required("name", .string.orNull))
        ),
        (
            "RemoteCalendar",
            .output(
                .required("calendarId", .string), .required("name", .string),
                .required("color", Schema.string.orNull.described("#RRGGBB.")), .required("isPrimary", .bool),
                .required("canWrite", .bool),
                .required(
                    "isOurs",
                    .bool.described("Whether a Kalends server created the calendar, whatever its name is now.")))
        ),
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
        (
            "SyncRun",
            .output(
                .required("id", .string), .required("connectionId", .string),
                .required("trigger", .choice(RunRecord.Trigger.self)),
                .required("state", .choice(RunRecord.State.self)), .required("startedAt", .instant),
                .required("endedAt", .instant.orNull),
                .required("status", Schema.choice(RunRecord.Status.self).orNull),
                .required("error", .string.orNull),
                .required(
                    "counts",
                    .output(
                        .required("created", .count), .required("updated", .count), .required("deleted", .count),
                        .required("pulled", .count), .required("conflicts", .count), .required("failed", .count),
                        .required("unchanged", .count))),
                .required("requests", .count),
                .required(
                    "held",
                    Schema.output(
                        .required("causes", .array(of: .choice(Hold.Cause.self))), .required("deletions", .count),
                        .required("missing", .count)
                    ).orNull.described("The reason why the run waits for a person, and what an approval allows.")))
        ),
        (
            "Mapping",
            .output(
                .required("collection", collection), .required("itemId", .identifier),
                .optional("occurrence", .instant), .required("externalId", .string.orNull),
                .required("externalEtag", .string.orNull), .required("direction", .one(of: ["out", "in"])),
                .required("state", .choice(CalendarSync.Link.State.self)), .required("reason", .string.orNull),
                .required("lastSyncedAt", .instant.orNull))
        ),
        (
            "Conflict",
            .output(
                .required("id", .string), .required("connectionId", .string), .required("collection", collection),
                .required("itemId", .identifier),
                .optional("occurrence", Schema.instant.described("The first one, if it is about several.")),
                .optional(
                    "occurrences",
                    Schema.array(of: .instant, maximum: ConflictRecord.mostFields).described(
                        "The first ones, if it is about several: they are decided together.")),
                .optional("occurrenceCount", Schema.count.described("How many it is about, listed or not.")),
                .required("at", .instant), .required("kind", .choice(ConflictRecord.Kind.self)),
                .required(
                    "fields",
                    .array(
                        of: .output(
                            .required("field", .choice(EntryField.self)), .required("base", .string.orNull),
                            .required("kalends", .string.orNull), .required("calendar", .string.orNull),
                            .optional("occurrence", .instant), .required("kept", .choice(ConflictRecord.Side.self))))),
                .required("state", .choice(ConflictRecord.State.self)),
                .required("outcome", Schema.choice(ConflictRecord.Outcome.self).orNull),
                .required("resolvedAt", .instant.orNull),
                .required(
                    "resolvedBy",
                    Schema.string.orNull.described("The person who decided, in the form of the audit trail.")))
        ),
        (
            "JournalEntry",
            .output(
                .required("id", .string), .required("runId", .string), .required("at", .instant),
                .required("direction", .one(of: ["out", "in"])),
                .required("change", .choice(JournalEntry.Change.self)), .required("collection", collection),
                .required("itemId", .identifier), .optional("occurrence", .instant),
                .required("externalId", .string.orNull), .required("reason", .string),
                .required("before", Schema.either(.named("SyncedEvent"), Schema(["type": "null"]))),
                .required("after", Schema.either(.named("SyncedEvent"), Schema(["type": "null"]))))
        ),
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
