// SPDX-License-Identifier: Apache-2.0

import Base
import CalendarSync
import Hummingbird
import KalendsCore
import Pages
import Storage

/// `/app/circles/{circle}/conflicts`: what was changed on both sides, and a person's decision about it.
struct ConflictPages: Sendable {
    private static let path = "/app/circles/{circle}/conflicts"
    /// The most open and the most resolved conflicts on one page.
    private static let most = (open: 100, resolved: 20)

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .circle(.read), Self.list)
        routes.page(.post, Self.path + "/{conflict}/resolve", for: .connection, back: Self.path) { visit in
            let id = try await Self.own(visit)
            var fields = FieldReader(["keep": visit.form["keep"].map(JSONValue.string) ?? .null])
            let keep = fields.choice("keep", Resolution.Keep.self, isRequired: true)
            guard fields.faults.isEmpty, let keep else { throw Refusal.invalid(fields.faults) }
            try await Resolving(services: visit.services).resolve(id, keep, for: try visit.caller())
            return visit.redirect(to: visit.filled(Self.path), done: .conflictResolved)
        }
        routes.page(.post, Self.path + "/{conflict}/dismiss", for: .connection, back: Self.path) { visit in
            try await Resolving(services: visit.services).dismiss(
                try await Self.own(visit), for: try visit.caller())
            return visit.redirect(to: visit.filled(Self.path), done: .conflictDismissed)
        }
    }

    @Sendable
    private static func list(_ visit: PageVisit) async throws -> Response {
        let (services, caller, circle) = (visit.services, try visit.caller(), try await visit.circle())
        let connections = try await services.connections.list(
            PageRequest(limit: services.settings.quotas.connectionsPerUser), in: circle.id, for: caller)
        var page = ConflictsPage(open: [], resolved: [])
        for shown in connections {
            let summary = ConnectionSummary(shown, services.settings.connections)
            let found = try await services.connections.conflicts(of: shown.own.id, before: Int.max, for: caller) {
                fetch in
                try fetch(nil, Self.most.open * 2)
            }
            for one in found {
                let conflict = ConflictsPage.Conflict(one, of: summary)
                if conflict.outcome == nil { page.open.append(conflict) } else { page.resolved.append(conflict) }
            }
        }
        page.open = Array(page.open.sorted { $0.at > $1.at }.prefix(Self.most.open))
        page.resolved = Array(
            page.resolved.sorted { $0.resolvedAt ?? $0.at > $1.resolvedAt ?? $1.at }.prefix(Self.most.resolved))
        return try await visit.page(page, in: circle)
    }

    /// The conflict of the path; throws 404 for one of another circle.
    private static func own(_ visit: PageVisit) async throws -> String {
        let (circle, caller) = (try await visit.circle(), try visit.caller())
        let found = try await visit.services.connections.conflict(try visit.id("conflict"), for: caller)
        let connection = try await visit.services.connections.get(found.row.connectionID, for: caller)
        guard connection.own.circleID == circle.id else { throw Refusal.missing(.conflict) }
        return found.row.id
    }
}
