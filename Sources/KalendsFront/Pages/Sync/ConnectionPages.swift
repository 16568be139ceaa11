// SPDX-License-Identifier: Apache-2.0

import CalendarSync
import HTTPTypes
import Hummingbird
import KalendsCore
import Pages
import Storage

/// The pages of one connection: its set-up in three steps, and later its runs and actions.
struct ConnectionPages: Sendable {
    static let path = "/app/circles/{circle}/connections/{connection}"

    func add(to routes: inout RouteTable) {
        routes.page(
            .post, "/app/circles/{circle}/connections", for: .circle(.read), back: SyncPages.path, Self.create)
        routes.page(.get, Self.path, for: .connection) { visit in
            guard visit.query["result"] == "pending" else { return try await Self.page(visit) }
            _ = try await Self.own(visit)
            return try await ArrivalPages.page(visit)
        }
        routes.page(.get, Self.path + "/progress", for: .connection, Self.progress)
        ConnectionSetupPages().add(to: &routes)
        Self.post("sync", in: &routes, .syncStarted) { visit, id in
            _ = try await visit.services.syncing.begin(id, for: try visit.caller())
        }
        for (name, isPaused) in [("pause", true), ("resume", false)] {
            Self.post(name, in: &routes, isPaused ? .connectionPaused : .connectionResumed) { visit, id in
                var change = Connections.Change()
                change.paused = isPaused
                _ = try await visit.services.connections.change(id, change, if: .none, for: try visit.caller())
            }
        }
        Self.post("runs/{run}/approve", in: &routes, .runApproved) { visit, id in
            _ = try await visit.services.syncing.approve(
                try await Self.run(visit, of: id), for: try visit.caller())
        }
        Self.post("runs/{run}/undo", in: &routes, .runUndone) { visit, id in
            _ = try await visit.services.syncing.undo(
                try await Self.run(visit, of: id), for: try visit.caller())
        }
        routes.page(.post, Self.path + "/delete", for: .connection, back: Self.path) { visit in
            try await visit.services.connections.delete(
                try await Self.own(visit).id, removingEvents: visit.form["events"].map { $0 == "remove" } ?? false,
                if: .none,
                for: try visit.caller())
            return visit.redirect(to: visit.filled(SyncPages.path), done: .disconnected)
        }
    }

    /// Adds a button of the page that performs one action.
    private static func post(
        _ name: String, in routes: inout RouteTable, _ notice: Notice.What,
        _ act: @escaping @Sendable (PageVisit, _ connection: String) async throws -> Void
    ) {
        routes.page(.post, "\(path)/\(name)", for: .connection, back: path) { visit in
            try await act(visit, try await own(visit).id)
            return visit.redirect(to: visit.filled(path), done: notice)
        }
    }

    private static func create(_ visit: PageVisit) async throws -> Response {
        let (services, caller) = (visit.services, try visit.caller())
        do {
            let draft = Connections.Draft(
                ["provider": visit.form["provider"].map(JSONValue.string) ?? .null], services.settings.kinds)
            let made = try await services.connections.create(draft, in: try visit.id("circle"), for: caller)
            return visit.redirect(to: path(of: made.own))
        } catch let refusal as Refusal {
            // The connection already exists, so the user continues with it.
            if refusal.code == .labelTaken, case .connection(let known)? = refusal.extra {
                return visit.redirect(to: path(of: try await services.connections.get(known, for: caller).own))
            }
            guard let draft = Draft(refusal, of: visit.form, []) else { throw refusal }
            return try await SyncPages.page(visit, draft)
        }
    }

    /// The progress of a run, for the script that shows it.
    private static func progress(_ visit: PageVisit) async throws -> Response {
        let id = try visit.id("connection")
        let (runs, visitor) = try await visit.read { circle, _ in
            try circle.runs(of: try circle.connection(id), limit: 1)
        }
        let running = runs.first { $0.record.state == .running }
        let language = visit.frame(for: visitor, path: nil).language
        let text = running.map { Pages.SyncCounts($0.record.counts).text(in: language) } ?? ""
        return try visit.json(["progress": .null, "text": .string(text), "done": .bool(running == nil)])
    }

    /// The run of the path; throws 404 for one of another connection.
    private static func run(_ visit: PageVisit, of connection: String) async throws -> String {
        let found = try await visit.services.connections.run(try visit.id("run"), for: try visit.caller())
        guard found.row.connectionID == connection else { throw Refusal.missing(.run) }
        return found.row.id
    }

    /// The connection of the path; throws 404 for a connection of another circle.
    static func own(_ visit: PageVisit) async throws -> Connection {
        let id = try visit.id("connection")
        return try await visit.read { circle, _ in try circle.connection(id) }.0
    }

    static func path(of own: Connection) -> String {
        "/app/circles/\(own.circleID.pathSegment)/connections/\(own.id.pathSegment)"
    }
}
