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
        let bytes = try await services.store.read { transaction in
            let circle = try Rights.circle(circleID, for: caller, .read, in: transaction)
            var configuration = FeedConfiguration()
            configuration.completedTasks = .keep
            // The circle's own view: a feed of nobody, with every kind and no window.
            let feed = Feed(
                id: "", circleID: circleID, userID: caller.userID ?? "", label: nil,
                config: try configuration.stored(),
                tokenHint: "", sealedToken: "", expiresAt: nil, now: 0)
            let live = try LiveFeedParts(feed: feed, circle: circle, settings: settings)
            let present = Instant(milliseconds: now)
            let window = FeedWindow(configuration, today: live.zone.rules.civil(at: present).date, zone: live.zone)
            let contents = try FeedContents(of: live, window: window, in: transaction)
            let shown = contents.entries.filter { $0.exclusion == nil || $0.exclusion == .window }
            let decade = 3660 * 86_400
            return ICalendar(name: circle.name, events: shown.flatMap(\.events))
                .serialized(coverage: present.adding(seconds: -decade)...present.adding(seconds: decade))
        }
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/calendar; charset=utf-8", .cacheControl: "no-store",
                .contentDisposition: "attachment; filename=\"\(circleID).ics\"",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
