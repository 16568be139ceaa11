// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import KalendsCore
import Pages
import Storage

/// `/app/circles/{circle}/activity`: what happened in a circle, the latest first, and undo.
struct ActivityPages: Sendable {
    private static let path = "/app/circles/{circle}/activity"
    /// The maximum number of changes on one page.
    private static let most = 50

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .circle(.read)) { try await Self.page($0) }
        routes.page(.post, Self.path + "/{number}/undo", for: .circle(.write), back: Self.path, Self.undo)
    }

    private static func undo(_ visit: PageVisit) async throws -> Response {
        guard let number = visit.context.parameter("number").flatMap({ Int($0) }), number > 0 else {
            throw Refusal.noSuchPath
        }
        do {
            _ = try await visit.services.activity.undo(
                number, in: try visit.id("circle"), for: try visit.caller())
            return visit.redirect(to: visit.filled(path), done: .changeUndone)
        } catch let refusal as Refusal where refusal.kind == .conflict || refusal.kind == .gone {
            return try await page(visit, refusal)
        }
    }

    /// The item of a query, as in the path of its page; throws 404 for anything else.
    private static func item(
        _ text: String, _ kinds: ItemKinds
    ) throws -> (collection: ScheduleItem.Collection, id: String) {
        let parts = text.pieces(separatedBy: "/").map { String($0) }
        guard parts.count == 2, let kind = kinds[ScheduleItem.Collection(rawValue: parts[0])],
            Identifier.isValid(parts[1])
        else { throw Refusal.noSuchPath }
        return (kind.collection, parts[1])
    }

    /// - Parameter refusal: why a change was not undone.
    private static func page(_ visit: PageVisit, _ refusal: Refusal? = nil) async throws -> Response {
        let (services, before) = (visit.services, visit.query["before"].flatMap { Int($0) })
        let item = try visit.given("item").map { try Self.item($0, services.settings.kinds) }
        let read = try await visit.read(isLarge: true) { circle, visitor in
            let found = try circle.latestActivity(
                before: before ?? .max, of: item.map { ($0.collection, $0.id) }, limit: most + 1, services.settings,
                now: services.now())
            let facts = ActivityFacts(
                circle: circle.circle, names: try circle.names, mayUndo: visitor.mayWrite, reader: visitor.zone)
            var page = ActivityPage(
                entries: found.prefix(most).map(facts.entry), isMore: found.count > most, isLater: before != nil,
                problem: refusal.map(facts.problem), keptDays: services.settings.retention.activity)
            page.item = item.map { "\($0.collection.rawValue)/\($0.id)" }
            return page
        }
        return try await visit.page(
            read, status: refusal == nil ? .ok : .conflict, path: refusal == nil ? nil : visit.filled(path))
    }
}
