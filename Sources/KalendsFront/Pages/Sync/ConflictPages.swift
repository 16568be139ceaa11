// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import KalendsCore
import Pages
import Storage

/// `/app/circles/{circle}/conflicts`: what was changed on both sides, and a person's decision about it.
struct ConflictPages: Sendable {
    private static let path = "/app/circles/{circle}/conflicts"
    /// The maximum number of open and the maximum number of resolved conflicts on one page.
    private static let most = (open: 100, resolved: 20)

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .circle(.read), Self.list)
        routes.page(.post, Self.path + "/{conflict}/resolve", for: .connection, back: Self.path) { visit in
            let id = try await Self.own(visit)
            let keep = try SyncRoutes.decision.read(["keep": visit.form["keep"].map(JSONValue.string) ?? .null])
            visit.context.memory.letGo()
            try await visit.services.resolving.resolve(id, keep, for: try visit.caller())
            return visit.redirect(to: visit.filled(Self.path), done: .conflictResolved)
        }
        routes.page(.post, Self.path + "/{conflict}/dismiss", for: .connection, back: Self.path) { visit in
            try await visit.services.resolving.dismiss(
                try await Self.own(visit), for: try visit.caller())
            return visit.redirect(to: visit.filled(Self.path), done: .conflictDismissed)
        }
    }

    private static func list(_ visit: PageVisit) async throws -> Response {
        let settings = visit.services.settings
        let read = try await visit.read(isLarge: true) { circle, _ in
            let all = PageRequest(limit: settings.quotas.connectionsPerUser)
            let shown = try circle.connections(all, settings.connections)
            let (own, summaries) = (shown.map(\.own), shown.map { ConnectionSummary($0, settings.connections) })
            func latest(isOpen: Bool, _ most: Int) throws -> [ConflictsPage.Conflict] {
                try circle.latestConflicts(of: own, isOpen: isOpen, limit: most) {
                    ConflictsPage.Conflict($0, of: summaries[$1])
                }
            }
            return ConflictsPage(
                open: try latest(isOpen: true, Self.most.open),
                resolved: try latest(isOpen: false, Self.most.resolved).sorted {
                    $0.resolvedAt ?? $0.at > $1.resolvedAt ?? $1.at
                })
        }
        return try await visit.page(read)
    }

    /// The conflict of the path; throws 404 for one of another circle.
    private static func own(_ visit: PageVisit) async throws -> String {
        let id = try visit.id("conflict")
        return try await visit.read { circle, _ in try circle.conflict(id).row.id }.0
    }
}
