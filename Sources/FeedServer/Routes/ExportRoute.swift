// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import ICalBridge
import Storage

/// A circle as one calendar file: everything in it, whatever the day.
struct ExportRoute: Sendable {
    let services: Services

    func add(to routes: inout RouteTable) {
        routes.section(.imports)
        routes.on(
            .get, "/v1/circles/{circle}/export.ics",
            Operation(
                "exportCircle", "A circle as one calendar file", .circle(.read),
                [.init(status: 200, text: "Everything in it, whatever the day.", type: "text/calendar")]), get)
    }

    @Sendable
    private func get(_ request: Request, _ context: KalendsContext) async throws -> Response {
        let (circleID, caller, now) = (try context.identifier("circle"), try context.caller(), services.now())
        let settings = services.settings
        let present = Instant(milliseconds: now)
        _ = try await services.store.read { try Rights.circle(circleID, for: caller, .read, in: $0) }
        let room = try await services.room(forCircle: circleID)
        defer { withExtendedLifetime(room) {} }
        let (live, name, rows) = try await services.store.read { transaction in
            let circle = try Rights.circle(circleID, for: caller, .read, in: transaction)
            var configuration = FeedConfiguration()
            configuration.completedTasks = .keep
            // The circle's own view: a feed of nobody, with every kind and no window.
            let feed = Feed(
                id: "", circleID: circleID, userID: caller.userID ?? "", label: nil,
                config: try configuration.stored(),
                tokenHint: "", sealedToken: "", expiresAt: nil, now: 0)
            let live = try LiveFeedParts(feed: feed, circle: circle, settings: settings)
            return (live, circle.name, try FeedRows(of: circle, in: transaction))
        }
        let contents = try await FeedContents.make(of: live, window: nil, rows)
        let decade = 3660 * 86_400
        let bytes = ICalendar(name: name, events: contents.events)
            .serialized(coverage: present.adding(seconds: -decade)...present.adding(seconds: decade))
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/calendar; charset=utf-8", .cacheControl: "no-store",
                .contentDisposition: "attachment; filename=\"\(circleID).ics\"",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
