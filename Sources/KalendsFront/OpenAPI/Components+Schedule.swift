// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore
import Storage

extension ScheduleItem.Collection {
    /// What its schemas are called.
    var schemaName: String {
        switch self {
        case .tasks: "Task"
        case .shifts: "Shift"
        case .appointments: "Appointment"
        case .followUps: "FollowUp"
        }
    }
}

extension Components {
    private static let minutes = Schema.integer(1...10_080)
    private static let notes = Schema.optionalText(FieldReader.longestNotes).withMost(bytes: FieldReader.longestNotes)

    /// What every item that is read has besides its own fields.
    private static let common: [Schema.Field] = [
        .required("id", .identifier), .required("circleId", .identifier), .required("uid", .string),
        .required("sequence", .count), .required("createdAt", .instant), .required("updatedAt", .instant),
        .required("timeZone", .string.orNull),
    ]

    private static let recurrenceInput = Schema.object([
        .optional(
            "rrule",
            Schema.optionalText(4096).orNull.described(
                "RFC 5545 section 3.3.10; one that takes too much work to follow is refused.")),
        .optional("exdates", Schema.array(of: .instant, maximum: 1000).orNull),
        .optional("rdates", Schema.array(of: .instant, maximum: 1000).orNull),
    ])

    static let schedule: [(String, Schema)] = [
        (
            "Task",
            .object(
                common + [
                    .required("title", .string), .required("dueAt", .instant), .required("durationMinutes", minutes),
                    .required("patientId", Schema.identifier.orNull), .required("ownerId", Schema.identifier.orNull),
                    .required("status", .choice(CareTask.Status.self)), .required("reminders", .reminders),
                    .required("notes", .string.orNull),
                ])
        ),
        (
            "TaskInput",
            .input(
                .required("title", .text()), .required("dueAt", .instant),
                .optional("durationMinutes", minutes.defaulting(to: 30)), .optional("timeZone", .timeZone),
                .optional("patientId", .identifier), .optional("ownerId", .identifier),
                .optional("status", .choice(CareTask.Status.self)), .optional("reminders", .reminders),
                .optional("notes", notes),
                example: [
                    "title": "Refill prescriptions", "dueAt": "2026-01-21T09:00:00-08:00", "reminders": [60],
                ])
        ),
        (
            "Shift",
            .object(
                common + [
                    .required("patientId", .identifier), .required("ownerId", Schema.identifier.orNull),
                    .optional("startAt", .instant), .optional("endAt", .instant), .optional("startDate", .date),
                    .optional("endDate", .date.described("The last day, included.")),
                    .required("notes", .string.orNull),
                ])
        ),
        (
            "ShiftInput",
            .input(
                .required("patientId", .identifier), .optional("ownerId", .identifier),
                .optional("startAt", .instant), .optional("endAt", .instant), .optional("startDate", .date),
                .optional("endDate", .date), .optional("timeZone", .timeZone), .optional("notes", notes),
                example: [
                    "patientId": "mom", "startAt": "2026-01-21T09:00:00-08:00", "endAt": "2026-01-21T13:00:00-08:00",
                ]
            ).described("With `startAt` and `endAt`, or with `startDate` and `endDate`.")
        ),
        (
            "Appointment",
            .object(
                common + [
                    .required("patientId", .identifier), .required("provider", .string), .required("startAt", .instant),
                    .required("endAt", .instant), .required("location", .string.orNull),
                    .required("notes", .string.orNull), .required("status", .choice(Appointment.Status.self)),
                    .required("reminders", .reminders),
                    .required(
                        "occurrences",
                        Schema.array(
                            of: .output(
                                .required("originalStart", .instant), .required("startAt", .instant),
                                .required("endAt", .instant)), maximum: ShownItem.mostMoved
                        ).described(
                            "When the changed occurrences are, the first \(ShownItem.mostMoved); each can be "
                                + "read, and all are listed, under `occurrences`.")),
                    .required(
                        "recurrence",
                        Schema.output(
                            .required("rrule", .string.orNull), .required("exdates", .array(of: .instant)),
                            .required("rdates", .array(of: .instant))
                        ).orNull),
                ])
        ),
        (
            "AppointmentInput",
            .input(
                .required("patientId", .identifier), .required("provider", .text()), .required("startAt", .instant),
                .optional("endAt", .instant), .optional("durationMinutes", minutes), .optional("timeZone", .timeZone),
                .optional("location", .optionalText()), .optional("notes", notes),
                .optional("status", .choice(Appointment.Status.self)), .optional("recurrence", recurrenceInput),
                .optional("reminders", .reminders),
                example: [
                    "patientId": "mom", "provider": "Dr. Lee", "startAt": "2026-01-22T10:00:00-08:00",
                    "durationMinutes": 45, "recurrence": ["rrule": "FREQ=WEEKLY;COUNT=6"],
                ]
            ).described("With `endAt` or `durationMinutes`, or for an hour.")
        ),
        (
            "FollowUp",
            .object(
                common + [
                    .required("description", .string), .required("dueAt", .instant),
                    .required("durationMinutes", minutes), .required("patientId", Schema.identifier.orNull),
                    .required("ownerId", Schema.identifier.orNull), .required("reminders", .reminders),
                    .required("notes", .string.orNull),
                ])
        ),
        (
            "FollowUpInput",
            .input(
                .required("description", .text()), .required("dueAt", .instant),
                .optional("durationMinutes", minutes.defaulting(to: 30)), .optional("patientId", .identifier),
                .optional("ownerId", .identifier), .optional("timeZone", .timeZone),
                .optional("reminders", .reminders), .optional("notes", notes),
                example: ["description": "Call the pharmacy", "dueAt": "2026-01-23T15:00:00-08:00"])
        ),
        (
            "DeletedItem",
            .output(
                .required("id", .identifier), .required("uid", .string), .required("deletedAt", .instant)
            ).described("What `updatedSince` shows of an item that was deleted.")
        ),
        (
            "Occurrence",
            .output(
                .required("originalStart", .instant), .required("startAt", .instant), .required("endAt", .instant),
                .required("provider", .string), .required("location", .string.orNull),
                .required("notes", .string.orNull), .required("status", .choice(Appointment.Status.self)))
        ),
        (
            "OccurrenceInput",
            .input(
                .optional("startAt", .instant), .optional("endAt", .instant), .optional("durationMinutes", minutes),
                .optional("provider", .optionalText()), .optional("location", .optionalText()),
                .optional("notes", notes), .optional("status", .choice(Appointment.Status.self)),
                example: ["status": "cancelled"]
            ).described("What is not given stays as in the series.")
        ),
        (
            "BatchLine",
            .input(
                .required("op", .one(of: ["put", "delete"])),
                .required("collection", .choice(ScheduleItem.Collection.self)), .required("id", .identifier),
                .optional("value", Schema(["type": "object"]).described("The item, for a put.")),
                example: [
                    "op": "put", "collection": "tasks", "id": "t1",
                    "value": ["title": "Refill prescriptions", "dueAt": "2026-01-21T09:00:00-08:00"],
                ])
        ),
        (
            "BatchReport",
            .output(
                .required("applied", .count), .required("unchanged", .count),
                .required(
                    "rejected",
                    .array(
                        of: .output(
                            .required("line", .count), .required("id", .string.orNull),
                            .required("errors", faults), .optional("errorsLeftOut", faultsLeftOut)),
                        maximum: BatchTally.mostRejected
                    ).described(
                        "The lines that were not applied; the first \(BatchTally.mostRejected), and at most 1 MiB of "
                            + "them.")),
                .optional(
                    "rejectedLeftOut",
                    Schema.integer(1...Int.max).described("How many lines were rejected beyond `rejected`.")))
        ),
    ]
}
