// SPDX-License-Identifier: Apache-2.0

import ICalBridge
import KalendsCore

extension FeedPreview {
    /// One part of the preview as JSON text; a part ends before `PageText.mostBytes`.
    ///
    /// - Parameters:
    ///   - start: the number of the first entry.
    ///   - room: what the part may take of the server's memory.
    func text(from start: Int, _ room: MemoryShare) throws -> AnswerText {
        var text = PreviewText(from: from, to: to, room)
        if hidden > 0, start == 0 { text.leaveOut(hidden) }
        var index = start
        for entry in entries {
            guard try text.add(entry) else { return try text.finished(next: index) }
            index += 1
        }
        return try text.finished(next: isCut ? index : nil)
    }
}

/// The text of a preview, written entry by entry.
struct PreviewText {
    static let event = View<(entry: FeedContents.Entry, event: Event)>([
        .text("collection", \.entry.collection), .text("id", \.entry.id), .text("uid", \.event.uid),
        .text("summary", \.event.summary), .init("start", .eventTime) { $0.event.start?.json ?? .null },
        .init("end", .eventTime) { $0.event.effectiveEnd?.json ?? .null }, .flag("allDay", \.event.isAllDay),
        .text("rrule") { $0.event.recurrence.rules.first?.description },
    ])

    static let leftOut = View<(collection: String, id: String?, rule: String?, count: Int)>([
        .text("collection", \.collection),
        .text("id", \.id).described(
            "Null for imported events that are private to somebody else (`private-event`), which are only included in "
                + "`count`, on whatever day they are."),
        .text("rule", \.rule).documented(.string), .count("count", \.count),
    ])

    private let (from, to): (CivilDate, CivilDate)
    private let room: MemoryShare
    private var events = AnswerText("")
    private var leftOut = AnswerText("")

    init(from: CivilDate, to: CivilDate, _ room: MemoryShare) { (self.from, self.to, self.room) = (from, to, room) }

    /// Adds an entry with the number of events that are private to somebody else.
    mutating func leaveOut(_ count: Int) {
        let entry = Self.leftOut.json(("imported", nil, Exclusion.privateEvent.rawValue, count))
        leftOut.append((try? entry.serialized()) ?? [])
    }

    /// Adds an entry; returns false when the text is full. A larger element fills a page by itself.
    mutating func add(_ entry: FeedContents.Entry) throws -> Bool {
        let isLeftOut = entry.exclusion != nil
        let parts =
            try isLeftOut
            ? [Self.leftOut.json((entry.collection, entry.id, entry.exclusion?.rawValue, 1)).serialized()]
            : entry.events.map { try Self.event.json((entry, $0)).serialized() }
        let length = parts.reduce(0) { $0 + $1.count + 1 }
        let isFirst = events.count + leftOut.count == 0
        guard PageText.fits(events.count + leftOut.count + length, in: room) || isFirst else { return false }
        for part in parts {
            if isLeftOut { Self.append(part, to: &leftOut) } else { Self.append(part, to: &events) }
        }
        return true
    }

    private static func append(_ part: [UInt8], to list: inout AnswerText) {
        if list.count > 0 { list.append(",") }
        list.append(part)
    }

    /// - Parameter next: the number of the next part's first entry; nil on the last part.
    func finished(next: Int?) throws -> AnswerText {
        let cursor = next.map { #""\#(Page.cursor(String($0)))""# } ?? "null"
        var text = AnswerText(#"{"events":["#)
        text.append(events)
        text.append(#"],"from":"\#(from)","leftOut":["#)
        text.append(leftOut)
        text.append(#"],"nextCursor":\#(cursor),"to":"\#(to)"}"#)
        return text
    }
}
