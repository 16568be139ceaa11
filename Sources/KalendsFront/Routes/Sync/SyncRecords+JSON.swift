// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import ICalBridge
import KalendsCore
import Storage

extension RunRecord.Counts: Viewed {
    static let view = View<RunRecord.Counts>([
        .count("created", \.created), .count("updated", \.updated), .count("deleted", \.deleted),
        .count("pulled", \.pulled).described("Changes in the calendar that were applied here."),
        .count("conflicts", \.conflicts), .count("failed", \.failed), .count("unchanged", \.unchanged),
    ])
}

extension Hold: Viewed {
    static let view = View<Hold>([
        .choices("causes", \.causes), .count("deletions", \.deletions), .count("missing", \.missing),
        .count("shared", \.shared).described("Items that another connection has in the calendar; null for none."),
    ])
}

extension Connections.Listed<SyncRunRow, RunRecord> {
    static var view: View<Self> {
        View([
            .text("id", \.row.id), .text("connectionId", \.row.connectionID), .choice("trigger", \.record.trigger),
            .choice("state", \.record.state), .instant("startedAt", \.record.startedAt),
            .instant("endedAt", \.record.endedAt), .choice("status", \.record.status), .text("error", \.record.error),
            .object("counts", \.record.counts, RunRecord.Counts.view), .count("requests", \.record.requests),
            .object("held", \.record.held, Hold.view)
                .described("The reason why the run waits for a person, and what an approval allows."),
        ])
    }

    var json: JSONValue { Self.view.json(self) }
}

extension CalendarSync.Link: Viewed {
    static let view = View<CalendarSync.Link>([
        .choice("collection", \.item.collection), .id("itemId", \.item.id),
        .optional("occurrence", .instant, \.item.occurrence) { JSONValue($0) }, .text("externalId", \.externalID),
        .text("externalEtag", \.etag), .choice("direction", \.direction), .choice("state", \.state),
        .text("reason", \.reason), .instant("lastSyncedAt", \.lastSyncedAt),
    ])
}

extension ConflictRecord.Field: Viewed {
    static let view = View<ConflictRecord.Field>([
        .choice("field", \.field), .text("base", \.base), .text("kalends", \.kalends), .text("calendar", \.calendar),
        .optional("occurrence", .instant, \.occurrence) { JSONValue($0) }, .choice("kept", \.kept),
    ])
}

extension Connections.Listed<SyncConflictRow, ConflictRecord> {
    static var view: View<Self> {
        View([
            .text("id", \.row.id), .text("connectionId", \.row.connectionID),
            .choice("collection", \.record.item.collection), .id("itemId", \.record.item.id),
            .optional(
                "occurrence", Schema.instant.described("The first occurrence, if several are in conflict."),
                { $0.record.occurrence ?? $0.record.item.occurrence }
            ) { JSONValue($0) },
            .optional(
                "occurrences",
                Schema.array(of: .instant, maximum: ConflictRecord.mostFields).described(
                    "The first occurrences, if several are in conflict; all are decided together."),
                \.record.occurrences
            ) { .array($0.prefix(ConflictRecord.mostFields).map { JSONValue($0) }) },
            .optional(
                "occurrenceCount", Schema.count.described("The number of occurrences in conflict, listed or not."),
                \.record.occurrences?.count
            ) { .integer($0) },
            .instant("at", \.record.at), .choice("kind", \.record.kind),
            .list("fields", \.record.fields, of: ConflictRecord.Field.view), .choice("state", \.record.state),
            .choice("outcome", \.record.outcome), .instant("resolvedAt", \.record.resolvedAt),
            .text("resolvedBy", \.row.resolvedBy)
                .described("The person who decided, in the form of the audit trail."),
        ])
    }

    var json: JSONValue { Self.view.json(self) }
}

extension Connections.Listed<SyncJournalRow, JournalEntry> {
    static var view: View<Self> {
        let event = Schema.either(.named("SyncedEvent"), Schema(["type": "null"]))
        return View([
            .text("id", \.row.id), .text("runId", \.row.runID), .instant("at", \.record.at),
            .choice("direction", \.record.direction), .choice("change", \.record.change),
            .choice("collection", \.record.item.collection), .id("itemId", \.record.item.id),
            .optional("occurrence", .instant, \.record.item.occurrence) { JSONValue($0) },
            .text("externalId", \.record.externalID), .text("reason", \.record.reason),
            .init("before", event) { $0.record.before?.json ?? .null },
            .init("after", event) { $0.record.after?.json ?? .null },
        ])
    }

    var json: JSONValue { Self.view.json(self) }
}

extension Entry: Viewed {
    /// The event as people compare it with another one.
    static let view = View<Entry>([
        .text("title", \.title), .text("notes", \.notes), .text("location", \.location),
        .object("times", \.span, TimeSpan.view), .object("recurrence", \.repetition, repetitions),
        .list("occurrences", \.differences, of: EntryDifference.view),
        .init("reminders", .array(of: .count)) { .array($0.reminders.map { .integer($0) }) },
        .text("status", \.status.rawValue), .text("availability", \.availability.rawValue),
    ])

    private static let repetitions = View<Repetition>([
        .text("rrule", \.rrule), .init("exdates", .array(of: .instant)) { $0.exdates.json },
        .init("rdates", .array(of: .instant)) { $0.rdates.json },
    ])

    private var differences: [EntryDifference] {
        occurrences.sorted { $0.key < $1.key }.map { start, occurrence in
            if case .changed(let changed) = occurrence { return EntryDifference(start: start, changed: changed) }
            return EntryDifference(start: start, changed: nil)
        }
    }
}

/// An occurrence that differs from its series; one that is cancelled has no content.
private struct EntryDifference: Viewed {
    let start: Instant
    let changed: Entry?

    static let view = View<EntryDifference>([
        .instant("start", \.start), .text("status") { $0.changed?.status.rawValue ?? "cancelled" },
        .optional("title", .string, \.changed?.title) { .string($0) },
        .optional("notes", .string, \.changed?.notes) { .string($0) },
        .optional("location", .string, \.changed?.location) { .string($0) },
        .optional("times", TimeSpan.view.schema, \.changed?.span, TimeSpan.view.json),
    ])
}

extension [Instant] {
    fileprivate var json: JSONValue { .array(map { JSONValue($0) }) }
}

extension TimeSpan {
    fileprivate static let view = View<TimeSpan>([
        .text("start", \.texts.start), .text("end", \.texts.end), .text("timeZone", \.texts.zone),
        .flag("allDay") { $0.texts.zone == nil },
    ])

    private var texts: (start: String, end: String, zone: String?) {
        switch self {
        case .timed(let start, let end, let zone): (start.rfc3339(offset: 0), end.rfc3339(offset: 0), zone)
        case .days(let first, let until): ("\(first)", "\(until)", nil)
        }
    }
}

extension JSONValue {
    /// An instant as RFC 3339 writes it, in UTC.
    init(_ instant: Instant) { self = .string(instant.rfc3339(offset: 0)) }
}
