// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import KalendsCore
import Storage

extension Components {
    private static let time = Schema.string.described("A time of day as HH:MM or HH:MM:SS.")
    static let milliseconds = Schema.integer(SentEvent.times).described("Milliseconds since 1970.")
    private static let moments = Schema(["type": "array", "items": ["type": "string"], "maxItems": 1000])
        .described("Times in RFC 3339, or days.")

    private static let rejectedLeftOut = Schema.integer(1...Int.max)
        .described("The number of rejected events that are not in the list.")

    private static let recurrence: [Schema.Field] = [
        .required("rrule", Schema.string.orNull.described("RFC 5545 section 3.3.10.")),
        .required("exdates", moments), .required("rdates", moments),
    ]

    /// The visible fields of an event, as they are sent.
    private static let content: [Schema.Field] = [
        .optional("startTime", time.described("Without a start time the event is all-day.")),
        .optional("endTime", time),
        .optional("endDate", .string.described("The last day, included; an empty text removes it.")),
        .optional("timeZone", .string.described("An IANA name; an empty text removes it.")),
        .optional("allDay", .bool.described("True clears both times.")),
        .optional(
            "description",
            Schema.optionalText(FieldReader.longestNotes).withMost(bytes: FieldReader.longestNotes)),
        .optional("location", .optionalText()),
        .optional(
            "recurrence",
            Schema.object(
                recurrence.map { Schema.Field(name: $0.name, schema: $0.schema.orNull, isRequired: false) })),
    ]

    private static let states = PersonalEvent.Mapping.State.allCases.map(\.rawValue) + ["deleted"]

    private static let sentEvent = Schema.object(
        [.required("externalId", .text()), .required("title", .optionalText()), .required("date", .date)] + content + [
            .optional(
                "id", .string.described("The id from this server, which links an event that the device made for it.")),
            .optional("externalCalendarId", .optionalText()),
            .optional(
                "externalInstanceId",
                .string.described("A changed occurrence's original start: RFC 3339, or a day.")),
            .optional("syncState", .one(of: states)), .optional("lastSyncedAt", milliseconds),
            .optional("lastModified", milliseconds), .optional("sourceDevice", .optionalText()),
            .optional("turn", Schema([:]).described("For an item's event: the number that came with it.")),
            .optional(
                "updatedAt",
                Schema([:]).described(
                    "For an item's event: the value that the device had when it changed the event."
                )),
        ])

    private static let event: [Schema.Field] = [
        .required("id", .string), .required("title", .string), .required("date", .date),
        .required("startTime", .string.orNull), .required("endTime", .string.orNull), .optional("endDate", .date),
        .optional("timeZone", .string), .required("allDay", .bool), .required("description", .string.orNull),
        .required("location", .string.orNull), .optional("recurrence", .object(recurrence)),
        .required("provider", .string), .required("externalId", .string.orNull),
        .required("externalCalendarId", .string.orNull), .required("externalInstanceId", .string.orNull),
        .required("syncState", .one(of: states)), .required("lastSyncedAt", milliseconds.orNull),
        .required("sourceDevice", .string.orNull), .required("createdAt", milliseconds),
        .required("updatedAt", milliseconds.described("Unique and rising among a user's events.")),
        .optional("deletedAt", milliseconds),
    ]

    /// An event that a device writes into its calendar: one of its user's own, or one that shows an item.
    private static let carried: [Schema.Field] =
        event + [
            .optional("circleId", .identifier),
            .optional(
                "collection",
                Schema.one(of: ItemKey.Collection.allCases.map(\.rawValue)).described("For events that show an item.")),
            .optional("itemId", .string), .optional("connectionId", .string),
            .optional(
                "turn", Schema.count.described("The fencing number of the device that carries the connection.")),
            .optional(
                "mark",
                .string.described("An address that the device writes into its event, to find the event again.")),
        ]

    private static let plan = Schema.object([
        .required("external_id", .text()), .optional("title", .optionalText()), .required("start_at", .instant),
        .required("end_at", .instant), .optional("is_all_day", .bool),
        .optional("source_calendar_name", .optionalText()),
    ])

