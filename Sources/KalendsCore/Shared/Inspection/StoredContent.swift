// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import Storage

/// Checks whether the text stored in a row is within the limits of the API.
enum StoredContent {
    struct Fault: Error {
        var description: String
    }

    /// The times that can be written, in seconds since 1970: from the year 1 to the year 9999.
    private static let times = -62_135_596_800...253_402_300_799
    private static let minutes = 0...525_600

    static func require(_ holds: Bool, _ sentence: String) throws {
        if !holds { throw Fault(description: sentence) }
    }

    static func check(_ item: ScheduleItem, _ kinds: ItemKinds) throws {
        try require(Identifier.isValid(item.id), "its id is not a valid one")
        if !item.isEmptied { try kinds.content(of: item).check() }
    }

    static func check(_ occurrence: ChangedOccurrence) throws {
        let content = try OccurrenceContent(occurrence)
        try content.check()
    }

    static func check(_ kept: KeptContent, _ kinds: ItemKinds) throws {
        guard let content = kept.content else { return }
        let collection = ScheduleItem.Collection(rawValue: kept.collection)
        if collection == KeptContent.events {
            for component in try KeptEvent(stored: content).components { try checkEvent(component.content) }
            return
        }
        guard let kind = kinds[collection] else {
            throw Fault(description: "its collection is unknown")
        }
        switch try ItemPlace(kind, kept.itemID, part: kept.part).content(content) {
        case .item(let content): try content.check()
        case .occurrence(let content): try content.check()
        case .event: break
        }
    }

    static func check(_ event: PersonalEvent) throws {
        let content = event.content
        let (days, times) = ([content.date, content.endDate], [content.startTime, content.endTime])
        try require(
            days.compactMap(\.self).allSatisfy { CivilDate(iso: $0) != nil }
                && times.compactMap(\.self).allSatisfy(PersonalEdit.isTime), "a day or a time in it is not valid")
        if let zone = content.timeZone { try require(TimeZoneReference(zone) != nil, "its time zone is unknown") }
        if let tie = event.tie { try check(tie) }
        guard let text = content.recurrence else { return }
        let recurrence = PersonalRecurrence(stored: text)
        try require(recurrence != nil, "its recurrence is not as Kalends writes it")
        if let rule = recurrence?.rule { _ = try RecurrenceRule(rule) }
    }

    static func checkFeed(_ feed: Feed, _ kinds: ItemKinds) throws {
        var configuration = FeedConfiguration()
        let faults = configuration.update(from: try JSONValue(parsing: Array(feed.config.utf8)), kinds)
        try require(faults.isEmpty, "its configuration is not a valid one")
    }

    static func checkConnection(_ own: Connection, _ kinds: ItemKinds) throws {
        var configuration = ConnectionConfiguration()
        let faults = configuration.update(from: try JSONValue(parsing: Array(own.config.utf8)), kinds)
        try require(faults.isEmpty, "its configuration is not a valid one")
    }

    /// Checks a stored event by reading it: packed values that are out of range cannot be read.
    static func checkEvent(_ text: String) throws { _ = try StoredEvent.event(text) }

    /// Checks that every number in a document is within the range of times, so that no calculation with it overflows.
    static func checkNumbers(of text: String) throws { try checkNumbers(JSONValue(parsing: Array(text.utf8))) }

    private static func checkNumbers(_ json: JSONValue) throws {
        switch json {
        case .integer(let number): try require(times.contains(number), "a number in it is out of range")
        case .number(let number):
            try require(abs(number) <= Double(times.upperBound), "a number in it is out of range")
        case .array(let items): for item in items { try checkNumbers(item) }
        case .object(let members): for member in members.values { try checkNumbers(member) }
        case .null, .bool, .string: break
        }
    }

    static func check(times: [Instant]) throws {
        try require(
            times.allSatisfy { self.times.contains($0.seconds) }, "a time of it is beyond the years that are written")
    }

    static func check(minutes: [Int]) throws {
        try require(minutes.allSatisfy { self.minutes.contains($0) }, "a number of minutes in it is out of range")
    }
}
