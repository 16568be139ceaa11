// SPDX-License-Identifier: Apache-2.0

import KalendsCore
import Storage

extension PersonalEvent {
    /// Writes the event: members that are never null always, optional ones only when they have a value.
    ///
    /// - Parameter marks: makes the mark of an event that shows an item.
    func write(to text: inout JSONText, marks: PhoneMarks = PhoneMarks()) throws {
        text.begin()
        try text.member("id", .string(id))
        try text.member("title", .string(content.title))
        try text.member("date", .string(content.date))
        try text.member("startTime", JSONValue(content.startTime))
        try text.member("endTime", JSONValue(content.endTime))
        try text.member("endDate", ifThere: content.endDate)
        try text.member("timeZone", ifThere: content.timeZone)
        try text.member("allDay", .bool(content.startTime == nil))
        try text.member("description", JSONValue(content.description))
        try text.member("location", JSONValue(content.location))
        if let recurrence = content.recurrence.flatMap({ PersonalRecurrence(stored: $0) }) {
            try text.member("recurrence", recurrence.json)
        }
        try text.member("provider", .string(mapping.provider))
        try text.member("externalId", JSONValue(mapping.externalID))
        try text.member("externalCalendarId", JSONValue(mapping.calendarID))
        try text.member("externalInstanceId", JSONValue(mapping.instanceID))
        try text.member("syncState", .string(deletedAt == nil ? mapping.state.rawValue : "deleted"))
        try text.member("lastSyncedAt", JSONValue(mapping.lastSyncedAt))
        try text.member("sourceDevice", JSONValue(mapping.sourceDevice))
        try text.member("createdAt", .integer(createdAt))
        try text.member("updatedAt", .integer(updatedAt))
        if let deletedAt { try text.member("deletedAt", .integer(deletedAt)) }
        if let tie { try tie.write(to: &text, mark: mark(tie, marks)) }
        text.end()
    }

    /// The mark that the device writes into its event, so that a device that lost its list can find the event again.
    private func mark(_ tie: ItemAndDevice, _ marks: PhoneMarks) -> String {
        var parts = [
            marks.installation, marks.ofSources[tie.source] ?? tie.source, tie.circleID ?? "-", tie.collection,
            tie.itemID, String(tie.generation),
        ]
        if let occurrence = mapping.instanceID { parts.append(occurrence) }
        return "kalends:/" + parts.map(PercentEncoding.encode).joined(separator: "/")
    }

    var json: JSONValue {
        get throws {
            var text = JSONText()
            try write(to: &text)
            return try JSONValue(parsing: text.bytes)
        }
    }

    /// The tag, which covers what a client can change.
    var etag: String {
        get throws {
            try JSONValue.array([
                .string(id), .string(content.title), .string(content.date), JSONValue(content.startTime),
                JSONValue(content.endTime), JSONValue(content.endDate), JSONValue(content.timeZone),
                JSONValue(content.description), JSONValue(content.location), JSONValue(content.recurrence),
            ]).etag
        }
    }
}

/// A page of changes, written event by event.
struct ChangesText: Sendable {
    private var page = AnswerText(#"{"events":["#)
    private let marks: PhoneMarks
    private let wasEnded: Bool
    private let room: MemoryShare
    private(set) var count = 0
    private(set) var last: Int

    /// - Parameters:
    ///   - since: the time after which the page begins.
    ///   - wasEnded: whether the user's connection was ended on this server.
    ///   - room: what the page may take of the server's memory.
    init(since: Int, marks: PhoneMarks, wasEnded: Bool = false, _ room: MemoryShare) {
        (last, self.marks, self.wasEnded, self.room) = (since, marks, wasEnded, room)
    }

    /// Adds an event; returns false when the page is full.
    mutating func add(_ event: PersonalEvent) throws -> Bool {
        var text = JSONText()
        try event.write(to: &text, marks: marks)
        guard PageText.fits(page.count + text.bytes.count, in: room) || count == 0 else { return false }
        if count > 0 { page.append(",") }
        page.append(text.bytes)
        (last, count) = (event.updatedAt, count + 1)
        return true
    }

    /// Ends the page.
    mutating func finished(hasMore: Bool, serverTime: Int) -> AnswerText {
        page.append(#"],"serverTime":\#(serverTime),"nextSince":\#(last),"hasMore":\#(hasMore)"#)
        // A phone must not mistake the end of its connection for a server that has nothing to say.
        if wasEnded { page.append(#","connector":"disconnected""#) }
        page.append("}")
        return page
    }
}

extension PersonalEvent.ItemAndDevice {
    /// Writes the item that the event shows, with the texts that the device adds.
    fileprivate func write(to text: inout JSONText, mark: String) throws {
        try text.member("circleId", ifThere: circleID)
        try text.member("collection", .string(collection))
        try text.member("itemId", .string(itemID))
        try text.member("connectionId", .string(source))
        try text.member("turn", .integer(turn))
        try text.member("mark", .string(mark))
    }
}

extension JSONText {
    fileprivate mutating func begin() { append("{") }
    fileprivate mutating func end() { append("}") }

    /// Adds a member whose name needs no escapes.
    fileprivate mutating func member(_ name: StaticString, _ value: JSONValue) throws {
        if bytes.last != UInt8(ascii: "{") { append(",") }
        append("\"\(name)\":")
        try write(value)
    }

    fileprivate mutating func member(_ name: StaticString, ifThere text: String?) throws {
        if let text { try member(name, .string(text)) }
    }
}
