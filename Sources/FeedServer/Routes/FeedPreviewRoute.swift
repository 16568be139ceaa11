// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import ICalBridge
import Storage

/// What a feed shows, and for each item left out, by which rule.
struct FeedPreviewRoute: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.feeds)
        let day = Schema.string.described("A day or a time.")
        routes.on(
            .get, "/v1/feeds/{id}/preview",
            Operation(
                "previewFeed", "What a feed shows, and which rule left out the rest", .feed,
                details: """
                    Rules are `kind-not-included`, `patient-not-included`, `completed-task`, `private-event`, `repeated` \
                    (another source brought the same event), `outside-window`, and `rule-too-costly` for a repetition \
                    that takes too much work to follow. It ends early at 4 MiB; `nextCursor` leads on.
                    """,
                query: [
                    .init(name: "from", schema: day), .init(name: "to", schema: day),
                    .init(name: "cursor", schema: Schema.string.described("`nextCursor` of the part before.")),
                ],
                [.ok(.named("FeedPreview"))]), preview)
    }

    @Sendable
    private func preview(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.identifier("id"), try context.caller(), services.now())
        let texts = request.uri.queryParameters
        let settings = services.settings
        let start = min(max(0, try Page(request).number ?? 0), Int.max / 2)
        let circleID = try await services.store.read { try Rights.feed(id, for: caller, in: $0).circleID }
        let room = try await services.room(forCircle: circleID)
        defer { withExtendedLifetime(room) {} }
        let (live, window, rows, from, to) = try await services.store.read { transaction in
            let feed = try Rights.feed(id, for: caller, in: transaction)
            guard let circle = try transaction.circle(feed.circleID) else { throw Refusal.missing(.feed) }
            let live = try LiveFeedParts(feed: feed, circle: circle, settings: settings)
            let today = live.zone.rules.civil(at: Instant(milliseconds: now)).date
            let window = FeedWindow(live.configuration, today: today, zone: live.zone)
            var faults: [Fault] = []
            func day(_ name: String) -> CivilDate? {
                guard let text = texts[Substring(name)] else { return nil }
                if let date = CivilDate(iso: text) { return date }
                if let instant = Instant(rfc3339: text) { return live.zone.rules.civil(at: instant).date }
                faults.append(
                    Fault(
                        pointer: "/query/\(name)", code: .invalidTime,
                        message: "This must be a day, or a time as RFC 3339 writes it."))
                return nil
            }
            let (from, to) = (day("from") ?? window.firstDay, day("to") ?? window.endDay)
            if !faults.isEmpty { throw Refusal.invalid(faults) }
            return (live, window, try FeedRows(of: circle, in: transaction), from, to)
        }
        let contents = try await FeedContents.make(of: live, window: window, rows)
        // However many there are, and whenever: the days asked for would tell when.
        let hidden = contents.entries.count { $0.exclusion == .privateEvent }
        let entries = contents.entries.filter {
            $0.exclusion != .privateEvent && $0.touches(from: from, to: to, zone: live.zone)
        }
        var text = PreviewText(from: from, to: to)
        if hidden > 0, start == 0 { text.leaveOut(hidden) }
        var place = start
        while place < entries.count, try text.add(entries[place]) { place += 1 }
        return .json(bytes: try text.finished(next: place < entries.count ? place : nil))
    }
}

/// The text of a preview, written entry by entry.
private struct PreviewText {
    private let (from, to): (CivilDate, CivilDate)
    private var events: [UInt8] = []
    private var leftOut: [UInt8] = []

    init(from: CivilDate, to: CivilDate) { (self.from, self.to) = (from, to) }

    /// Counts events that are private to somebody else.
    mutating func leaveOut(_ count: Int) {
        let entry: JSONValue = [
            "collection": "imported", "id": .null, "rule": .string(Exclusion.privateEvent.rawValue),
            "count": .integer(count),
        ]
        leftOut += (try? entry.serialized()) ?? []
    }

    /// Adds an entry; false when the text is full. A single one that is larger fills it alone.
    mutating func add(_ entry: FeedContents.Entry) throws -> Bool {
        let isLeftOut = entry.exclusion != nil
        let parts =
            try isLeftOut
            ? [entry.leftOutJSON.serialized()] : entry.events.map { try $0.previewJSON(entry).serialized() }
        let length = parts.reduce(0) { $0 + $1.count + 1 }
        let isFirst = events.isEmpty && leftOut.isEmpty
        guard isFirst || events.count + leftOut.count + length < PageText.mostBytes else { return false }
        for part in parts {
            if isLeftOut { Self.append(part, to: &leftOut) } else { Self.append(part, to: &events) }
        }
        return true
    }

    private static func append(_ part: [UInt8], to list: inout [UInt8]) {
        if !list.isEmpty { list.append(UInt8(ascii: ",")) }
        list += part
    }

    /// - Parameter next: the number of the entry that the next part begins with, nil on the last part.
    func finished(next: Int?) throws -> [UInt8] {
        let cursor = next.map { #""\#(Page.cursor(String($0)))""# } ?? "null"
        return Array(#"{"events":["#.utf8) + events + Array(#"],"from":"\#(from)","leftOut":["#.utf8) + leftOut
            + Array(#"],"nextCursor":\#(cursor),"to":"\#(to)"}"#.utf8)
    }
}

extension FeedContents.Entry {
    fileprivate var leftOutJSON: JSONValue {
        ["collection": .string(collection), "id": .string(id), "rule": JSONValue(exclusion?.rawValue), "count": 1]
    }

    /// Whether any part of it lies in these days; a series always does.
    fileprivate func touches(from: CivilDate, to: CivilDate, zone: TimeZoneReference) -> Bool {
        guard let event = events.first, let start = event.start, let end = event.effectiveEnd else { return true }
        if events.count > 1 || !event.recurrence.isEmpty { return true }
        func day(_ time: EventTime) -> CivilDate {
            time.isDate ? time.civilDate : zone.rules.civil(at: time.instant(floatingIn: zone.rules)).date
        }
        return day(start) < to && day(end) >= from
    }
}

extension Event {
    fileprivate func previewJSON(_ entry: FeedContents.Entry) -> JSONValue {
        [
            "collection": .string(entry.collection), "id": .string(entry.id), "uid": .string(uid),
            "summary": JSONValue(summary), "start": start?.json ?? .null, "end": effectiveEnd?.json ?? .null,
            "allDay": .bool(isAllDay), "rrule": JSONValue(recurrence.rules.first?.description),
        ]
    }
}
