// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ICalBridge
package import Storage

extension ItemContent {
    /// Reads what is stored; throws `StorageError` for what this version does not understand.
    package init(_ item: ScheduleItem) throws {
        self =
            switch item.collection {
            case .tasks: .task(try storedContent(item.content))
            case .shifts: .shift(try storedContent(item.content))
            case .appointments: .appointment(try storedContent(item.content))
            case .followUps: .followUp(try storedContent(item.content))
            }
    }

    /// The stored form; equal contents are equal texts.
    func stored() throws -> String {
        switch self {
        case .task(let content): try storedText(content)
        case .shift(let content): try storedText(content)
        case .appointment(let content): try storedText(content)
        case .followUp(let content): try storedText(content)
        }
    }

    package var timeZone: String? {
        switch self {
        case .task(let content): content.timeZone
        case .shift(let content): content.timeZone
        case .appointment(let content): content.timeZone
        case .followUp(let content): content.timeZone
        }
    }

    package var patientID: String? {
        switch self {
        case .task(let content): content.patientId
        case .shift(let content): content.patientId
        case .appointment(let content): content.patientId
        case .followUp(let content): content.patientId
        }
    }

    package var ownerID: String? {
        switch self {
        case .task(let content): content.ownerId
        case .shift(let content): content.ownerId
        case .appointment: nil
        case .followUp(let content): content.ownerId
        }
    }

    /// The row of an item with this content, for `zone` as the circle's.
    ///
    /// - Parameter followed: what was worked out of it before, if that still holds.
    func item(
        _ id: String, _ collection: ScheduleItem.Collection, in circle: String, zone: TimeZoneReference,
        followed: FollowedSeries? = nil
    ) throws -> ScheduleItem {
        let own = timeZone.flatMap { TimeZoneReference($0) } ?? zone
        let span = span(in: own, followed)
        return ScheduleItem(
            circleID: circle, collection: collection, id: id, patientID: patientID, ownerID: ownerID,
            timeZone: timeZone, isAllDay: span.isAllDay, startsAt: span.start.milliseconds,
            endsAt: span.end?.milliseconds, content: try stored())
    }

    /// Where it lies in time, for look-ups; the end is nil for a series without one.
    private func span(
        in zone: TimeZoneReference, _ followed: FollowedSeries?
    ) -> (start: Instant, end: Instant?, isAllDay: Bool) {
        switch self {
        case .task(let content):
            return (content.dueAt, content.dueAt.adding(seconds: content.durationMinutes * 60), false)
        case .followUp(let content):
            return (content.dueAt, content.dueAt.adding(seconds: content.durationMinutes * 60), false)
        case .shift(let content):
            if let start = content.startAt, let end = content.endAt { return (start, end, false) }
            let first = content.startDate ?? CivilDate(daysSinceEpoch: 0)
            let last = content.endDate ?? first
            return (
                FixedOffset.utc.instant(of: CivilDateTime(startOf: first)),
                FixedOffset.utc.instant(of: CivilDateTime(startOf: last.adding(days: 1))), true
            )
        case .appointment(let content):
            guard content.recurrence != nil else { return (content.startAt, content.endAt, false) }
            if let followed, followed.timing == content.timing(in: zone) {
                return (content.startAt, followed.lastEnd, false)
            }
            return (content.startAt, content.lastEnd(in: zone), false)
        }
    }
}

extension OccurrenceContent {
    init(_ occurrence: ChangedOccurrence) throws {
        self = try storedContent(occurrence.content)
    }
}

/// Reads stored JSON; throws `StorageError` for what this version does not understand.
private func storedContent<Content: Decodable>(_ text: String) throws -> Content {
    do {
        return try JSONDecoder().decode(Content.self, from: Data(text.utf8))
    } catch is DecodingError {
        throw StorageError.unexpectedResult("An item holds something that this version does not understand.")
    }
}

/// JSON with its keys in order.
func storedText(_ content: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(content), as: UTF8.self)
}
