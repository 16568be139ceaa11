// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import ICalBridge
import KalendsCore
import Pages
import Storage

extension PageVisit {
    /// The frame of the page: the language, zone and name of the visitor, and the circle's navigation.
    ///
    /// - Parameters:
    /// - circle: the circle that the page belongs to.
    /// - path: the page's path; nil for the request's path.
    func frame(in circle: Circle?, path: String?) async throws -> Frame {
        let zone = try await zone(in: circle)
        var frame = PageFront(settings: services.settings).frame(for: request, now: services.now())
        frame.zone = PageZone(zone)
        frame.formToken = FormToken.masked(formToken)
        frame.notice = query["done"].flatMap { Notice.What(text: $0) }.map { Notice($0) }
        frame.ask = query["ask"]
        frame.places = PageRoutes.places
        frame.path = path ?? shownPath
        frame.isOperator = visitor?.isInstallation == true
        if frame.isOperator { frame.user = Words.of(frame.language)["navOperator"] }
        guard let visitor, let user = visitor.userID else { return frame }
        let chosen = try await services.profiles.get(user, for: visitor).user?.language
        if let language = chosen.flatMap({ Language(text: $0) }) { frame.language = language }
        frame.user = try await name(of: user, in: circle, for: visitor)
        if let circle {
            if try await services.members.get(user, in: circle.id, for: visitor).role.right < .write {
                frame.places?.removeAll { $0.isSameText(as: ImportPages.start) }
            }
            let own = try await services.connections.list(
                PageRequest(limit: services.settings.quotas.connectionsPerUser), in: circle.id, for: visitor)
            frame.circle = CircleLink(
                id: circle.id, name: circle.name, openConflicts: own.reduce(0) { $0 + $1.counts.conflicts })
        }
        return frame
    }

    /// The zone in which times are shown: the person's own, otherwise the circle's, otherwise that of one of their
    /// circles.
    func zone(in circle: Circle?) async throws -> TimeZoneReference {
        if let visitor, let user = visitor.userID,
            let own = try await services.profiles.get(user, for: visitor).user?.timeZone.flatMap({
                TimeZoneReference($0)
            })
        {
            return own
        }
        var name = circle?.timeZone
        if name == nil, let visitor, !visitor.isInstallation {
            name = try await services.circles.list(PageRequest(limit: 1), for: visitor).first?.timeZone
        }
        return try name.flatMap { TimeZoneReference($0) } ?? Self.utc
    }

    private static var utc: TimeZoneReference {
        get throws {
            guard let utc = TimeZoneReference("UTC") else {
                throw StorageError.unusable("This machine has no time zone data.")
            }
            return utc
        }
    }

    /// A user's name in a circle; the user's id when they belong to none.
    private func name(of user: String, in circle: Circle?, for caller: Caller) async throws -> String {
        var id = circle?.id
        if id == nil { id = try await services.circles.list(PageRequest(limit: 1), for: caller).first?.id }
        guard let id else { return user }
        return try await services.members.get(user, in: id, for: caller).displayName
    }

    /// The request's path with its query, without the parameters that apply only once.
    private var shownPath: String {
        let passing = ["ask", "done", "connection", "result", "code"]
        let rest = (request.uri.query ?? "").pieces(separatedBy: "&").filter { part in
            let name = part.prefix { !$0.is("=") }
            return !passing.contains { $0.isSameText(as: String(name)) }
        }
        return request.uri.path + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&"))
    }
}

extension PageZone {
    init(_ zone: TimeZoneReference) {
        self.init(name: zone.identifier) { zone.rules.offset(at: Instant(seconds: $0)) }
    }
}
