// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import KalendsCore

/// Registers all pages that a browser is shown, below `/app`.
enum PageRoutes {
    /// The pages that the navigation leads to.
    static let destinations = [
        "/app", "/app/circles/{circle}", "/app/circles/{circle}/calendar-sync", "/app/circles/{circle}/conflicts",
        "/app/circles/{circle}/import", "/app/circles/{circle}/subscriptions", "/app/circles/{circle}/activity",
        "/app/health", "/app/office-days", "/app/devices", "/app/account", "/app/admin", "/app/connectors",
        "/app/check",
    ]

    static func add(to routes: inout RouteTable, _ services: Services) throws {
        try AssetPages(settings: services.settings).add(to: &routes)
        SignInPages().add(to: &routes)
        SignInLinkPages().add(to: &routes)
        ProviderSignInPages().add(to: &routes)
        ArrivalPages().add(to: &routes)
        SubscriptionPages().add(to: &routes)
        ConnectorPages().add(to: &routes)
        CheckPages().add(to: &routes)
        DevicePages().add(to: &routes)
        AppPasswordPages().add(to: &routes)
        AppLoginPages().add(to: &routes)
        AccountPages().add(to: &routes)
        SecondFactorPages().add(to: &routes)
        ImportPages().add(to: &routes)
        OfficeDayPages().add(to: &routes)
        AdminPages().add(to: &routes)
        CirclePages().add(to: &routes)
        HealthPages().add(to: &routes)
        CalendarPages(kinds: services.settings.kinds).add(to: &routes)
        ActivityPages().add(to: &routes)
        SyncPages().add(to: &routes)
        FeedPages().add(to: &routes)
        ConnectionPages().add(to: &routes)
        ConflictPages().add(to: &routes)
        // Any other path gets a page that reports this.
        routes.page(.get, "/app/**", for: .anyone) { _ in throw Refusal.noSuchPath }
    }
}
