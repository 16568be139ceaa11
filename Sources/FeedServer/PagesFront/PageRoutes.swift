// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import Pages

/// All pages: what a browser is shown, below `/app`.
enum PageRoutes {
    static func add(to routes: inout RouteTable, _ services: Services) throws {
        try AssetPages(settings: services.settings).add(to: &routes)
        SignInPages().add(to: &routes)
        SignInLinkPages().add(to: &routes)
        SubscriptionPages().add(to: &routes)
        DevicePages().add(to: &routes)
        AccountPages().add(to: &routes)
        ImportPages().add(to: &routes)
        OfficeDayPages().add(to: &routes)
        AdminPages().add(to: &routes)
        // What is none of them is a page that says so.
        routes.page(.get, "/app/**", for: .anyone) { _ in throw Refusal.noSuchPath }
    }
}
