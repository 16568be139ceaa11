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
                query: [.init(name: "from", schema: day), .init(name: "to", schema: day)],
                [.ok(.named("FeedPreview"))]), preview)
    }

    @Sendable
    private func preview(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (id, caller, now) = (try context.parameter("id"), try context.caller(), services.now())
        let texts = request.uri.queryParameters
        let settings = services.settings
        let json = try await services.store.read { transaction -> JSONValue in
            let feed = try Rights.feed(id, for: caller, in: transaction)
            guard let circle = try transaction.circle(feed.circleID) else { throw Refusal.notFound }
            let live = try LiveFeedParts(feed: feed, circle: circle, settings: settings)
            let today = live.zone.rules.civil(at: Instant(milliseconds: now)).date
            let window = FeedWindow(live.configuration, today: today, zone: live.zone)
            var faults: [Fault] = []
            func day(_ name: String) -> CivilDate? {
                guard let text = texts[Substring(name)] else { return nil }
                if let date = CivilDate(iso: text) { return date }
                if let instant = Instant(rfc3339: text) { return live.zone.rules.civil(at: instant).date }
                faults.append(
                    Fault(pointer: "/query/\(name)", message: "This must be a day, or a time as RFC 3339 writes it."))
                return nil
            }
            let (from, to) = (day("from") ?? window.firstDay, day("to") ?? window.endDay)
            if !faults.isEmpty { throw Refusal.invalid(faults) }
            let contents = try FeedContents(of: live, window: window, in: transaction)
            let entries = contents.entries.filter { $0.touches(from: from, to: to, zone: live.zone) }
            let shown = entries.filter { $0.exclusion == nil }
            return [
                "from": .string(from.description), "to": .string(to.description),
                "events": .array(shown.flatMap { entry in entry.events.map { $0.previewJSON(entry) } }),
                "leftOut": .array(
                    entries.compactMap { entry in
                        guard let exclusion = entry.exclusion else { return nil }
                        return [
                            "collection": .string(entry.collection), "id": .string(entry.id),
                            "rule": .string(exclusion.rawValue),
                        ]
                    }),
            ]
        }
        return try .json(json)
    }
}

extension FeedContents.Entry {
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
