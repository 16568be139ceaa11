// SPDX-License-Identifier: Apache-2.0

import FeedTokens
import HTTPTypes
import Hummingbird
import Logging

/// Every route of the server: to read this is to read the product.
enum Routes {
    /// - Parameter isLocal: for the operator's socket, where who can connect needs no credential.
    static func router(_ services: Services, isLocal: Bool) -> Router<KalendsContext> {
        let authentication = Authentication(store: services.store, now: services.now, isLocal: isLocal)
        var routes = RouteTable()
        routes.on(.get, "/healthz") { _, _ in
            // What a reader would meet: a database that cannot be written alone keeps nobody from reading.
            let isWell = services.counter.journal.failure == nil
            return Response(
                status: isWell ? .ok : .serviceUnavailable,
                headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: isWell ? "ok\n" : "reads cannot be recorded\n")))
        }
        CircleRoutes(services: services).add(to: &routes, authentication)
        ScheduleRoutes(services: services).add(to: &routes, authentication)
        OccurrenceRoutes(services: services).add(to: &routes, authentication)
        BatchRoute(services: services).add(to: &routes, authentication)
        FeedRoutes(services: services).add(to: &routes, authentication)
        FeedPreviewRoute(services: services).add(to: &routes, authentication)
        ImportRoutes(services: services).add(to: &routes, authentication)
        ExportRoute(services: services).add(to: &routes, authentication)
        KeyRoutes(services: services).add(to: &routes, authentication)
        FeedReadingRoutes(services: services).add(to: &routes)
        if isLocal {
            LocalRoutes(services: services).add(to: &routes)
            MetricsRoute(metrics: services.metrics).add(to: &routes)
        }

        let router = Router(context: KalendsContext.self)
        router.add(middleware: RouteLog(metrics: services.metrics))
        routes.register(in: router)
        return router
    }

    /// The metrics alone, for a port of their own.
    static func metricsRouter(_ services: Services) -> Router<KalendsContext> {
        var routes = RouteTable()
        MetricsRoute(metrics: services.metrics).add(to: &routes)
        let router = Router(context: KalendsContext.self)
        routes.register(in: router)
        return router
    }
}
