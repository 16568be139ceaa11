// SPDX-License-Identifier: Apache-2.0

package import ICalBridge
import Storage

/// The own fields of one changed occurrence of an appointment; a nil field is as in the series.
package struct OccurrenceContent: StoredInParts {
    package var startAt = Instant(seconds: 0)
    package var endAt = Instant(seconds: 0)
    package var provider: String?
    package var location: String?
    package var notes: String?
    package var status = AppointmentContent.Status.confirmed

    package init() {}

    package static let parts: [ItemPart<OccurrenceContent>] = [
        .span(\.startAt, \.endAt, isRequired: false), .optional("provider", \.provider, .looseText),
        .optional("location", \.location, .looseText), .optional("notes", \.notes, .notes),
        .given("status", \.status, .choice),
    ]

    package static let example: JSONValue = ["status": "cancelled"]
}

extension OccurrenceContent {
    init(_ occurrence: ChangedOccurrence) throws { try self.init(stored: occurrence.content) }

    /// Makes an occurrence that is as in the series.
    init(at start: Instant, of series: AppointmentContent) {
        self.init()
        (startAt, endAt) = (start, start.adding(seconds: series.endAt.seconds - series.startAt.seconds))
    }

    /// Reads a changed occurrence of a series; fields that are not given stay as in the series.
    package init(from value: JSONValue, originalStart: Instant, series: AppointmentContent) throws {
        self.init(at: originalStart, of: series)
        var fields = FieldReader(value)
        for part in Self.parts { part.read(&fields, &self) }
        fields.finish(ignoring: ["originalStart"])
        try fields.check()
    }

    /// Returns the content as if a request had sent it; throws `Refusal` with its faults.
    func checked(originalStart: Instant, series: AppointmentContent) throws -> OccurrenceContent {
        try OccurrenceContent(
            from: .object(shown(on: FixedOffset.utc)), originalStart: originalStart, series: series)
    }
}

extension AppointmentContent {
    /// Returns what calendars show of one changed occurrence.
    func careItem(
        _ occurrence: OccurrenceContent, originalStart: Instant, _ names: CircleNames, in zone: TimeZoneReference
    ) -> CareItem {
        var changed = self
        changed.provider = occurrence.provider ?? provider
        changed.startAt = occurrence.startAt
        changed.endAt = occurrence.endAt
        changed.location = occurrence.location ?? location
        changed.notes = occurrence.notes ?? notes
        // If the series is cancelled, every occurrence is.
        changed.status = status == .cancelled ? .cancelled : occurrence.status
        changed.recurrence = nil
        var item = changed.careItem(names, in: zone)
        item.recurrenceID = .zoned(zone.rules.civil(at: originalStart), zone)
        return item
    }
}
