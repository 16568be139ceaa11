// SPDX-License-Identifier: Apache-2.0

import Calendar
import FeedTokens
import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import Pages
import Storage

/// One feed: its address, its readers, its contents and its actions.
struct FeedPages: Sendable {
    private static let path = "/app/circles/{circle}/feeds/{feed}"
    private static let previewDays = 14

    func add(to routes: inout RouteTable) {
        routes.page(.get, Self.path, for: .feed) { try await Self.page($0, try $0.id("feed")) }
        routes.page(.post, Self.path, for: .feed, back: Self.path, Self.change)
        routes.page(.post, Self.path + "/reveal", for: .feed, back: Self.path) { visit in
            let id = try await Self.own(visit)
            do {
                let address = try await visit.services.feeds.reveal(id, for: try visit.caller())
                return try await Self.page(visit, id, address: address)
            } catch let refusal as Refusal where refusal.code == .sealedByAnotherKey {
                return try await Self.page(
                    visit, id, draft: Draft(problems: [Draft.Problem(field: "", code: .sealed)]))
            }
        }
        routes.page(.post, Self.path + "/seen", for: .feed, back: Self.path) { visit in
            var change = Feeds.Change()
            change.clearsAttention = true
            _ = try await visit.services.feeds.change(
                try await Self.own(visit), change, if: .none, for: try visit.caller())
            return visit.redirect(to: visit.filled(Self.path))
        }
        routes.page(.post, Self.path + "/regenerate", for: .feed, back: Self.path) { visit in
            let id = try await Self.own(visit)
            var fields = FieldReader(["graceSeconds": visit.form["graceSeconds"].map(JSONValue.typed) ?? .null])
            let grace = fields.integer("graceSeconds", in: Feeds.graces, isRequired: true)
            try fields.end()
            let made = try await visit.services.feeds.regenerate(
                id, graceSeconds: grace ?? 0, for: try visit.caller())
            return try await Self.page(
                visit, id, address: made.address, done: grace ?? 0 > 0 ? .feedRegenerated : .feedRenewed)
        }
        routes.page(.post, Self.path + "/revoke", for: .feed, back: Self.path) { visit in
            _ = try await visit.services.feeds.revoke(try await Self.own(visit), for: try visit.caller())
            return visit.redirect(to: visit.filled(Self.path), done: .feedRevoked)
        }
        routes.page(.post, Self.path + "/delete", for: .feed, back: Self.path) { visit in
            try await visit.services.feeds.delete(
                try await Self.own(visit), if: .none, for: try visit.caller())
            return visit.redirect(to: visit.filled(SyncPages.path), done: .feedRemoved)
        }
    }

    private static func change(_ visit: PageVisit) async throws -> Response {
        let id = try await own(visit)
        let content = ContentForm<FeedConfiguration>(visit)
        do {
            var change = Feeds.Change(content.body(visit.form), content.kinds)
            if content.group == .end, visit.form["until"] != nil {
                let end = try await end(visit)
                change.expiresAt = end.at.map { .set($0) } ?? .clear
                if let fault = end.fault { change.faults.append(fault) }
            }
            _ = try await visit.services.feeds.change(id, change, if: .none, for: try visit.caller())
            return visit.redirect(to: visit.filled(path), done: .feedChanged)
        } catch let refusal as Refusal {
            guard let draft = Draft(ofFeed: refusal, visit.form, content) else { throw refusal }
            return try await page(visit, id, draft: draft)
        }
    }

    /// The end that was typed, which is the end of a day where the person is; nil for none, with a fault if the text is not a
    /// day.
    static func end(_ visit: PageVisit) async throws -> (at: Int?, fault: Fault?) {
        guard let text = visit.form["until"], !text.isEmpty else { return (nil, nil) }
        guard let day = CalendarPage.day(text) else {
            return (nil, Fault(pointer: "/expiresAt", code: .invalidDate, message: "This must be a day."))
        }
        let zone = try await visit.readOwn { _, visitor in visitor.zone }.0
        return (zone.rules.instant(of: CivilDateTime(startOf: day.adding(days: 1))).milliseconds, nil)
    }

    /// The feed of the path; throws 404 for a feed of another circle.
    private static func own(_ visit: PageVisit) async throws -> String {
        let id = try visit.id("feed")
        return try await visit.read { circle, _ in try circle.feed(id).id }.0
    }

    /// - Parameter address: the address with its secret, if the owner has asked for it in this request.
    static func page(
        _ visit: PageVisit, _ id: String, address: Feeds.Address? = nil, draft: Draft = Draft(),
        done notice: Notice.What? = nil
    ) async throws -> Response {
        let services = visit.services
        try await services.counter.foldForReading()
        let read = try await visit.read(isLarge: true) { circle, visitor in
            let today = PageZone(visitor.zone).local(services.now()).day
            let (preview, isWhole) = try CalendarPages.entries(
                ofFeed: id, in: circle, from: today, to: today.adding(days: previewDays), visitor.zone, services)
            var page = try FeedPage(
                try circle.shownFeed(id, services.feedContext), patients: try patients(of: circle), preview: preview,
                address: address, services.settings, draft: draft, now: services.now())
            page.isPreviewWhole = isWhole
            return page
        }
        return try await visit.page(
            read, status: draft.status, path: visit.filled("/app/circles/{circle}/feeds/") + id.pathSegment,
            done: notice)
    }

    static func patients(of circle: AuthorizedCircle) throws -> [Named] {
        try circle.patients(PageRequest(limit: 1000)).map { Named(id: $0.id, name: $0.displayName) }
    }
}

extension Draft {
    /// The input in the form of a feed, with its faults.
    init?(ofFeed refusal: Refusal, _ form: PageForm, _ content: ContentForm<FeedConfiguration>) {
        self.init(
            refusal, of: form, content.names + ["until"],
            fields: content.renamed + [(own: "expiresAt", field: "until")])
        // The only limit of a last day is that it is not over.
        for index in problems.indices where problems[index].field == "until" && problems[index].code == .range {
            problems[index].code = .past
        }
    }
}

extension JSONValue {
    /// A number if one was typed, otherwise the text.
    static func typed(_ text: String) -> JSONValue { Int(text).map { .integer($0) } ?? .string(text) }
}
