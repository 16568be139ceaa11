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
        CircleRoutes(circles: services.circles).add(to: &routes)
        MemberRoutes(members: services.members).add(to: &routes)
        PatientRoutes(patients: services.patients).add(to: &routes)
        ScheduleRoutes(
            schedule: services.schedule, reach: services.reach, kinds: services.settings.kinds
        ).add(to: &routes)
        OccurrenceRoutes(occurrences: services.occurrences).add(to: &routes)
        BatchRoute(batch: services.batch(in:for:), kinds: services.settings.kinds).add(to: &routes)
        FreeBusyRoute(services: services).add(to: &routes)
        FeedRoutes(services: services).add(to: &routes)
        FeedPreviewRoute(services: services).add(to: &routes)
        FeedReadingRoutes(services: services, bodies: front.bodies).add(to: &routes)
        ImportRoutes(imports: services.imports, mostBytes: services.settings.maxImportBytes).add(to: &routes)
        ImportListRoute(imports: services.imports).add(to: &routes)
        SubscriptionRoutes(subscriptions: services.subscriptions, settings: services.settings).add(to: &routes)
        ExportRoute(services: services).add(to: &routes)
        ConnectionRoutes(services: services).add(to: &routes)
        ConnectionAccountRoutes(services: services).add(to: &routes)
        ConnectionRecordRoutes(services: services).add(to: &routes)
        ConnectionDeviceRoute(services: services).add(to: &routes)
        SyncRoutes(services: services).add(to: &routes)
        PushRoutes(services: services).add(to: &routes)
        StatisticsRoute(statistics: services.statistics).add(to: &routes)
        KeyRoutes(serviceKeys: services.serviceKeys).add(to: &routes)
        AuditRoutes(audit: services.audit).add(to: &routes)
        ChangeRoutes(changes: services.changes, streams: services.streams, quotas: services.settings.quotas).add(
            to: &routes)
        ActivityRoutes(activity: services.activity).add(to: &routes)
        WebhookRoutes(webhooks: services.webhooks).add(to: &routes)
        UserRoutes(users: services.users, personData: services.personData, settings: services.settings).add(to: &routes)
        SecondFactorRoutes(secondFactors: services.secondFactors, settings: services.settings).add(to: &routes)
        SessionRoutes(
            sessions: services.sessions, settings: services.settings, pseudonym: services.pseudonym(of:)
        ).add(to: &routes)
        SignInLinkRoutes(signInLinks: services.signInLinks, settings: services.settings).add(to: &routes)
        DeviceRoutes(devices: services.devices).add(to: &routes)
        ProfileRoutes(profiles: services.profiles, erasures: services.erasures).add(to: &routes)
        PersonalEventRoutes(personalEvents: services.personalEvents).add(to: &routes)
        PhoneRoutes(services: services).add(to: &routes)
        PlannedRoutes(services: services).add(to: &routes)
        OfficeSettingsRoutes(officeDiary: services.officeDiary).add(to: &routes)
        OfficeDayRoutes(officeDiary: services.officeDiary).add(to: &routes)
        AppPasswordRoutes(services: services).add(to: &routes)
        AppProfileRoutes(services: services).add(to: &routes)
        RootRoute(settings: services.settings).add(to: &routes)
        HealthRoute(upkeep: services.upkeep).add(to: &routes)
        DocumentationRoutes(kinds: front.services.settings.kinds).add(to: &routes)
        if !isLocal { try PageRoutes.add(to: &routes, services) }
        if isLocal {
            LocalRoutes(services: services, proxyNotice: front.proxyNotice).add(to: &routes)
            SignInLinkRoutes(signInLinks: services.signInLinks, settings: services.settings).addLocal(to: &routes)
            AuditRoutes(audit: services.audit).addLocal(to: &routes)
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