    static let phones: [(String, Schema)] = [
        ("Profile", Profiles.Shown.view.schema),
        ("ProfileInput", ProfileRoutes.body.schema),
        ("PersonalEvent", .object(event)), ("CarriedEvent", .object(carried)),
        (
            "PersonalEventInput",
            .input(
                [.required("title", .optionalText()), .required("date", .date)] + content,
                example: ["title": "Choir", "date": "2026-03-04", "startTime": "19:00", "endTime": "21:00"])
        ),
        (
            "PersonalEventChange",
            .input(
                [.optional("title", .optionalText()), .optional("date", .date)] + content,
                example: ["startTime": "19:30", "endTime": "21:30"])
        ),
        (
            "EventChanges",
            .output(
                .required("events", .array(of: .named("CarriedEvent"))), .required("serverTime", milliseconds),
                .required("nextSince", milliseconds.described("The value of `since` for the next request.")),
                .required("hasMore", .bool),
                .optional(
                    "connector",
                    Schema.one(of: ["disconnected"]).described(
                        "The user's connection was ended on the server: the device stops.")))
        ),
        (
            "Upsert",
            Schema.object([
                .required("events", Schema.array(of: sentEvent, maximum: PhoneRoutes.mostEvents)),
                .optional("sourceDevice", Schema.optionalText().orNull),
                .optional(
                    "problem",
                    Schema.choice(PhoneProblem.self).orNull.described(
                        "The reason why the device cannot use its calendars, or a choice of the person in the app: "
                            + "`switchedOff`, `disconnected`. Null or missing if there is no problem.")),
            ]).with(example: [
                "sourceDevice": "ios-iphone15",
                "events": [
                    [
                        "externalId": "E1", "externalCalendarId": "C1", "title": "Meeting", "date": "2026-01-19",
                        "startTime": "09:00", "endTime": "10:00", "syncState": "linked",
                    ]
                ],
            ])
        ),
        (
            "UpsertReport",
            .output(
                .required("upserted", Schema.count.described("The sum of created and updated events.")),
                .required("created", .count),
                .required("updated", .count), .required("unchanged", .count), .required("serverTime", milliseconds),
                .required(
                    "rejected",
                    .array(
                        of: .output(
                            .required("index", .count), .required("externalId", .string.orNull),
                            .required("errors", faults), .optional("errorsLeftOut", faultsLeftOut)))),
                .optional("rejectedLeftOut", rejectedLeftOut),
                .required(
                    "events",
                    .array(
                        of: .output(
                            .required("index", .count), .required("id", .string),
                            .required("updatedAt", milliseconds),
                            .optional(
                                "syncState",
                                Schema.one(of: states).described("For an item: `conflict` when a person has to decide.")
                            )))))
        ),
        ("PlannedEvent", PlannedEvent.view.schema),
        (
            "PlannedUpsert",
            Schema.object([
                .required("range_start", .instant), .required("range_end", .instant),
                .required("events", Schema.array(of: plan, maximum: PhoneRoutes.mostEvents)),
            ]).with(example: [
                "range_start": "2026-01-20T00:00:00Z", "range_end": "2026-02-19T00:00:00Z",
                "events": [
                    [
                        "external_id": "eventIdentifier-from-EventKit", "title": "Weekly sync",
                        "start_at": "2026-01-21T09:00:00-08:00", "end_at": "2026-01-21T09:30:00-08:00",
                        "is_all_day": false, "source_calendar_name": "Work Outlook",
                    ]
                ],
            ])
        ),
        (
            "PlannedReport",
            .output(
                .required("ok", .bool), .required("deleted", .count), .required("upserted", .count),
                .required("unchanged", .count),
                .required(
                    "failed",
                    .array(
                        of: .output(
                            .required("index", .count), .required("error", .string), .required("errors", faults),
                            .optional("errorsLeftOut", faultsLeftOut)))),
                .optional("failedLeftOut", rejectedLeftOut))
        ),
        ("PhoneStatus", PersonalEvents.Status.view.schema),
    ]
}
