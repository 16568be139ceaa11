// SPDX-License-Identifier: Apache-2.0

package import Hummingbird
package import KalendsCore

/// All routes of the server, which is an overview of the product.
package enum Routes {
    /// - Parameters:
    ///   - isLocal: true for the operator's socket, where everybody who can connect needs no credential.
    ///   - doors: what other targets answer.
    package static func router(
        _ front: FrontServices, isLocal: Bool, doors: [FrontDoor] = []
    ) throws -> Router<KalendsContext> {
        var table = try table(front, isLocal: isLocal)
        for door in doors { table.add(door) }
        return router(of: table, front, isLocal: isLocal)
    }

    /// A router for these routes, with what every request passes in front of them.
    static func router(of table: RouteTable, _ front: FrontServices, isLocal: Bool) -> Router<KalendsContext> {
        let services = front.services
        let settings = services.settings
        var middlewares: [any MiddlewareProtocol<Request, Response, KalendsContext>] = [
            DefaultAnswerFields(
                transportPolicy: isLocal ? nil : settings.transportPolicy, keepsNothing: settings.isStrict),
            RouteLog(metrics: services.metrics, front: PageFront(settings: services.settings), now: services.now),
            WholePaths(),
            PacedAnswers(services: services),
            BodyGate(services: services),
            ProxyNoticeLog(services: services, notice: front.proxyNotice),
        ]
        if let notices = DeprecationNotices(table.described, base: settings.basePath) {
            middlewares.insert(notices, at: 0)
        }
        if !isLocal, !settings.corsOrigins.isEmpty {
            middlewares.insert(CrossOrigin(origins: settings.corsOrigins), at: 0)
        }
        let router = Router(context: KalendsContext.self)
        table.register(in: router, behind: middlewares)
        return router
    }

    /// The routes with their descriptions.
    static func table(_ front: FrontServices, isLocal: Bool) throws -> RouteTable {
        let services = front.services
        var routes = RouteTable(Authentication(services: services, isLocal: isLocal))
        CircleRoutes(services: services).add(to: &routes)
        MemberRoutes(services: services).add(to: &routes)
        PatientRoutes(services: services).add(to: &routes)
        ScheduleRoutes(services: services).add(to: &routes)
        OccurrenceRoutes(services: services).add(to: &routes)
        BatchRoute(services: services).add(to: &routes)
        FreeBusyRoute(services: services).add(to: &routes)
        FeedRoutes(services: services).add(to: &routes)
        FeedPreviewRoute(services: services).add(to: &routes)
        FeedReadingRoutes(services: services, bodies: front.bodies).add(to: &routes)
        ImportRoutes(services: services).add(to: &routes)
        ImportListRoute(services: services).add(to: &routes)
        SubscriptionRoutes(services: services).add(to: &routes)
        ExportRoute(services: services).add(to: &routes)
        ConnectionRoutes(services: services).add(to: &routes)
        ConnectionAccountRoutes(services: services).add(to: &routes)
        ConnectionRecordRoutes(services: services).add(to: &routes)
        ConnectionDeviceRoute(services: services).add(to: &routes)
        SyncRoutes(services: services).add(to: &routes)
        PushRoutes(services: services).add(to: &routes)
        StatisticsRoute(services: services).add(to: &routes)
        KeyRoutes(services: services).add(to: &routes)
        AuditRoutes(services: services).add(to: &routes)
        ChangeRoutes(services: services).add(to: &routes)
        ActivityRoutes(services: services).add(to: &routes)
        WebhookRoutes(services: services).add(to: &routes)
        UserRoutes(services: services).add(to: &routes)
        SecondFactorRoutes(services: services).add(to: &routes)
        SessionRoutes(services: services).add(to: &routes)
        SignInLinkRoutes(services: services).add(to: &routes)
        DeviceRoutes(services: services).add(to: &routes)
        ProfileRoutes(services: services).add(to: &routes)
        PersonalEventRoutes(services: services).add(to: &routes)
        PhoneRoutes(services: services).add(to: &routes)
        PlannedRoutes(services: services).add(to: &routes)
        OfficeSettingsRoutes(services: services).add(to: &routes)
        OfficeDayRoutes(services: services).add(to: &routes)
        AppPasswordRoutes(services: services).add(to: &routes)
        AppProfileRoutes(services: services).add(to: &routes)
        RootRoute(services: services).add(to: &routes)
        HealthRoute(services: services).add(to: &routes)
        DocumentationRoutes(kinds: front.services.settings.kinds).add(to: &routes)
        if !isLocal { try PageRoutes.add(to: &routes, services) }
        if isLocal {
            LocalRoutes(services: services, proxyNotice: front.proxyNotice).add(to: &routes)
            SignInLinkRoutes(services: services).addLocal(to: &routes)
            AuditRoutes(services: services).addLocal(to: &routes)
            MetricsRoute(monitoring: Monitoring(services: services)).add(to: &routes)
        }
        return routes
    }

    /// Only the metrics, for a separate port.
    package static func metricsRouter(_ services: Services) -> Router<KalendsContext> {
        var routes = RouteTable()
        MetricsRoute(monitoring: Monitoring(services: services)).add(to: &routes)
        let router = Router(context: KalendsContext.self)
        routes.register(in: router)
        return router
    }
}
